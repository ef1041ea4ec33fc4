"""Which adb serves the phone, and which one this computer's user would start.

Two of different versions end each other's server ("adb server version (35) doesn't match this client (41); killing"),
which cuts a measurement in the middle.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import threading
from collections.abc import Callable

from heapprof_cli import processes
from heapprof_cli.device.server import AdbServer
from heapprof_cli.errors import HeapprofError
from heapprof_cli.records import AdbVersions

_CLIENT_SECONDS = 3.0


def ask_aside(server: AdbServer) -> Callable[[], AdbVersions]:
    """Begin to ask; what this returns waits for the answers. Unknown versions are None, never an error."""
    found: dict[str, int | None] = {}

    def ask() -> None:
        with contextlib.suppress(HeapprofError, ValueError):
            found["server"] = int(server.query("host:version")[:8], 16)
        found["client"] = _client_version()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()

    def answers() -> AdbVersions:
        thread.join(_CLIENT_SECONDS + 1)
        return AdbVersions(found.get("server"), found.get("client"))

    return answers


def _client_version() -> int | None:
    """The protocol version of the ``adb`` on the PATH: 41 of "Android Debug Bridge version 1.0.41"."""
    adb = shutil.which("adb")
    if adb is None:
        return None
    try:
        said = processes.run([adb, "version"], timeout=_CLIENT_SECONDS).stdout[:500]
    except (OSError, TimeoutError):
        return None
    match = re.search(rb"Android Debug Bridge version \d+\.\d+\.(\d{1,6})", said)
    return int(match[1]) if match else None
