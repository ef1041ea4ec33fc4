"""The commit of the repository in which heapprof was called: what a result belongs to in the caller's history."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from heapprof_cli import processes

_SECONDS = 3.0
_DESCRIBED = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})(-dirty)?\s*")


class Commit(NamedTuple):
    """A commit's whole hash; ``dirty`` when files that git knows were changed since."""

    sha: str
    dirty: bool


def ask_aside(folder: Path) -> Callable[[], Commit | None]:
    """Begin to ask git; what this returns waits for the answer: None where there is no repository, git or commit."""
    found: list[Commit | None] = []
    thread = threading.Thread(target=lambda: found.append(_ask(folder)), daemon=True)
    thread.start()

    def answer() -> Commit | None:
        thread.join(_SECONDS + 1)
        return found[0] if found else None

    return answer


def _ask(folder: Path) -> Commit | None:
    git = shutil.which("git")
    if git is None:
        return None
    # A repository may name programs that git shall run to look for changes: none of them is wanted.
    command = [git, "-c", "core.fsmonitor=false", "describe", "--always", "--dirty", "--abbrev=64", "--exclude=*"]
    try:
        said = processes.run(command, timeout=_SECONDS, cwd=folder).stdout[:200]
    except (OSError, TimeoutError):
        return None
    match = _DESCRIBED.fullmatch(said)
    return Commit(match[1].decode(), match[2] is not None) if match else None
