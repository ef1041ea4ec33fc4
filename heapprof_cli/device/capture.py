"""Output of a device program, kept in bounded memory: its head, its tail, and how much was left out."""

from __future__ import annotations

from collections.abc import Callable

from heapprof_cli.text import decode

LineHandler = Callable[[bytes], None]
_LINE_LIMIT = 8 * 1024


class Capture:
    """Keeps the first ``head`` and the last ``tail`` bytes of a stream of any length.

    ``on_line`` is given each complete line (without its end); a line longer than 8 KiB is cut.
    """

    def __init__(self, head: int = 64 * 1024, tail: int = 256 * 1024, on_line: LineHandler | None = None) -> None:
        self._head_limit = head
        self._tail_limit = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._on_line = on_line
        self._line = bytearray()
        self.total = 0

    def add(self, data: bytes | bytearray | memoryview) -> None:
        self.total += len(data)
        if self._on_line is not None:
            self._split(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if len(data) >= self._tail_limit:
            self._tail[:] = data[len(data) - self._tail_limit :]
            return
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:  # trimmed rarely: shifting costs time
            del self._tail[: len(self._tail) - self._tail_limit]

    def _split(self, data: bytes | bytearray | memoryview) -> None:
        assert self._on_line is not None
        pieces = bytes(data).split(b"\n")
        for piece in pieces[:-1]:
            self._extend_line(piece)
            self._on_line(bytes(self._line))
            self._line.clear()
        self._extend_line(pieces[-1])

    def _extend_line(self, piece: bytes) -> None:
        self._line += piece[: _LINE_LIMIT - len(self._line)]

    @property
    def omitted(self) -> int:
        """Bytes that were neither kept in the head nor in the tail."""
        return max(0, self.total - len(self._head) - self._tail_limit)

    def text(self) -> str:
        """What was kept, as text (not yet cleaned for a terminal)."""
        tail = bytes(self._tail[-self._tail_limit :])
        if not self.omitted:
            return decode(bytes(self._head) + tail)
        return f"{decode(bytes(self._head))}\n[{self.omitted} bytes left out]\n{decode(tail)}"
