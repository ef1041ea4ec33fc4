"""Baselines: small JSON files that are committed beside the code, and what a measurement is against them.

The file is written so that it merges: an entry a key in a fixed order, a field a line, and an entry whose numbers are
the same stays as it is, with its date.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from heapprof_cli.analysis.json_fields import Fields, load
from heapprof_cli.analysis.measured import Key, Measured
from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

SCHEMA_VERSION = 1
KIND = "heapprof-baselines"
MATCHES = ("name", "sha256")
_MOST_ENTRIES = 20_000

Match = Literal["name", "sha256"]


@dataclass(frozen=True)
class Entry:
    """A baseline. ``match`` says whether the models' names or their hashes must be equal; bytes as in Measured."""

    key: Key
    match: Match
    before_bytes: int
    after_bytes: int
    difference_bytes: int
    leak_per_cycle: int | float | None
    runs: int
    cycles: int
    made: str
    heapprof: str

    @property
    def identity(self) -> tuple[object, ...]:
        """What no two entries of a file share."""
        models = self.key.names if self.match == "name" else self.key.hashes
        return self.match, models, self.key.soc or "", self.key.perf_mode, self.key.qnn_build or "", self.key.simulated

    def is_of(self, key: Key) -> bool:
        """Whether this is a baseline of the same models, under whatever conditions."""
        return self.key.names == key.names if self.match == "name" else self.key.hashes == key.hashes

    def fields(self) -> dict[str, object]:
        return {
            "match": self.match,
            "model": [{"name": name, "sha256": sha256} for name, sha256 in self.key.models],
            "soc": self.key.soc,
            "perf_mode": self.key.perf_mode,
            "qnn_build": self.key.qnn_build,
            "simulated": self.key.simulated,
            "before_bytes": self.before_bytes,
            "after_bytes": self.after_bytes,
            "difference_bytes": self.difference_bytes,
            "leak_bytes_per_cycle": self.leak_per_cycle,
            "runs": self.runs,
            "cycles": self.cycles,
            "made": self.made,
            "heapprof": self.heapprof,
        }


@dataclass(frozen=True)
class Saved:
    """How many entries a save added, replaced, and left as they were."""

    added: int
    replaced: int
    unchanged: int


def read(path: Path) -> tuple[Entry, ...]:
    """The baselines in a file. Raises UsageError that names the place of what is wrong."""
    shown = clean(str(path), 300)
    fields = Fields(load(path, shown), shown)
    if fields.value("kind") != KIND:
        raise UsageError(f"{shown} holds no baselines", hints=("`heapprof baseline save` makes such a file",))
    version = fields.count("schema_version", least=1)
    if version > SCHEMA_VERSION:
        raise UsageError(
            f"{shown} was written by a newer heapprof (schema {version}; this one knows {SCHEMA_VERSION})",
            hints=("use that version here too: this one would lose what it does not know",),
        )
    items = fields.items("entries")
    if len(items) > _MOST_ENTRIES:
        raise UsageError(f"{shown}: {len(items)} entries; at most {_MOST_ENTRIES} are read")
    entries = [_entry(Fields(item, f"{shown}, entry {number}")) for number, item in enumerate(items, start=1)]
    seen: dict[tuple[object, ...], int] = {}
    for number, entry in enumerate(entries, start=1):
        other = seen.setdefault(entry.identity, number)
        if other != number:
            raise UsageError(
                f"{shown}: entries {other} and {number} have the same key", hints=("a merge may have kept both sides",)
            )
    return tuple(entries)


def _entry(fields: Fields) -> Entry:
    match = fields.text("match")
    if match not in MATCHES:
        raise UsageError(f"{fields.place}: 'match' must be one of {', '.join(MATCHES)}, not {clean(match, 60)!r}")
    models = [Fields(item, f"{fields.place}, model {number}") for number, item in enumerate(fields.items("model"), 1)]
    if not models:
        raise UsageError(f"{fields.place}: names no model")
    key = Key(
        models=tuple((model.text("name"), model.text("sha256").lower()) for model in models),
        soc=fields.text_or_none("soc"),
        perf_mode=fields.text("perf_mode"),
        qnn_build=fields.text_or_none("qnn_build"),
        simulated=fields.flag("simulated"),
    )
    return Entry(
        key=key,
        match="name" if match == "name" else "sha256",
        before_bytes=fields.count("before_bytes"),
        after_bytes=fields.count("after_bytes"),
        difference_bytes=fields.count("difference_bytes"),
        leak_per_cycle=fields.number_or_none("leak_bytes_per_cycle"),
        runs=fields.count("runs", least=1),
        cycles=fields.count("cycles", least=1),
        made=fields.text("made"),
        heapprof=fields.text("heapprof"),
    )


def save(path: Path, measured: Sequence[Measured], match: Match, made: str, version: str) -> Saved:
    """Put measurements into the file ``path``, beside what it holds; ``made`` is the time, ``version`` heapprof's.

    Of several measurements with one key the one with the lower median difference counts. Raises UsageError, and then
    the file is what it was.
    """
    path = path.resolve()
    shown = clean(str(path), 300)
    try:
        with _alone(path.parent):
            held = {entry.identity: entry for entry in (read(path) if path.exists() else ())}
            fresh = _fresh(measured, match, made, version)
            same = [entry.identity for entry in fresh if _says_the_same(held.get(entry.identity), entry)]
            replaced = sum(1 for entry in fresh if entry.identity in held) - len(same)
            held |= {entry.identity: entry for entry in fresh if entry.identity not in same}
            _write(path, text_of(held.values()))
    except OSError as error:
        reason = clean(error.strerror or str(error), 200)
        raise UsageError(f"can't write {shown}: {reason}", hints=("check the folder",)) from error
    return Saved(len(fresh) - replaced - len(same), replaced, len(same))


def entry_of(one: Measured, match: Match, made: str, version: str) -> Entry:
    """A measurement as a baseline."""
    return Entry(
        one.key, match, one.before_bytes, one.after_bytes, one.difference_bytes, one.leak_per_cycle,
        one.runs, one.cycles, made, version,
    )  # fmt: skip


def _fresh(measured: Sequence[Measured], match: Match, made: str, version: str) -> list[Entry]:
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for one in measured:
        entry = entry_of(one, match, made, version)
        groups.setdefault(entry.identity, []).append(entry)
    chosen = []
    for entries in groups.values():
        middle = statistics.median_low(entry.difference_bytes for entry in entries)
        typical = next(entry for entry in entries if entry.difference_bytes == middle)
        chosen.append(replace(typical, runs=sum(entry.runs for entry in entries)))
    return chosen


def _says_the_same(held: Entry | None, entry: Entry) -> bool:
    return held is not None and replace(held, made=entry.made, heapprof=entry.heapprof) == entry


def text_of(entries: Iterable[Entry]) -> str:
    """The file's text."""
    ordered = sorted(entries, key=lambda entry: entry.identity)
    content = {"kind": KIND, "schema_version": SCHEMA_VERSION, "entries": [entry.fields() for entry in ordered]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One save in this folder at a time; the lock leaves no file."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network file systems lock no folder
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, text: str) -> None:
    """Replace the file whole or not at all, with the mode it had."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{clean(str(path), 300)} is no plain file")
    content = text.encode("utf-8", "backslashreplace")
    mask = os.umask(0)
    os.umask(mask)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
