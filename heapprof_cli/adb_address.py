"""The adb server's address, from flags and the variables that adb itself reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 5037


@dataclass(frozen=True)
class ServerAddress:
    """Where the adb server listens: a host and TCP port, or the path of a unix socket."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    socket_path: str | None = None

    def __str__(self) -> str:
        return self.socket_path or f"{self.host}:{self.port}"


def choose_address(host: str | None, port: int | None, environment: Mapping[str, str]) -> ServerAddress:
    """Flags win; then ADB_SERVER_SOCKET; then ANDROID_ADB_SERVER_ADDRESS/HOST/PORT; then adb's default.

    Raises UsageError when a variable's value makes no sense.
    """
    socket_spec = environment.get("ADB_SERVER_SOCKET")
    if socket_spec and host is None and port is None:
        return parse_socket_spec(socket_spec)
    if host is None:
        host = environment.get("ANDROID_ADB_SERVER_ADDRESS") or environment.get("ANDROID_ADB_SERVER_HOST")
    if port is None:
        text = environment.get("ANDROID_ADB_SERVER_PORT")
        port = _port(text, "ANDROID_ADB_SERVER_PORT") if text else None
    return ServerAddress(host or DEFAULT_HOST, port or DEFAULT_PORT)


def parse_socket_spec(text: str) -> ServerAddress:
    """adb's own notation: ``tcp:PORT``, ``tcp:HOST:PORT``, ``localfilesystem:PATH``. Raises UsageError."""
    kind, _, rest = text.partition(":")
    if kind == "tcp" and rest:
        host, separator, port = rest.rpartition(":")
        name = host.strip("[]") if separator else ""
        return ServerAddress(name or DEFAULT_HOST, _port(port, "ADB_SERVER_SOCKET"))
    if kind in ("localfilesystem", "local") and rest.startswith("/"):
        return ServerAddress(socket_path=rest)
    raise UsageError(
        f"ADB_SERVER_SOCKET={clean(text, 200)!r} is not understood",
        hints=("use tcp:HOST:PORT, tcp:PORT or localfilesystem:/PATH, or name the server with --host and --adb-port",),
    )


def _port(text: str, variable: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise UsageError(f"{variable}: {clean(text, 60)!r} is no TCP port (1 to 65535)")
