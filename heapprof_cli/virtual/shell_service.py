"""A shell on the phone, as adbd runs it (adbd's shell_service.cpp).

A program without a terminal has sockets for input, output and errors, and a session of its own. When the
computer ends a stream of shell v2, the shell, and only the shell, gets SIGHUP: what it started may live on.
Without packets its input just ends, when it has read all that was sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import os
import signal
import socket
import struct
import termios
from collections.abc import Mapping

from heapprof_cli import processes
from heapprof_cli.virtual import descriptors, shell_request
from heapprof_cli.virtual.layout import Layout
from heapprof_cli.virtual.shell_faults import ShellFaults
from heapprof_cli.virtual.shell_request import PacketReader, ShellRequest
from heapprof_cli.virtual.streams import Stream

_BUFFER = 256 * 1024


class ShellService:
    """Serves one stream with one shell. Starts it at once; raises OSError when that fails."""

    def __init__(
        self,
        stream: Stream,
        request: ShellRequest,
        layout: Layout,
        environment: Mapping[str, str],
        faults: ShellFaults,
    ) -> None:
        self._stream = stream
        self._request = request
        self._faults = faults
        self._loop = asyncio.get_running_loop()
        self._input: asyncio.Queue[memoryview | None] = asyncio.Queue()
        self._descriptors: set[int] = set()
        self._shell = self._start(layout, environment)
        faults.started(self._shell.pid)
        self._ended = self._loop.create_task(self._shell.wait())
        self._feeder = self._loop.create_task(self._feed())
        self._teller = self._loop.create_task(self._tell())

    def _start(self, layout: Layout, environment: Mapping[str, str]) -> processes.Spawned:
        if self._request.terminal:
            ours, theirs = os.openpty()
            errors = errors_theirs = None
        else:
            ours, theirs = _socket_pair()
            errors, errors_theirs = _socket_pair() if self._request.packets else (None, None)
        self._main, self._errors = ours, errors
        self._descriptors = {descriptor for descriptor in (ours, errors) if descriptor is not None}
        for descriptor in self._descriptors:
            os.set_blocking(descriptor, False)
        command = ["-c", self._request.command] if self._request.command else []
        try:
            return processes.Spawned(
                [layout.shell, *command],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs if errors_theirs is None else errors_theirs,
                env={**environment, "TERM": self._request.term or "dumb"},
                cwd=layout.start_folder,
                terminal=self._request.terminal,
            )
        except BaseException:
            self._close_descriptors()
            raise
        finally:
            os.close(theirs)
            if errors_theirs is not None:
                os.close(errors_theirs)

    # from the computer

    def data(self, payload: memoryview) -> None:
        self._input.put_nowait(payload)

    def closed(self) -> None:
        self._teller.cancel()
        if not self._request.packets and not self._ended.done():
            self._input.put_nowait(None)
            return
        self._feeder.cancel()
        if not self._ended.done():
            self._shell.signal(signal.SIGHUP)
        self._close_descriptors()

    async def _feed(self) -> None:
        """Give the shell what the computer sends."""
        packets = PacketReader()
        while (payload := await self._input.get()) is not None:
            if self._request.packets:
                for kind, content in packets.feed(payload):
                    await self._handle(kind, content)
            else:
                await self._give(payload)
            self._stream.consumed(len(payload))
        self._close_descriptors()

    async def _handle(self, kind: int, content: memoryview) -> None:
        if kind == shell_request.STDIN:
            await self._give(content)
        elif kind == shell_request.CLOSE_STDIN and not self._request.terminal:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._main)) as end:
                end.shutdown(socket.SHUT_WR)
        elif kind == shell_request.WINDOW_SIZE and self._request.terminal:
            with contextlib.suppress(ValueError, OSError):
                _set_window(self._main, bytes(content).decode("ascii", "replace"))

    async def _give(self, content: memoryview) -> None:
        # A shell that reads no more loses what comes, but the stream goes on.
        with contextlib.suppress(OSError):
            await descriptors.write_all(self._main, content)

    # to the computer

    async def _tell(self) -> None:
        """Send all output, then the exit code; like adbd, only when everybody let go of the output."""
        readers = [self._pump(self._main, shell_request.STDOUT)]
        if self._errors is not None:
            readers.append(self._pump(self._errors, shell_request.STDERR))
        await asyncio.gather(*readers)
        code = await self._ended
        if self._request.packets:
            status = 128 - code if code < 0 else code
            self._stream.write(shell_request.PACKET.pack(shell_request.EXIT, 1) + bytes([status & 0xFF]))
        self._feeder.cancel()
        self._stream.close()

    async def _pump(self, descriptor: int, kind: int) -> None:
        """Send what comes from ``descriptor``; one piece is read while the one before is under way."""
        head = shell_request.PACKET.size if self._request.packets else 0
        sent = asyncio.Event()
        sent.set()
        for buffer in itertools.cycle(memoryview(bytearray(head + _BUFFER)) for _ in range(2)):
            count = await descriptors.read_into(descriptor, buffer[head:])
            await sent.wait()
            if not count:
                return
            content = await self._faults.output(buffer[head : head + count], self._shell.pid)
            if head:
                shell_request.PACKET.pack_into(buffer, 0, kind, len(content))
            sent = asyncio.Event()
            self._stream.write(buffer[: head + len(content)], sent.set)

    def _close_descriptors(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = set()


def _socket_pair() -> tuple[int, int]:
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


def _set_window(terminal: int, text: str) -> None:
    """``ROWSxCOLUMNS,WIDTHxHEIGHT`` as shell v2 sends it."""
    cells, _, pixels = text.rstrip("\0").partition(",")
    rows, columns = (int(number) for number in cells.split("x"))
    width, height = (int(number) for number in (pixels or "0x0").split("x"))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, width, height))
