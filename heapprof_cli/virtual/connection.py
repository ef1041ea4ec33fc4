"""One connection of an adb server to the phone: packets in and out, authorization, the table of streams."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import Protocol, cast

from heapprof_cli.virtual import wire
from heapprof_cli.virtual.streams import Stream
from heapprof_cli.virtual.wire import Payload

_POOL = 4
_POOLED_SIZE = wire.MAX_PAYLOAD
_DELAYED_ACK = "delayed_ack"


class Phone(Protocol):
    """What a connection asks of the phone it leads to."""

    authorized: bool
    latency: float
    bandwidth: float | None

    def banner(self) -> bytes: ...

    def connected(self, connection: Connection) -> None: ...

    def disconnected(self, connection: Connection) -> None: ...

    def answers(self, connection: Connection) -> bool:
        """Whether a new connection is answered at all."""

    def serve(self, connection: Connection, stream: Stream, service: str) -> bool:
        """Start what ``service`` asks for; False refuses it."""


class DelayLine:
    """One direction of a link: packets arrive later, in their order.

    Each takes ``latency`` seconds, many of them at once; and each occupies the line for its bytes by ``bandwidth``
    (bytes a second; None: no limit), one after another.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[tuple[float, Callable[[], None]]] = deque()
        self._free_at = 0.0

    def add(self, latency: float, bandwidth: float | None, size: int, call: Callable[[], None]) -> None:
        """Make ``call`` when a packet of ``size`` bytes that is sent now has arrived."""
        if latency <= 0 and not bandwidth and not self._calls:
            call()
            return
        sent = self._loop.time()
        if bandwidth:
            self._free_at = sent = max(sent, self._free_at) + size / bandwidth
        self._calls.append((sent + latency, call))
        if len(self._calls) == 1:
            self._loop.call_at(self._calls[0][0], self._run)

    def _run(self) -> None:
        # The clock's steps may lie before the due time by a hair.
        now = self._loop.time() + 1e-4
        while self._calls and self._calls[0][0] <= now:
            call = self._calls[0][1]
            call()
            self._calls.popleft()
        if self._calls:
            self._loop.call_at(self._calls[0][0], self._run)


class Connection(asyncio.BufferedProtocol):
    """The device side of one transport. Payloads are received in place, without copies."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._loop = asyncio.get_running_loop()
        self._inward = DelayLine(self._loop)
        self._outward = DelayLine(self._loop)
        self._header_bytes = bytearray(wire.HEADER.size)
        self._header: wire.Header | None = None
        self._target = memoryview(self._header_bytes)
        self._filled = 0
        self._pool: list[bytearray] = []
        self._streams: dict[int, Stream] = {}
        self._next_id = 1
        self._transport: asyncio.Transport | None = None
        self._checksums = True
        self._delayed_ack = False
        self._max_payload = 4096
        self._waiting_for_consent = False
        self.online = False
        self.silent = False
        """A silent connection stays open and answers nothing more."""

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=4 * wire.MAX_PAYLOAD)
        self._transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._phone.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.online = False
        for stream in list(self._streams.values()):
            stream.gone()
        self._phone.disconnected(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._target[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled < len(self._target):
            return
        try:
            if self._header is None:
                self._header = wire.parse_header(self._header_bytes)
                if self._header.length:
                    self._expect(self._borrow(self._header.length))
                    return
                self._received(self._header, memoryview(b""))
            else:
                self._received(self._header, self._target)
        except wire.WireError:
            self.drop()
        self._header = None
        self._expect(memoryview(self._header_bytes))

    def _expect(self, target: memoryview) -> None:
        self._target = target
        self._filled = 0

    def _borrow(self, size: int) -> memoryview:
        if size < _POOLED_SIZE // 16:
            return memoryview(bytearray(size))
        buffer = self._pool.pop() if self._pool else bytearray(_POOLED_SIZE)
        return memoryview(buffer)[:size]

    def give_back(self, payload: memoryview) -> None:
        """A service is done with a payload: its memory may take another one."""
        buffer = payload.obj
        if isinstance(buffer, bytearray) and len(buffer) == _POOLED_SIZE and len(self._pool) < _POOL:
            self._pool.append(buffer)

    # packets

    def send(self, command: int, arg0: int, arg1: int, payload: Payload = b"") -> None:
        """Send one packet, in order, at the link's pace."""
        if self._transport is None or self.silent:
            return
        head = wire.header(command, arg0, arg1, payload, with_checksum=self._checksums)
        self._over(self._outward, len(head) + len(payload), lambda: self._transmit(head, payload))

    def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be a packet."""
        self._over(self._outward, len(data), lambda: self._transmit(data, b""))

    def _over(self, line: DelayLine, size: int, call: Callable[[], None]) -> None:
        line.add(self._phone.latency, self._phone.bandwidth, size, call)

    def _transmit(self, head: bytes, payload: Payload) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if len(payload) < 4096:
            self._transport.write(head + payload if payload else head)
        else:
            self._transport.write(head)
            self._transport.write(payload)

    def drop(self) -> None:
        """Cut the connection, as a pulled cable does."""
        if self._transport is not None:
            self._transport.abort()

    def forget(self, stream: Stream) -> None:
        self._streams.pop(stream.local, None)

    def _received(self, header: wire.Header, payload: memoryview) -> None:
        self._over(self._inward, wire.HEADER.size + len(payload), lambda: self._dispatch(header, payload))

    def _dispatch(self, header: wire.Header, payload: memoryview) -> None:
        if self.silent:
            return
        if header.command == wire.CNXN:
            self._greeted(header, bytes(payload))
        elif header.command == wire.AUTH:
            self._authorize(header)
        elif not self.online:
            return
        elif header.command == wire.OPEN:
            self._opened(header, bytes(payload))
        elif header.command == wire.OKAY:
            if stream := self._streams.get(header.arg1):
                stream.acknowledged(payload)
        elif header.command == wire.WRTE:
            self._written(header, payload)
        elif header.command == wire.CLSE:
            stream = self._streams.get(header.arg1)
            if stream and header.arg0 in (0, stream.remote):
                stream.gone()
                self.send(wire.CLSE, stream.local, stream.remote)

    # the beginning

    def _greeted(self, header: wire.Header, banner: bytes) -> None:
        for stream in list(self._streams.values()):
            stream.gone()
        self.online = False
        self._checksums = header.arg0 < wire.VERSION
        self._max_payload = min(header.arg1, wire.MAX_PAYLOAD)
        features = banner.rpartition(b"features=")[2].decode("ascii", "replace").split(",")
        self._delayed_ack = _DELAYED_ACK in features
        if not self._phone.answers(self):
            self.silent = True
        elif self._phone.authorized:
            self.go_online()
        else:
            self.send(wire.AUTH, wire.AUTH_TOKEN, 0, os.urandom(20))

    def _authorize(self, header: wire.Header) -> None:
        if header.arg0 == wire.AUTH_SIGNATURE:  # by a key that this phone does not know
            self.send(wire.AUTH, wire.AUTH_TOKEN, 0, os.urandom(20))
        elif header.arg0 == wire.AUTH_PUBLIC_KEY:
            self._waiting_for_consent = True
            self.consented()

    def consented(self) -> None:
        """The phone's user may have said yes: goes online when that is so and the computer waits for it."""
        if self._phone.authorized and self._waiting_for_consent and not self.online:
            self.go_online()

    def go_online(self) -> None:
        self._waiting_for_consent = False
        self.online = True
        # An old server learns the version from this packet, and checks the sum of it already.
        version = wire.VERSION_WITH_CHECKSUMS if self._checksums else wire.VERSION
        self.send(wire.CNXN, version, wire.MAX_PAYLOAD, self._phone.banner())

    # streams

    def _opened(self, header: wire.Header, payload: bytes) -> None:
        service = payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        window = header.arg1 if self._delayed_ack else None
        stream = Stream(self, self._next_id, header.arg0, window, self._max_payload)
        self._next_id += 1
        self._streams[stream.local] = stream
        if self._phone.serve(self, stream, service):
            if stream.open:
                stream.consumed(wire.INITIAL_ACK_BYTES)
        else:
            self._streams.pop(stream.local, None)
            stream.open = False
            self.send(wire.CLSE, 0, header.arg0)

    def _written(self, header: wire.Header, payload: memoryview) -> None:
        stream = self._streams.get(header.arg1)
        if stream is None or header.arg0 != stream.remote:
            self.send(wire.CLSE, 0, header.arg0)
        elif stream.service:
            stream.service.data(payload)
