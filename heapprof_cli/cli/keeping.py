"""Keeping what a run said: a folder of logs after a failure, a debug bundle where one is asked for."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
import shutil
from pathlib import Path

import platformdirs

from heapprof_cli import __version__, host
from heapprof_cli.cli.output import write_bytes
from heapprof_cli.errors import UsageError
from heapprof_cli.records import LogFile, Result
from heapprof_cli.settings import RunSettings
from heapprof_cli.text import clean

_KEPT_FOLDERS = 20
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}\Z")


def keep_logs(result: Result) -> Path | None:
    """Write the logs of a failed run into a folder of their own; None where there are none, or no place for them.

    The last 20 such folders are kept.
    """
    if result.failure is None or not result.logs:
        return None
    parent = Path(platformdirs.user_state_dir("heapprof")) / "failed_runs"
    stamp = re.sub(r"[-:]", "", result.started_at or "19700101T000000Z")
    folder = parent / f"{stamp}-{secrets.token_hex(3)}"
    try:
        folder.mkdir(parents=True, mode=0o700)
        for log in result.logs:
            _write(folder, log)
    except OSError:
        return None  # a full disk or a read-only home takes nothing from the result
    _forget_old(parent)
    return folder


def _write(folder: Path, log: LogFile) -> None:
    (folder / log.name).write_text(log.text, encoding="utf-8", errors="backslashreplace", newline="")


def _forget_old(parent: Path) -> None:
    with contextlib.suppress(OSError):
        ours = sorted(path for path in parent.iterdir() if _NAME.match(path.name) and not path.is_symlink())
        for path in ours[:-_KEPT_FOLDERS]:
            shutil.rmtree(path, ignore_errors=True)


def check_bundle(path: Path | None) -> None:
    """Raises UsageError for a bundle that can't be written: before a measurement, not after it."""
    if path is not None and (path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK)):
        raise UsageError(f"--bundle {clean(str(path), 300)!r}: can't write such a file", hints=("check the folder",))


def write_bundle(result: Result, settings: RunSettings) -> None:
    """The debug bundle, whole or not at all. Raises OSError."""
    from heapprof_cli.render.anonymous import Anonymous
    from heapprof_cli.render.bundle import bundle

    path = settings.bundle
    assert path is not None
    write_bytes(bundle(result, _versions(result), Anonymous(_secrets(result, settings))), path)


def _versions(result: Result) -> dict[str, str]:
    surroundings = result.device.surroundings if result.device else None
    adb = surroundings.adb if surroundings else None
    return {
        "heapprof": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "adb server": f"1.0.{adb.server}" if adb and adb.server is not None else "unknown",
        "adb on the PATH": f"1.0.{adb.client}" if adb and adb.client is not None else "unknown",
    }


def _secrets(result: Result, settings: RunSettings) -> dict[str, str]:
    """What must not be handed on, and the word that stands for it."""
    alias = result.device.alias if result.device else "phone"
    found = {
        str(Path.home()): "~",
        host.user_name(): "USER",
        platform.node(): "COMPUTER",
        settings.serial or "": alias,
        result.device.serial if result.device else "": alias,
    }
    if settings.server.host not in ("127.0.0.1", "localhost"):
        found[settings.server.host] = "ADB-SERVER"
    # Words that any text holds by chance, such as the user "root", are not names of anyone.
    for common in ("", "root", "localhost", "/", "/root", "runner", "user"):
        found.pop(common, None)
    return found
