"""The caller's commit: found where there is one, never an error where there is none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from heapprof_cli.repository import Commit, ask_aside

IDENTITY = {f"GIT_{who}_{what}": "someone@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *words: str) -> str:
    variables = {**os.environ, **IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *words], cwd=folder, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "v1")
    return tmp_path


def test_a_clean_and_a_changed_checkout(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    (checkout / "below").mkdir()
    (checkout / "not-known-to-git").write_text("")
    assert ask_aside(checkout)() == ask_aside(checkout / "below")() == Commit(head, dirty=False)
    (checkout / "file").write_text("2")
    assert ask_aside(checkout)() == Commit(head, dirty=True)


def test_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkout: Path) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    assert ask_aside(empty)() is None, "no commit yet"
    assert ask_aside(tmp_path / "gone")() is None
    monkeypatch.setenv("PATH", str(empty))
    assert ask_aside(checkout)() is None, "no git"


def test_a_repository_s_own_programs_are_not_run(checkout: Path, tmp_path: Path) -> None:
    program = tmp_path / "monitor.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    git(checkout, "config", "core.fsmonitor", str(program))
    (checkout / "file").write_text("22")
    found = ask_aside(checkout)()
    assert found is not None and found.dirty
    assert not (tmp_path / "ran").exists()
