"""The SQLite file of results: one table for what is searched, one for the whole results.

Several processes may write at once (WAL). A damaged file, or one of a newer heapprof, is put aside under another name
and a new one begun: nothing is ever deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from heapprof_cli.errors import UsageError
from heapprof_cli.history.documents import Summary, digest_of, parse_line, summary_of, text_of
from heapprof_cli.history.filters import Filters
from heapprof_cli.text import clean

SCHEMA_VERSION = 1
_APPLICATION = 0x48505246  # "HPRF", in the file's header
_WAIT_SECONDS = 30.0
_SUMMARY = tuple(field.name for field in fields(Summary))
_SCHEMA = f"""
CREATE TABLE results (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE,
    {", ".join(_SUMMARY)}
);
CREATE INDEX results_by_time ON results (started_at, id, models, soc, phone, verdict);
CREATE TABLE documents (id INTEGER PRIMARY KEY REFERENCES results (id), content BLOB NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA_VERSION};
"""
_SMALL = 2**63


class _SetAsideError(Exception):
    """The file is none that this heapprof can use."""


class DamagedError(UsageError):
    """The file is damaged, as a read or a write found out."""


@dataclass(frozen=True)
class Entry:
    """A result in the store; ``id`` never means another one."""

    id: int
    summary: Summary


class Store:
    """An open history. Every method raises UsageError when the file can't be read or written."""

    def __init__(self, connection: sqlite3.Connection, path: Path, put_aside: Path | None) -> None:
        self._connection = connection
        self.path = path
        self.put_aside = put_aside

    def add(self, document: Mapping[str, object]) -> int:
        """Keep a result; its id. One that is there already keeps its id."""
        return self.add_all([document])[0][0]

    def add_all(self, documents: Iterable[Mapping[str, object]]) -> list[tuple[int, bool]]:
        """Keep results in one transaction; the id of each, and whether it is new."""
        rows = []
        for number, document in enumerate(documents, start=1):
            summary = summary_of(document, f"result {number}")
            text = text_of(document)
            values = [_kept(value) for value in astuple(summary)]
            rows.append((digest_of(text), values, zlib.compress(text.encode("ascii"), 6)))
        with self._explained("written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                found = [self._insert(*row) for row in rows]
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
        return found

    def _insert(self, digest: str, values: list[object], content: bytes) -> tuple[int, bool]:
        known = self._connection.execute("SELECT id FROM results WHERE digest = ?", (digest,)).fetchone()
        if known is not None:
            return int(known[0]), False
        marks = ", ".join("?" for _ in range(1 + len(_SUMMARY)))
        cursor = self._connection.execute(
            f"INSERT INTO results (digest, {', '.join(_SUMMARY)}) VALUES ({marks})", (digest, *values)
        )
        assert cursor.lastrowid is not None
        self._connection.execute("INSERT INTO documents VALUES (?, ?)", (cursor.lastrowid, content))
        return cursor.lastrowid, True

    def find(self, filters: Filters, limit: int | None = None) -> list[Entry]:
        """The newest ``limit`` results that are asked for, the oldest of them first."""
        condition, values = filters.condition()
        query = f"SELECT id, {', '.join(_SUMMARY)} FROM results{condition} ORDER BY started_at DESC, id DESC"
        with self._explained("read"):
            rows = self._connection.execute(f"{query} LIMIT ?", (*values, -1 if limit is None else limit)).fetchall()
        return [Entry(row[0], _summary(row[1:])) for row in reversed(rows)]

    def count(self, filters: Filters) -> int:
        """How many results are asked for."""
        condition, values = filters.condition()
        with self._explained("read"):
            row = self._connection.execute(f"SELECT count(*) FROM results{condition}", values).fetchone()
        return int(row[0])

    def text(self, number: int) -> str | None:
        """A whole result as one line of JSON, or None where there is none of this id."""
        with self._explained("read"):
            row = self._connection.execute("SELECT content FROM documents WHERE id = ?", (number,)).fetchone()
            return zlib.decompress(row[0]).decode("ascii") if row else None

    def document(self, number: int) -> dict[str, object] | None:
        """The same as an object."""
        text = self.text(number)
        return None if text is None else parse_line(text.encode("ascii"), f"result {number}")

    def texts(self, filters: Filters) -> Iterator[str]:
        """All results that are asked for, by their times, as lines of JSON; read one after the other."""
        condition, values = filters.condition()
        with self._explained("read"):
            query = f"SELECT id FROM results{condition} ORDER BY started_at, id"
            numbers = [row[0] for row in self._connection.execute(query, values)]
        for number in numbers:
            text = self.text(number)
            if text is not None:
                yield text

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, zlib.error, OSError) as error:
            raise _no_history(self.path, what, error) from error


def _kept(value: object) -> object:
    """SQLite's integers end at 2^63; the few that are larger are kept as text."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _SMALL else value


def _summary(row: tuple[object, ...]) -> Summary:
    values = dict(zip(_SUMMARY, row, strict=True))
    for name in ("before_bytes", "after_bytes", "difference_bytes"):
        value = values[name]
        values[name] = int(value) if isinstance(value, str) else value
    values["simulated"] = bool(values["simulated"])
    return Summary(**values)  # type: ignore[arg-type]  # what we wrote


def _no_history(path: Path, what: str, error: Exception) -> UsageError:
    damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
    kind = DamagedError if damaged or isinstance(error, zlib.error) else UsageError
    return kind(
        f"the history {clean(str(path), 300)} can't be {what}: {clean(str(error), 200)}",
        stage="history",
        hints=("name another file with HEAPPROF_HISTORY, or leave it out with --no-history",),
    )


def record(path: Path, document: Mapping[str, object]) -> tuple[int, Path | None]:
    """Keep a result in the file ``path``: its id, and where a file that could not be used was put aside, if one was.

    Raises UsageError when it can't be kept.
    """
    try:
        with opened(path) as store:
            return store.add(document), store.put_aside
    except DamagedError:
        aside = _put_aside(path)
        with opened(path) as store:
            return store.add(document), aside or store.put_aside


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Store]:
    """The history in the file ``path``, made where there is none. Raises UsageError."""
    store = _open(path)
    try:
        yield store
    finally:
        store.close()


def _open(path: Path) -> Store:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return Store(_connect(path), path, None)
        except (_SetAsideError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, read-only, no space: the file itself is sound
                raise
            aside = _put_aside(path)
            return Store(_connect(path), path, aside)
    except (_SetAsideError, sqlite3.Error, OSError) as error:
        raise _no_history(path, "opened", error) from error


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        version = _version(connection, path)  # first: a file that is not ours stays as it is
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            _create(connection, path)
        # One look at the tables: a file may have a sound header and nothing else.
        connection.execute("SELECT max(id) FROM results").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema's version, 0 of a new file."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if (tables and application != _APPLICATION) or version > SCHEMA_VERSION:
        raise _SetAsideError(f"{clean(str(path), 300)} is of a newer heapprof, or no history")
    return version


def _create(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection, path) == 0:  # nobody else was quicker
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _sound(path: Path) -> bool:
    """Whether the file is whole and this heapprof's."""
    try:
        with contextlib.closing(_connect(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except (_SetAsideError, sqlite3.DatabaseError):
        return False


def _put_aside(path: Path) -> Path | None:
    """Rename a file that can't be used, with its journal; None where another process was quicker."""
    lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network file systems lock no folder
            fcntl.flock(lock, fcntl.LOCK_EX)
        if _sound(path):
            return None
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        aside = path.with_name(f"{path.name}.aside-{stamp}")
        number = 1
        while aside.exists():
            number += 1
            aside = path.with_name(f"{path.name}.aside-{stamp}-{number}")
        for ending in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{path}{ending}", f"{aside}{ending}")
        return aside
    finally:
        os.close(lock)
