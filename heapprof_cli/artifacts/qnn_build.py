"""Which QNN build a library is of: the build id that Qualcomm's libraries carry in their read-only data.

A 90 MB library takes 0.1 s to search, so what was found is remembered by the file's SHA-256.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

from heapprof_cli import elf, user_files

_PATTERN = re.compile(rb"v[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{9,15}(?![0-9])")
_NAME = "qnn_builds.json"
_MOST = 2048


def qnn_build(path: Path, sha256: str, memory: Path | None = None) -> str | None:
    """The build id, such as v2.51.0.260929181845, of the library at ``path``; None where it carries none.

    ``memory``: the folder of what is remembered (default: the user's cache).
    """
    store: Path | None = None
    with contextlib.suppress(OSError):  # a user without a home folder
        store = (memory or user_files.cache_folder()) / _NAME
    known = _load(store) if store else {}
    if sha256 in known:
        return known[sha256]
    found = elf.search(path, _PATTERN)
    build = found.decode("ascii") if found else None
    if store:
        _remember(store, sha256, build)
    return build


def release(build: str) -> tuple[int, ...]:
    """The release that a build id belongs to, comparable: (2, 51, 0). Builds of one release go together."""
    return tuple(int(number) for number in re.findall(r"[0-9]+", build)[:3])


def _load(store: Path) -> dict[str, str | None]:
    try:
        content = json.loads(store.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {key: value for key, value in content.items() if value is None or isinstance(value, str)}


def _remember(store: Path, sha256: str, build: str | None) -> None:
    with contextlib.suppress(OSError):  # only a cache
        store.parent.mkdir(parents=True, exist_ok=True)
        kept = dict([*_load(store).items(), (sha256, build)][-_MOST:])
        user_files.replace_whole(store, json.dumps(kept).encode())
