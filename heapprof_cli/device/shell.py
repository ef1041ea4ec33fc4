"""Shell protocol v2: one command on the phone with separate stdout, stderr and a true exit status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapprof_cli.device.adb_library import AdbError
from heapprof_cli.device.capture import Capture
from heapprof_cli.device.deadline import Deadline, DeadlinePassed
from heapprof_cli.device.server import AdbServer, Connection
from heapprof_cli.errors import DeviceError, StageTimeout
from heapprof_cli.text import clean_lines

_STDOUT, _STDERR, _EXIT = 1, 2, 3
_MAX_PACKET = 8 * 1024 * 1024
_MAX_COMMAND = 32 * 1024


class _NonsenseError(Exception):
    """What came is no packet of the protocol."""


@dataclass(frozen=True)
class ShellResult:
    """How a command on the phone ended. ``status`` is 128 + n after signal n."""

    status: int
    stdout: Capture
    stderr: Capture

    def tail(self) -> str:
        """The last words on stderr, else stdout, in one line for a message."""
        lines = clean_lines(self.stderr.text(), 3, 300) or clean_lines(self.stdout.text(), 3, 300)
        return " / ".join(lines)


def run_shell(
    server: AdbServer,
    serial: str,
    command: str,
    *,
    stage: str,
    seconds: float,
    on_stderr: Callable[[bytes], None] | None = None,
) -> ShellResult:
    """Run ``command`` (already quoted) on the phone and wait for its exit packet.

    Raises StageTimeout when it takes more than ``seconds`` in all, DeviceError when the connection
    ends before the exit status arrived: partial output is never passed off as success.
    """
    length = len(command.encode("utf-8", "surrogateescape"))
    if length > _MAX_COMMAND:
        raise DeviceError(f"a device command of {length} bytes is too long for adb", stage=stage)
    deadline = Deadline.after(seconds)
    stdout, stderr = Capture(), Capture(on_line=on_stderr)
    with server.opened(serial, f"shell,v2,raw:{command}", timeout=min(seconds, 30.0)) as connection:
        try:
            status = _pump(connection, deadline, stdout, stderr)
        except (DeadlinePassed, TimeoutError) as error:
            raise StageTimeout(
                f"the phone took more than {seconds:g} s to answer in the stage '{stage}'",
                stage=stage,
                hints=("check the cable or the network and that the phone is awake; raise --stall-timeout",),
                transient=True,
            ) from error
        except _NonsenseError as error:
            raise DeviceError(
                f"the phone's answer in the stage '{stage}' makes no sense: {error}",
                stage=stage,
                hints=("the connection damages data: try another cable or port; else reboot the phone",),
                transient=True,
            ) from error
        except (EOFError, OSError, AdbError) as error:
            raise DeviceError(
                "the connection to the phone was lost while a command ran on it",
                stage=stage,
                hints=("check the cable or the network and `heapprof devices`, then run again",),
                transient=True,
            ) from error
    return ShellResult(status, stdout, stderr)


def _pump(connection: Connection, deadline: Deadline, stdout: Capture, stderr: Capture) -> int:
    while True:
        connection.conn.settimeout(deadline.remaining())
        header = connection.receive_exact(5)
        kind, length = header[0], int.from_bytes(header[1:], "little")
        if kind not in (_STDOUT, _STDERR, _EXIT) or length > _MAX_PACKET:
            raise _NonsenseError(f"a packet of kind {kind} with {length} bytes")
        remaining = length
        payload = bytearray()
        while remaining:
            connection.conn.settimeout(deadline.remaining())
            payload = connection.receive_exact(min(remaining, 256 * 1024))
            remaining -= len(payload)
            if kind == _STDOUT:
                stdout.add(payload)
            elif kind == _STDERR:
                stderr.add(payload)
        if kind == _EXIT:
            if length != 1:
                raise _NonsenseError(f"an exit status of {length} bytes")
            return payload[0]
