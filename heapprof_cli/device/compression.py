"""Compressing a file on its way to the phone, where the phone takes it and it pays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import zstandard

# Flags of adb's SND2 request (its published file_sync_protocol).
NONE, ZSTD = 0, 4
ZSTD_FEATURE = "sendrecv_v2_zstd"
V2_FEATURE = "sendrecv_v2"
_LEVEL = 1
_SAMPLE = 256 * 1024
_SMALLEST = 64 * 1024
_WORTH_IT = 0.9
_BITE = 256
_LARGEST_WINDOW = 8 * 1024 * 1024


def offered(features: frozenset[str]) -> bool:
    """Whether the phone takes and gives files compressed by zstd."""
    return ZSTD_FEATURE in features and V2_FEATURE in features


def choose(file: BinaryIO, size: int, features: frozenset[str]) -> int:
    """ZSTD when the phone offers it and samples of ``file`` shrink by a tenth or more, else NONE."""
    if not offered(features) or size < _SMALLEST:
        return NONE
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    sampled = shrunk = 0
    for start in {0, size // 2, max(0, size - _SAMPLE)}:
        file.seek(start)
        sample = file.read(_SAMPLE)
        sampled += len(sample)
        shrunk += len(compressor.compress(sample))
    file.seek(0)
    return ZSTD if shrunk < _WORTH_IT * sampled else NONE


def blocks(file: BinaryIO, flag: int, block: int) -> Iterator[tuple[bytes, int]]:
    """The file's content as it goes over the wire, with the count of file bytes that each block stands for."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj() if flag == ZSTD else None
    while data := file.read(block):
        yield (compressor.compress(data) if compressor else data), len(data)
    if compressor:
        yield compressor.flush(), 0


def expanded(pieces: Iterable[bytes | bytearray]) -> Iterator[bytes]:
    """The content of a zstd stream. Raises EOFError when it is damaged.

    It goes in by small bites: a few bytes may stand for a block of 128 KiB, and memory must stay bounded.
    """
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
    try:
        for piece in pieces:
            for start in range(0, len(piece), _BITE):
                if data := decompressor.decompress(bytes(piece[start : start + _BITE])):
                    yield data
    except zstandard.ZstdError as error:
        raise EOFError(f"a damaged stream: {error}") from error
