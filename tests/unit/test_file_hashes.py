"""Hashes of host files are remembered, and never wrongly."""

import hashlib
import os
from pathlib import Path

import pytest

from heapprof_cli import file_hashes, user_files


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were really read."""
    real, reads = file_hashes._hash, []

    def hashing(path: Path) -> str:
        reads.append(path)
        return real(path)

    monkeypatch.setattr(file_hashes, "_hash", hashing)
    return reads


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds later: what the tests have just written counts as settled."""
    real = file_hashes.time.time
    monkeypatch.setattr(file_hashes.time, "time", lambda: real() + 10)


def old(path: Path, content: bytes, at: int = 1_000_000_000) -> str:
    path.write_bytes(content)
    os.utime(path, (at, at))
    return hashlib.sha256(content).hexdigest()


def test_a_settled_file_is_read_once(tmp_path: Path, counted: list[Path]) -> None:
    wanted = old(tmp_path / "a", b"x")
    for _ in range(3):
        assert file_hashes.sha256_of(tmp_path / "a", tmp_path / "memory") == wanted
    assert len(counted) == 1


@pytest.mark.parametrize("change", ["content", "time", "inode"])
def test_a_changed_file_is_read_again(tmp_path: Path, counted: list[Path], change: str) -> None:
    file = tmp_path / "a"
    old(file, b"x")
    file_hashes.sha256_of(file, tmp_path / "memory")
    if change == "inode":
        os.rename(file, tmp_path / "other")
    wanted = old(file, b"yy" if change == "content" else b"z", 1_000_000_000 + (change == "time"))
    assert file_hashes.sha256_of(file, tmp_path / "memory") == wanted
    assert len(counted) == 2


def test_content_that_changed_behind_an_unchanged_time_is_noticed(tmp_path: Path, counted: list[Path]) -> None:
    file = tmp_path / "a"
    old(file, b"first")
    file_hashes.sha256_of(file, tmp_path / "memory")
    with file.open("r+b") as open_file:
        open_file.write(b"other")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert file_hashes.sha256_of(file, tmp_path / "memory") == hashlib.sha256(b"other").hexdigest()
    assert len(counted) == 2


def test_a_file_that_just_changed_is_not_remembered(
    tmp_path: Path, counted: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(file_hashes, "_hash", lambda path: (counted.append(path), "h")[1])
    (tmp_path / "a").write_bytes(b"x")
    for _ in range(2):
        file_hashes.sha256_of(tmp_path / "a", tmp_path / "memory")
    assert len(counted) == 2


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"a": 1}', b"\xff", b"[" * 100_000])
def test_a_broken_memory_does_no_harm(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "hashes.json").write_bytes(content)
    wanted = old(tmp_path / "a", b"x")
    assert file_hashes.sha256_of(tmp_path / "a", tmp_path / "memory") == wanted


def test_a_memory_that_cant_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file where a folder should be")
    wanted = old(tmp_path / "a", b"x")
    assert file_hashes.sha256_of(tmp_path / "a", tmp_path / "memory") == wanted


def test_without_a_place_to_remember_it_works(
    tmp_path: Path, counted: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(name: str) -> str:
        raise RuntimeError("no home folder")

    monkeypatch.setattr(user_files.platformdirs, "user_cache_dir", nowhere)
    wanted = old(tmp_path / "a", b"x")
    for _ in range(2):
        assert file_hashes.sha256_of(tmp_path / "a") == wanted
    assert len(counted) == 2
