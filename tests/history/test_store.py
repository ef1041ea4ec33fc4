"""The store of results: filters, large numbers, many processes, kills, damaged and newer files."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heapprof_cli.errors import UsageError
from heapprof_cli.history import Filters, opened, record
from heapprof_cli.history.filters import parse_time
from tests.history.made_results import result

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import sys
from pathlib import Path
from heapprof_cli.history import record
from tests.history.made_results import result
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    record(Path(sys.argv[1]), result(number))
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.db"


def writer(path: Path, first: int, end: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(end)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_what_is_kept_comes_back(path: Path) -> None:
    documents = [result(n, difference=n, extra={"deep": [1, None, "ü"]}) for n in range(3)]
    with opened(path) as store:
        numbers = [store.add(document) for document in documents]
        assert [store.document(number) for number in numbers] == documents
        assert store.add(dict(reversed(documents[1].items()))) == numbers[1], "known by its content"
        assert store.document(99) is None
    with opened(path) as store:
        entries = store.find(Filters())
        assert [entry.id for entry in entries] == numbers
        assert [entry.summary.difference_bytes for entry in entries] == [0, 1, 2]
        assert [entry.id for entry in store.find(Filters(), 2)] == numbers[1:]


@pytest.mark.parametrize("value", [2**63 - 1, 2**63, 2**64 - 1, -(2**64 - 1)])
def test_numbers_beyond_sqlite_s(path: Path, value: int) -> None:
    record(path, result(before_bytes=abs(value), difference_bytes=value))
    with opened(path) as store:
        (entry,) = store.find(Filters())
    assert (entry.summary.before_bytes, entry.summary.difference_bytes) == (abs(value), value)


def test_a_failure_without_anything_is_kept(path: Path) -> None:
    record(path, {"schema_version": 1, "verdict": "error", "device": None, "model": [], "settings": {}})
    with opened(path) as store:
        (entry,) = store.find(Filters(verdict="error"))
    assert (entry.summary.models, entry.summary.difference_bytes) == ("(no model)", None)


@pytest.mark.parametrize("document", [{}, {"schema_version": 2, "verdict": "ok"}, {"schema_version": 1}])
def test_what_is_no_result_is_refused(path: Path, document: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        record(path, document)


def test_filters(path: Path) -> None:
    def named(name: str, *more: str) -> list[dict[str, str]]:
        return [{"name": each, "sha256": "00" * 32} for each in (name, *more)]

    with opened(path) as store:
        store.add(result(0, model=named("Llama[8].bin")))
        store.add(result(60, model=named("llama9.bin"), device={"soc": "SM8650", "alias": "lab"}))
        store.add(result(86400, model=named("a.bin", "b.bin"), verdict="implausible"))

        def found(**filters: str) -> list[int]:
            entries = store.find(Filters(**filters))
            assert store.count(Filters(**filters)) == len(entries)
            return [entry.id for entry in entries]

        assert found(model="llama*") == [1, 2]
        assert found(model="LLAMA[8].BIN") == [1]
        assert found(model="llama?.bin") == [2]
        assert found(model="llama") == []
        assert found(model="a.bin + b.bin") == [3]
        assert found(model="'; drop table results; --") == []
        assert found(soc="sm8650") == [2] and found(phone="lab") == [2]
        assert found(verdict="implausible") == [3]
        assert found(since="2026-01-02") == [3] and found(until="2026-01-01") == [1, 2]
        assert found(since="2026-01-01T00:01", until="2026-01-01T00:01") == [2]


def test_times() -> None:
    from datetime import datetime, timezone

    now = datetime(2026, 12, 7, 12, 0, 0, tzinfo=timezone.utc)
    assert parse_time("36h", "--since", now) == "2026-12-06T00:00:00Z"
    assert parse_time("2w", "--since", now) == "2026-11-23T12:00:00Z"
    assert parse_time("90m", "--since", now) == "2026-12-07T10:30:00Z"
    for text in ("2026", "2026-12", "2026-12-07", "2026-12-07T10", "2026-12-07T10:30", "2026-12-07T10:30:15"):
        assert parse_time(text, "--since") == text
    assert parse_time("2026-12-07 10:30:15Z", "--since") == "2026-12-07T10:30:15"
    for text in ("", "yesterday", "2026-13", "2026-02-30", "2026-12-07T25", "7", "-1d", "2026-12-07T10:61"):
        with pytest.raises(UsageError, match="--since"):
            parse_time(text, "--since")


def test_eight_processes_lose_nothing(path: Path) -> None:
    processes = [writer(path, 1000 * n, 1000 * n + 40) for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda process: process.communicate(timeout=120)[0].split(), processes))
    assert [process.returncode for process in processes] == [0] * 8
    assert [len(numbers) for numbers in said] == [40] * 8
    with opened(path) as store:
        assert store.count(Filters()) == 320
        assert len({entry.summary.started_at for entry in store.find(Filters())}) == 320
        assert store.put_aside is None
    assert list(path.parent.glob("*aside*")) == []


def test_kill_9_loses_at_most_the_write_it_meets(path: Path) -> None:
    told: list[int] = []
    for attempt in range(5):
        process = writer(path, 10_000 * attempt, 10_000 * attempt + 9_999)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.02 * attempt)
        os.kill(process.pid, signal.SIGKILL)
        told += map(int, [first, *process.stdout.read().split()])
        process.wait()
    with opened(path) as store:
        kept = {entry.summary.started_at for entry in store.find(Filters())}
        assert store.put_aside is None
        assert len(kept) - 5 <= len(told) <= len(kept)
        assert {result(number)["started_at"] for number in told} <= kept
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all\n" * 1000)


def holes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)


def another_program_s(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name)")


@pytest.mark.parametrize("spoil", [newer, garbage, holes, another_program_s])
def test_a_file_that_is_of_no_use_is_put_aside_and_never_lost(path: Path, spoil: object) -> None:
    for number in range(200):
        record(path, result(number))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes()
    number, aside = record(path, result(7))
    assert number == 1 and aside is not None and aside.read_bytes() == before
    assert record(path, result(8)) == (2, None)
    with opened(path) as store:
        assert store.count(Filters()) == 2


def test_several_processes_meet_a_damaged_file(path: Path) -> None:
    path.parent.mkdir()
    garbage(path)
    processes = [writer(path, 100 * n, 100 * n + 5) for n in range(4)]
    assert [len(process.communicate(timeout=120)[0].split()) for process in processes] == [5] * 4
    assert len(list(path.parent.glob("history.db.aside-*"))) == 1
    with opened(path) as store:
        assert store.count(Filters()) == 20


def test_a_place_that_can_t_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "history.db", tmp_path):
        with pytest.raises(UsageError, match="can't be opened") as caught:
            record(path, result())
        assert any("HEAPPROF_HISTORY" in hint for hint in caught.value.hints)
    assert (tmp_path / "file").read_text() == "" and tmp_path.is_dir()
