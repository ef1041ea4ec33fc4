"""What adbd does to files around a push: parents, an old file in the way, the new one."""

from __future__ import annotations

import contextlib
import os
import stat


class SyncFailure(Exception):
    """The phone answers FAIL with this text."""


def remove_before(path: str, *, for_link: bool = False) -> bool:
    """Remove an old file or link at ``path``; folders, devices and, for a new link, links stay (as in adbd).

    True when a broken push should be removed as well.
    """
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return True
    if not (stat.S_ISREG(mode) or (stat.S_ISLNK(mode) and not for_link)):
        return False
    with contextlib.suppress(OSError):
        os.unlink(path)
    return True


def make_parents(path: str) -> None:
    """Make the folders above ``path`` that are missing, readable for all. Raises OSError."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        os.makedirs(folder, mode=0o775, exist_ok=True)


def create(path: str, mode: int) -> int:
    """A descriptor to write a new file, or over one that could not be removed. Raises OSError."""
    flags = os.O_WRONLY | os.O_CLOEXEC
    try:
        target = os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        target = os.open(path, flags)
    with contextlib.suppress(OSError):
        os.fchmod(target, mode)
    return target


def write_all(target: int, data: bytes | memoryview) -> None:
    """Write every byte. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
