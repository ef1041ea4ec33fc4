"""A stream as a thread sees it: blocking reads and writes, with back-pressure both ways."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable

from heapprof_cli.virtual.streams import Stream
from heapprof_cli.virtual.wire import Payload

_AHEAD = 2
"""How many packets are taken in, and how many written, before the other side has to wait."""


class ChannelClosed(Exception):
    """The stream, or the connection below it, ended."""


class Channel:
    """Serves a stream from a thread of its own, which runs ``work``; the stream is closed when that returns.

    ``give_back`` gets each payload's memory when it has been read.
    """

    def __init__(self, stream: Stream, give_back: Callable[[memoryview], None]) -> None:
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._give_back = give_back
        self._inbox: queue.SimpleQueue[tuple[memoryview, bool] | None] = queue.SimpleQueue()
        self._current = memoryview(b"")
        self._answered = True
        self._position = 0
        self._may_write = threading.Semaphore(_AHEAD)
        self._closed = threading.Event()

    def start(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except ChannelClosed:
                pass
            finally:
                self._call(self._stream.close)

        threading.Thread(target=run, daemon=True).start()

    # on the event loop's thread

    def data(self, payload: memoryview) -> None:
        early = self._inbox.qsize() < _AHEAD
        self._inbox.put((payload, early))
        if early:
            self._stream.consumed(len(payload))

    def closed(self) -> None:
        self._closed.set()
        self._inbox.put(None)
        self._may_write.release(_AHEAD)

    # on the thread of the work

    def read(self, count: int) -> memoryview:
        """Exactly ``count`` bytes, good until the next read. Raises ChannelClosed."""
        if count and self._position == len(self._current):
            self._next()
        if len(self._current) - self._position >= count:
            return self._take(count)
        data = bytearray(count)
        filled = 0
        while filled < count:
            if self._position == len(self._current):
                self._next()
            part = self._take(min(count - filled, len(self._current) - self._position))
            data[filled : filled + len(part)] = part
            filled += len(part)
        return memoryview(data)

    def write(self, data: Payload, done: Callable[[], None] | None = None) -> None:
        """Send ``data``, which must not change until ``done`` is called. Waits while much is under way.

        Raises ChannelClosed.
        """
        if not data:
            return

        def sent() -> None:
            self._may_write.release()
            if done:
                done()

        self._may_write.acquire()
        if self._closed.is_set():
            raise ChannelClosed
        self._call(lambda: self._stream.write(data, sent))

    def wait_closed(self) -> None:
        """Do nothing until the stream ends; always raises ChannelClosed."""
        self._closed.wait()
        raise ChannelClosed

    def close(self) -> None:
        """End the stream when all that was written has been sent."""
        self._call(self._stream.close)

    def on_loop(self, call: Callable[[], None]) -> None:
        """Have ``call`` made on the event loop's thread."""
        self._call(call)

    def _take(self, count: int) -> memoryview:
        part = self._current[self._position : self._position + count]
        self._position += count
        return part

    def _next(self) -> None:
        old, answered = self._current, self._answered
        self._current, self._answered, self._position = memoryview(b""), True, 0
        if old:
            self._call(lambda: self._release(old, answered))
        item = self._inbox.get()
        if item is None:
            self._inbox.put(None)
            raise ChannelClosed
        self._current, self._answered = item

    def _release(self, payload: memoryview, answered: bool) -> None:
        self._give_back(payload)
        if not answered:
            self._stream.consumed(len(payload))

    def _call(self, call: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # the phone is shutting down
            raise ChannelClosed from None
