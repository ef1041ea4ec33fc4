"""A private adb server: a port and a home of its own, no search for phones, ended with us whatever happens."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import tempfile
import time
from pathlib import Path
from typing import IO

from heapprof_cli import environment, processes
from heapprof_cli.errors import HeapprofError

_START_SECONDS = 15.0
_QUERY_SECONDS = 15.0
_ATTEMPTS = 5


class AdbServerError(HeapprofError):
    """A private adb server could not be started, or does not answer."""

    default_stage = "adb_server"


def bundled_adb() -> Path:
    """The adb that adbutils brings, else the one of the PATH. Raises AdbServerError."""
    spec = importlib.util.find_spec("adbutils")  # without importing it: that takes 0.1 s
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        adb = Path(folder) / "binaries" / "adb"
        if adb.exists():
            return adb
    found = shutil.which("adb")
    if found is None:
        raise AdbServerError(
            "there is no adb", hints=("install adbutils (it brings one), or Android's platform tools",)
        )
    return Path(found)


def reserve_port() -> socket.socket:
    """A socket that holds a free port of 127.0.0.1 without listening.

    Who sets SO_REUSEADDR, as adb and our endpoint do, can listen there; nobody else is given the port.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


class PrivateAdbServer:
    """An adb server for virtual phones. Use it as a context manager, or call :meth:`stop`.

    ``adb`` is the program (:func:`bundled_adb`); ``variables`` are added to its environment.
    """

    host = "127.0.0.1"

    def __init__(self, adb: Path | None = None, variables: dict[str, str] | None = None) -> None:
        self.adb = adb or bundled_adb()
        self._variables = variables or {}
        self._log: IO[bytes] | None = None
        self._holder: socket.socket | None = None
        self._process: processes.Tethered | None = None
        self.port = 0

    def __enter__(self) -> PrivateAdbServer:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """The server's process, while it runs."""
        return self._process.pid if self._process and self._process.alive() else None

    def start(self) -> PrivateAdbServer:
        """Start it, on the same port when it ran before, and wait until it answers. Raises AdbServerError."""
        said = ""
        for _ in range(_ATTEMPTS):
            if self.pid is None:
                self.launch()
            if self._answers():
                return self
            said = self._said()
            self.stop()  # someone else came first: try another port
        raise AdbServerError(f"{self.adb} did not start as a server: {said}")

    def launch(self) -> None:
        """Start its process, for :meth:`start` to wait for."""
        self.kill()
        if self._holder is None:
            self._holder = reserve_port()
        self.port = self._holder.getsockname()[1]
        home = Path(tempfile.mkdtemp(prefix="heapprof-adb-"))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (kill closes it)
        self._process = processes.Tethered(
            [self.adb, "-P", str(self.port), "nodaemon", "server"],
            env=self._environment(home),
            folder=home,
            log=self._log,
        )

    def kill(self) -> None:
        """End the server's process and remove its home; :meth:`start` starts it again on the same port."""
        if self._process:
            self._process.stop()
            self._process = None
        if self._log:
            self._log.close()
            self._log = None

    def stop(self) -> None:
        """End the server, and let go of its port."""
        self.kill()
        if self._holder:
            self._holder.close()
            self._holder = None

    def query(self, request: str, *, port: int | None = None) -> str:
        """The answer to a ``host:`` request. Raises AdbServerError with the server's own words."""
        try:
            with socket.create_connection((self.host, port or self.port), timeout=_QUERY_SECONDS) as link:
                link.sendall(f"{len(request):04x}{request}".encode())
                with link.makefile("rb") as answer:
                    status = answer.read(4)
                    text = answer.read(int(answer.read(4) or b"0", 16)).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            raise AdbServerError(f"the private adb server does not answer: {error}") from None
        if status != b"OKAY":
            raise AdbServerError(f"adb server: {text or 'ended the connection'}")
        return text

    def connect(self, serial: str) -> str:
        """Have the server connect to ``HOST:PORT``; its answer, which is no error when that fails."""
        return self.query(f"host:connect:{serial}")

    def disconnect(self, serial: str) -> None:
        """Have the server forget ``HOST:PORT``."""
        with contextlib.suppress(AdbServerError):
            self.query(f"host:disconnect:{serial}")

    def connect_afresh(self, serial: str, seconds: float = 20.0) -> str:
        """Forget ``HOST:PORT``, then connect; what the server says of it.

        Raises AdbServerError when the phone stays away for so many seconds.
        Without forgetting, a server says "already connected" of what has just been cut.
        """
        limit = time.monotonic() + seconds
        while True:
            self.disconnect(serial)
            said = self.connect(serial)
            state = self.states().get(serial, "absent")
            if state == "unauthorized" or (state == "device" and said.startswith("connected")):
                return said
            if time.monotonic() > limit:
                raise AdbServerError(f"the private adb server can't connect to {serial}: {said} ({state})")
            time.sleep(0.02)

    def states(self) -> dict[str, str]:
        """The phones the server knows, and their states."""
        lines = self.query("host:devices").splitlines()
        return dict(line.split("\t", 1) for line in lines if "\t" in line)

    def _answers(self) -> bool:
        limit = time.monotonic() + _START_SECONDS
        while time.monotonic() < limit and self.pid is not None:
            with contextlib.suppress(AdbServerError):
                self.query("host:version")
                return self.pid is not None  # else it was someone else's
            time.sleep(0.01)
        return False

    def _environment(self, home: Path) -> dict[str, str]:
        inherited = {
            name: value for name, value in environment.snapshot().items() if not name.startswith(("ADB_", "ANDROID_"))
        }
        return {
            **inherited,
            "HOME": str(home),
            "TMPDIR": str(home),
            "ADB_MDNS": "0",
            "ADB_USB": "0",
            "ADB_EMU": "0",
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",  # what adb 29 knows instead of ADB_EMU
            **self._variables,
        }

    def _said(self) -> str:
        """The end of what the server printed."""
        if self._log is None:
            return "nothing"
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), 500, max(0, size - 500)).decode("utf-8", "replace").strip() or "nothing"
