"""Files of the user's own: where caches, logs and the history lie, and how a file is replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import platformdirs

_NAME = "heapprof"


def cache_folder() -> Path:
    """For what can be found out again. Raises OSError for a user without a home folder, as the other two do."""
    return _folder("cache")


def data_folder() -> Path:
    """For what is to stay."""
    return _folder("data")


def state_folder() -> Path:
    """For logs."""
    return _folder("state")


def home() -> Path | None:
    """The home folder; None for a user without one (a container's number, say)."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _folder(kind: str) -> Path:
    try:
        if kind == "cache":
            return Path(platformdirs.user_cache_dir(_NAME))
        return Path(platformdirs.user_data_dir(_NAME) if kind == "data" else platformdirs.user_state_dir(_NAME))
    except (RuntimeError, KeyError) as error:
        raise OSError(f"this user has no home folder, so no place for {kind} files (set HOME)") from error


def replace_whole(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Put ``content`` into the file ``path`` at once; nothing half written is ever seen or left. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
