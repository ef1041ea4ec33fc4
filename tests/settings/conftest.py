"""A working directory of its own, and none of the caller's settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapprof_cli import socs


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, a repository's root."""
    for name in list(os.environ):
        if name.startswith(("HEAPPROF_", "ANDROID_", "ADB_", "QNN_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    monkeypatch.chdir(place)
    yield place
    socs.use(None)
