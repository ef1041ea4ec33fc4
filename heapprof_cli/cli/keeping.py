"""Keeping what a run said: a folder of logs after a failure, a debug bundle where one is asked for."""

from __future__ import annotations

import contextlib
import platform
import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from heapprof_cli import __version__, host, user_files
from heapprof_cli.cli.output import may_be_written, write_bytes
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
    stamp = re.sub(r"[-:]", "", result.started_at or "19700101T000000Z")
    folder: Path | None = None
    try:
        parent = user_files.state_folder() / "failed_runs"
        folder = parent / f"{stamp}-{secrets.token_hex(3)}"
        folder.mkdir(parents=True, mode=0o700)
        for log in result.logs:
            _write(folder, log)
    except OSError:  # a full disk or a read-only home takes nothing from the result
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return None
    _forget_old(parent)
    return folder


def _write(folder: Path, log: LogFile) -> None:
    (folder / log.name).write_text(log.text, encoding="utf-8", errors="backslashreplace", newline="")


def _forget_old(parent: Path) -> None:
    with contextlib.suppress(OSError):
        found = [path for path in parent.iterdir() if _NAME.match(path.name) and not path.is_symlink()]
        ours = sorted(found, key=lambda path: path.lstat().st_mtime_ns)
        for path in ours[:-_KEPT_FOLDERS]:
            shutil.rmtree(path, ignore_errors=True)


def check_places(settings: RunSettings, outputs: Iterable[Path]) -> None:
    """Raises UsageError for a bundle that can't be written, and for files to write that are one another or an input.

    Before a measurement, not after it.
    """
    bundle = settings.bundle
    if bundle is not None and (not may_be_written(bundle) or (bundle.exists() and not bundle.is_file())):
        raise UsageError(f"--bundle {clean(str(bundle), 300)!r}: can't write such a file", hints=("check the path",))
    read = {_same(path) for path in (*settings.models, settings.baseline, settings.input_list) if path is not None}
    written: set[Path] = set()
    for path in (*outputs, *([bundle] if bundle else [])):
        place = _same(path)
        if place in read or (place in written and (path.is_file() or not path.exists())):
            what = "is read by this run" if place in read else "is written twice"
            raise UsageError(f"{clean(str(path), 300)!r} {what}: it would be overwritten", hints=("name another file",))
        written.add(place)


def _same(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return path.absolute()


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
    home, node = user_files.home(), platform.node()
    found = {
        str(home) if home else "": "~",
        host.user_name(): "USER",
        node: "COMPUTER",
        node.partition(".")[0]: "COMPUTER",
        host.identity(): "COMPUTER",
        host.identity().rpartition("-")[0]: "COMPUTER",
    }
    for serial in (settings.serial, result.device.serial if result.device else None):
        if serial:
            found |= {serial: alias, **({serial.rpartition(":")[0].strip("[]"): alias} if ":" in serial else {})}
    found[settings.server.host] = "ADB-SERVER"
    # What any text holds by chance is nobody's name: the user "root", a user that is only a number.
    common = {"", "root", "localhost", "127.0.0.1", "/", "/root", "runner", "user", "android"}
    return {secret: word for secret, word in found.items() if secret not in common and not secret.isdigit()}
