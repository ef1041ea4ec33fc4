"""SHA-256 of host files, remembered between runs: a 4 GB model is not hashed twice.

What is remembered holds as long as path, device, inode, size and both times (of modification and of change,
in ns) stay the same. A file that changed in the last two seconds is hashed but not remembered: it could
change again within the clock's grain without showing it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path

from heapprof_cli import user_files

_NAME = "hashes.json"
_MOST = 4096
_SETTLED_SECONDS = 2.0
_BLOCK = 1 << 20
_FIELDS = 6  # five of a stamp, and the hash


def sha256_of(path: Path, memory: Path | None = None) -> str:
    """The file's SHA-256 in hex. ``memory``: the folder of what is remembered (default: the user's cache).

    Raises OSError when the file can't be read; trouble with the memory itself is never an error.
    """
    return _remembered(path, os.path.abspath(path), (), memory)


def sha256_of_part(path: Path, offset: int, size: int, memory: Path | None = None) -> str:
    """The SHA-256 of ``size`` bytes from ``offset`` of the file, remembered like a file's own. Raises OSError."""
    return _remembered(path, f"{os.path.abspath(path)}\0{offset}+{size}", (offset, size), memory)


def _remembered(path: Path, key: str, part: tuple[int, int] | tuple[()], memory: Path | None) -> str:
    stamp = _stamp(path)
    store = _store(memory)
    known = _load(store).get(key) if store else None
    if known is not None and known[:-1] == stamp:
        return str(known[-1])
    digest = _hash(path, *part)
    settled = time.time() - max(stamp[3], stamp[4]) / 1e9 > _SETTLED_SECONDS
    if store and settled and _stamp(path) == stamp:
        _remember(store, key, [*stamp, digest])
    return digest


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    # The time of change (ctime) shows writes after which the time of modification was set back.
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _store(memory: Path | None) -> Path | None:
    """The file of what is remembered; None where this user has no place for it (no home folder)."""
    try:
        return (memory or user_files.cache_folder()) / _NAME
    except OSError:
        return None


def _hash(path: Path, offset: int = 0, size: int | None = None) -> str:
    digest = hashlib.sha256()
    left = size
    with path.open("rb") as file:
        file.seek(offset)
        while block := file.read(_BLOCK if left is None else min(_BLOCK, left)):
            digest.update(block)
            left = None if left is None else left - len(block)
    return digest.hexdigest()


def _load(store: Path) -> dict[str, list[object]]:
    try:
        content = json.loads(store.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {key: value for key, value in content.items() if isinstance(value, list) and len(value) == _FIELDS}


def _remember(store: Path, key: str, value: list[object]) -> None:
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        known = _load(store)  # again: another process may have added to it
        known.pop(key, None)
        known[key] = value
        kept = dict(list(known.items())[-_MOST:])
        user_files.replace_whole(store, json.dumps(kept).encode())
