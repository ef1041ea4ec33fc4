"""The processes of a phone, by proc(5)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def running_processes(isolated: bool) -> list[tuple[int, str]]:
    """(process id, command line) of what runs on the phone, without its init and adbd."""
    ours = os.getpid()
    parent = os.getppid()
    pids = [pid for pid, _ in _parents()] if isolated else descendants(parent)
    lines = [(pid, _command_line(pid)) for pid in sorted(pids) if pid not in (ours, parent)]
    return [(pid, line) for pid, line in lines if line]


def _command_line(pid: int) -> str:
    """Empty for what has just ended, and for zombies."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def descendants(ancestor: int) -> list[int]:
    """The processes below ``ancestor``, by proc(5)."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found = list(children.get(ancestor, ()))
    for pid in found:  # grows while it is walked: breadth first
        found.extend(children.get(pid, ()))
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                stat = Path("/proc", name, "stat").read_bytes()
                yield int(name), int(stat.rpartition(b")")[2].split()[1])
