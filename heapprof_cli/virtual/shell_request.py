"""What a computer asks for with ``shell:``, ``shell,v2,...:`` and ``exec:``, and the packets of shell v2."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)
"""Kinds of packets (adb's shell_protocol.h)."""

PACKET = struct.Struct("<BI")


@dataclass(frozen=True)
class ShellRequest:
    """A shell to start."""

    command: str
    packets: bool
    """Whether output, errors and exit code go separately (shell v2)."""
    terminal: bool
    term: str | None = None


def parse_request(service: str) -> ShellRequest | None:
    """None when ``service`` is not a shell, or asks for what adbd does not know."""
    head, colon, command = service.partition(":")
    if not colon:
        return None
    if head == "exec":
        return ShellRequest(command, packets=False, terminal=False)
    name, *options = head.split(",")
    if name != "shell":
        return None
    terminal, packets, term = not command, False, None
    for option in options:
        if option == "v2":
            packets = True
        elif option in ("pty", "raw"):
            terminal = option == "pty"
        elif option.startswith("TERM="):
            term = option[5:]
        elif option:
            return None
    return ShellRequest(command, packets, terminal, term)


def failed_at_once(request: ShellRequest, text: str) -> bytes:
    """What a shell that says ``text`` and fails sends: on stderr with exit code 1 where there are packets."""
    said = text.encode() + b"\n"
    if not request.packets:
        return said
    return PACKET.pack(STDERR, len(said)) + said + PACKET.pack(EXIT, 1) + b"\1"


class PacketReader:
    """Takes shell v2 packets apart, however they are cut; long ones come in parts."""

    def __init__(self) -> None:
        self._head = b""
        self._kind = 0
        self._left = 0

    def feed(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        """(kind, content) of every packet in ``data``, or part of one."""
        while data or (self._head and not self._left and len(self._head) == PACKET.size):
            if len(self._head) < PACKET.size:
                need = PACKET.size - len(self._head)
                self._head += bytes(data[:need])
                data = data[need:]
                if len(self._head) < PACKET.size:
                    return
                self._kind, self._left = PACKET.unpack(self._head)
            part = data[: self._left]
            data = data[len(part) :]
            self._left -= len(part)
            if not self._left:
                self._head = b""
            if part or not self._left:
                yield self._kind, part
