"""The adb server: its address, and connections to it on adbutils' transport.

adbutils starts a server on port 5037 whatever port was asked for; a measuring tool must never touch
a server that its user did not name, so connections here are made without that.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections.abc import Iterator

from heapprof_cli import processes
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device.adb_library import AdbClient, AdbConnection, AdbError, AdbTimeout, adb_path
from heapprof_cli.errors import DeviceError
from heapprof_cli.text import clean

_CONNECT_SECONDS = 5.0
_QUERY_SECONDS = 15.0
_START_SECONDS = 30.0
_HEADER_BYTES = 8


class Connection(AdbConnection):  # type: ignore[misc]
    """adbutils' connection, without its habit of starting a server."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        super().__init__(address.host, address.port)

    def _safe_connect(self) -> socket.socket:
        if self._address.socket_path is not None:
            found = socket.socket(socket.AF_UNIX)
            found.settimeout(_CONNECT_SECONDS)
            found.connect(self._address.socket_path)
            return found
        found = socket.create_connection((self._address.host, self._address.port), timeout=_CONNECT_SECONDS)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found

    def request(self, service: str) -> None:
        """Ask for ``service`` and wait for OKAY. Raises AdbError with the server's own text."""
        encoded = service.encode()
        self.conn.sendall(b"%04x%b" % (len(encoded), encoded))
        self.check_okay()

    def receive_exact(self, count: int) -> bytearray:
        """Exactly ``count`` bytes. Raises EOFError when the stream ends before."""
        data = bytearray(count)
        view = memoryview(data)
        filled = 0
        if count <= _HEADER_BYTES:
            self._acknowledge_at_once()
        while filled < count:
            got = self.conn.recv_into(view[filled:])
            if got == 0:
                raise EOFError("the connection to the phone ended")
            filled += got
        return data

    def _acknowledge_at_once(self) -> None:
        """Have the kernel send its next acknowledgement without the usual 40 ms of delay.

        The adb server sends the packets of a short answer one by one and waits for it in between.
        """
        if self._address.socket_path is None and hasattr(socket, "TCP_QUICKACK"):
            with contextlib.suppress(OSError):
                self.conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def drop(self) -> None:
        """Close at once; adbutils' own close waits 10 ms, twice a call."""
        with contextlib.suppress(OSError, AdbError):
            self.conn.close()


class AdbServer(AdbClient):  # type: ignore[misc]
    """One adb server, reached at ``address``."""

    def __init__(self, address: ServerAddress) -> None:
        super().__init__(address.host, address.port)
        self.address = address

    def ensure_running(self) -> None:
        """Start adb's default server when it is the one to use and none runs; never another one.

        Raises DeviceError when it can't be started.
        """
        if self.address != ServerAddress():
            return
        with contextlib.suppress(OSError):
            Connection(self.address).drop()
            return
        adb = shutil.which("adb") or adb_path()
        try:
            done = processes.run([adb, "start-server"], timeout=_START_SECONDS)
        except (OSError, TimeoutError) as error:
            raise DeviceError(f"can't start an adb server: {clean(str(error), 200)}", stage="adb_server") from error
        if done.code != 0:
            said = clean(done.stderr.decode("utf-8", "replace"), 300)
            raise DeviceError(f"adb could not start its server: {said}", stage="adb_server")

    def make_connection(self, timeout: float | None = None) -> Connection:
        """A fresh connection. Raises DeviceError when no server answers."""
        try:
            connection = Connection(self.address)
        except (OSError, UnicodeError) as error:  # UnicodeError: no host can have such a name
            raise DeviceError(
                f"no adb server answers at {self.address} ({clean(str(error), 200)})",
                stage="adb_server",
                hints=_no_server_hints(self.address),
                transient=True,
            ) from error
        connection.conn.settimeout(timeout or _QUERY_SECONDS)
        return connection

    @contextlib.contextmanager
    def opened(self, serial: str, service: str, timeout: float = _QUERY_SECONDS) -> Iterator[Connection]:
        """A connection to ``service`` on the phone ``serial``; closed at the end.

        Raises DeviceError when the server refuses the phone or the phone refuses the service.
        """
        connection = self.make_connection(timeout)
        try:
            try:
                connection.request(f"host:transport:{serial}")
                connection.request(service)
            except (AdbError, OSError, ValueError) as error:
                raise refused(error, f"open '{service.split(':', 1)[0]}'") from error
            yield connection
        finally:
            connection.drop()

    def query(self, request: str, timeout: float = _QUERY_SECONDS) -> str:
        """The answer to a ``host:`` request. Raises DeviceError on failure or silence."""
        connection = self.make_connection(timeout)
        try:
            connection.request(request)
            length = int(bytes(connection.receive_exact(4)), 16)
            return connection.receive_exact(length).decode("utf-8", "replace")
        except (AdbError, OSError, EOFError, ValueError) as error:
            raise refused(error, "answer a request") from error
        finally:
            connection.drop()


def refused(error: Exception, what: str) -> DeviceError:
    """The adb server's or phone's refusal to do ``what``, as our own error with its cause."""
    if isinstance(error, (AdbTimeout, TimeoutError)):
        return DeviceError(
            f"the adb server or the phone did not {what} in time",
            hints=("check that `adb devices` answers and that the phone is awake and connected",),
            transient=True,
        )
    said = clean(str(error), 300) or "the connection ended without a word"
    return DeviceError(
        f"the adb server or the phone did not {what}: {said}",
        hints=("check the phone's state with `heapprof devices`",),
        transient=True,
    )


def _no_server_hints(address: ServerAddress) -> tuple[str, ...]:
    if address == ServerAddress():
        return ("start it with `adb start-server`; or name another server with --host and --adb-port",)
    return (f"check --host and --adb-port; start a server there with `adb -P {address.port} start-server`",)
