"""One stream between adb server and phone: its credits, its queue, and who serves it."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from typing import Protocol

from heapprof_cli.virtual import wire
from heapprof_cli.virtual.wire import Payload

_MOST_UNDER_WAY = 8 * 1024 * 1024
"""Of one stream with delayed acks: less than servers offer, so that memory stays small."""


class Service(Protocol):
    """What serves a stream on the phone. All calls come on the event loop's thread."""

    def data(self, payload: memoryview) -> None:
        """Bytes from the computer; call ``stream.consumed`` when done with them."""

    def closed(self) -> None:
        """The stream is gone; no more calls come."""


class Sender(Protocol):
    """The connection below a stream."""

    def send(self, command: int, arg0: int, arg1: int, payload: Payload = b"") -> None: ...

    def forget(self, stream: Stream) -> None: ...


class Stream:
    """A stream that the adb server opened. Use it on the event loop's thread only."""

    def __init__(self, sender: Sender, local: int, remote: int, window: int | None, max_payload: int) -> None:
        """``window`` is how many bytes the computer takes before it answers; None: one packet."""
        self.local = local
        self.remote = remote
        self.open = True
        self.service: Service | None = None
        self._sender = sender
        self._window = window
        self._max_payload = max_payload
        self._queue: deque[tuple[memoryview, Callable[[], None] | None]] = deque()
        self._under_way = 0
        self._done: Callable[[], None] | None = None
        self._closing = False

    def write(self, data: Payload, done: Callable[[], None] | None = None) -> None:
        """Send ``data``; ``done`` is called when the computer has it, so that its memory can be used again."""
        view = memoryview(data)
        for start in range(0, len(view), self._max_payload):
            part = view[start : start + self._max_payload]
            self._queue.append((part, done if start + len(part) == len(view) else None))
        self._pump()

    def consumed(self, count: int) -> None:
        """The service is done with ``count`` bytes of :meth:`Service.data`: the computer may send more."""
        if self.open:
            payload = struct.pack("<i", count) if self._window is not None else b""
            self._sender.send(wire.OKAY, self.local, self.remote, payload)

    def close(self) -> None:
        """End the stream when all that was written has been sent."""
        self._closing = True
        self._pump()

    def abort(self) -> None:
        """End the stream at once."""
        if self.open:
            self._sender.send(wire.CLSE, self.local, self.remote)
            self.gone()

    def acknowledged(self, payload: Payload) -> None:
        """The computer answered OKAY."""
        if self._window is not None:
            count = int(struct.unpack("<i", payload)[0]) if len(payload) == 4 else 0
            self._window += count
            self._under_way = max(0, self._under_way - count)
        elif self._under_way:
            self._under_way = 0
            done, self._done = self._done, None
            if done:
                done()
        self._pump()

    def gone(self) -> None:
        """The other side, or the connection, ended the stream."""
        if not self.open:
            return
        self.open = False
        self._queue.clear()
        self._done = None
        self._sender.forget(self)
        if self.service:
            self.service.closed()

    def _pump(self) -> None:
        while self.open and self._queue and self._may_send():
            part, done = self._queue.popleft()
            self._under_way += len(part)
            if self._window is None:
                self._done = done
                self._sender.send(wire.WRTE, self.local, self.remote, part)
            else:
                # Answers come late and for many packets at once: what waits for them is a copy.
                self._window -= len(part)
                self._sender.send(wire.WRTE, self.local, self.remote, bytes(part))
                if done:
                    done()
        # adbd sends CLSE only when the last packet was answered; earlier, servers lose what is under way.
        if self.open and self._closing and not self._queue and not self._under_way:
            self.abort()

    def _may_send(self) -> bool:
        if self._window is None:
            return not self._under_way
        return self._window > 0 and self._under_way < _MOST_UNDER_WAY
