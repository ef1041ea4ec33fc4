"""Packed transfers (SND2, RCV2): offered when a library for them is there, in constant memory."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, Protocol

from heapprof_cli.virtual import sync_wire

Sink = Callable[[bytes], object]


class CodecError(Exception):
    """Packed data that can't be unpacked."""


class Codec(Protocol):
    """One packed transfer, in one direction."""

    def decode(self, data: bytes | memoryview, sink: Sink) -> None:
        """Unpack the next piece; ``sink`` gets the result in pieces of bounded size. Raises CodecError."""

    def encode(self, data: bytes) -> bytes: ...

    def finish_encoding(self) -> bytes: ...


def features() -> tuple[str, ...]:
    """The names by which this phone offers what it can unpack."""
    names = {sync_wire.FLAG_ZSTD: "sendrecv_v2_zstd", sync_wire.FLAG_LZ4: "sendrecv_v2_lz4"}
    return tuple(name for flag, name in names.items() if flag in _codecs())


def codec_for(flag: int) -> Codec | None:
    """A codec for one transfer with this flag of SND2 or RCV2; None when this phone has none."""
    make = _codecs().get(flag)
    return make() if make else None


@functools.cache
def _codecs() -> dict[int, Callable[[], Codec]]:
    found: dict[int, Callable[[], Codec]] = {}
    if zstandard := _library("zstandard"):
        found[sync_wire.FLAG_ZSTD] = lambda: _Zstd(zstandard)
    if lz4 := _library("lz4.frame"):
        found[sync_wire.FLAG_LZ4] = lambda: _Lz4(lz4)
    return found


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class _Output:
    """What zstandard writes to."""

    def __init__(self) -> None:
        self.sink: Sink = len

    def write(self, data: bytes) -> int:
        self.sink(bytes(data))
        return len(data)


class _Zstd:
    def __init__(self, library: Any) -> None:
        self._error = library.ZstdError
        self._output = _Output()
        self._reader = library.ZstdDecompressor().stream_writer(self._output, closefd=False)
        self._packer = library.ZstdCompressor(level=1).compressobj()

    def decode(self, data: bytes | memoryview, sink: Sink) -> None:
        self._output.sink = sink
        try:
            self._reader.write(data)
        except self._error as error:
            raise CodecError(str(error)) from None

    def encode(self, data: bytes) -> bytes:
        return bytes(self._packer.compress(data))

    def finish_encoding(self) -> bytes:
        return bytes(self._packer.flush())


class _Lz4:
    def __init__(self, library: Any) -> None:
        self._reader = library.LZ4FrameDecompressor()
        self._packer = library.LZ4FrameCompressor()
        self._begun = False

    def decode(self, data: bytes | memoryview, sink: Sink) -> None:
        try:
            # At most 255 times the 64 KiB of a piece.
            sink(self._reader.decompress(bytes(data)))
        except (RuntimeError, EOFError) as error:
            raise CodecError(str(error)) from None

    def encode(self, data: bytes) -> bytes:
        begin = b"" if self._begun else self._packer.begin()
        self._begun = True
        return bytes(begin + self._packer.compress(data))

    def finish_encoding(self) -> bytes:
        begin = b"" if self._begun else self._packer.begin()
        return bytes(begin + self._packer.flush())
