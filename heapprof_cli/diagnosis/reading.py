"""Logs as blocks of UTF-8 bytes: plain, gzip, zip (as bug reports come), UTF-16."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

BLOCK = 1 << 20
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_TEXT_ENDINGS = (".txt", ".log", ".logcat", ".out", ".err", "")


def blocks_of_file(stream: BinaryIO) -> Iterator[bytes]:
    """The text of a log file. Raises OSError, also for a damaged archive without any text before the damage."""
    head = stream.read(4)
    whole = _Prepended(head, stream)
    if head.startswith(_GZIP):
        yield from _decoded(_unpacked(whole))
    elif head == _ZIP:
        yield from _members(whole)
    else:
        yield from _decoded(iter(lambda: whole.read(BLOCK), b""))


def blocks_of_lines(lines: Iterable[str] | Iterable[bytes]) -> Iterator[bytes]:
    """Lines, with or without their ends, as blocks; a text is taken for its lines."""
    if isinstance(lines, (str, bytes)):
        lines = [lines]
    batch: list[bytes] = []
    size = 0
    for line in lines:
        data = line.encode("utf-8", "replace") if isinstance(line, str) else bytes(line)
        batch.append(data if data.endswith(b"\n") else data + b"\n")
        size += len(data)
        if size >= BLOCK:
            yield b"".join(batch)
            batch, size = [], 0
    if batch:
        yield b"".join(batch)


class _Prepended(io.RawIOBase):
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        head, self._head = self._head, b""
        if 0 <= size <= len(head):
            self._head = head[size:]
            return head[:size]
        return head + (self._rest.read(size - len(head) if size >= 0 else -1) or b"")


def _unpacked(stream: _Prepended) -> Iterator[bytes]:
    """What gzip holds, up to where it is damaged."""
    some = False
    try:
        with gzip.GzipFile(fileobj=stream) as file:
            while block := file.read1(BLOCK):
                some = True
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        if not some:
            raise OSError(f"damaged gzip data: {error}") from error


def _members(stream: _Prepended) -> Iterator[bytes]:
    """The texts in a zip, one after the other."""
    content = io.BytesIO(stream.read())
    try:
        with zipfile.ZipFile(content) as archive:
            for member in archive.infolist():
                ending = "." + member.filename.rpartition(".")[2].lower() if "." in member.filename else ""
                if member.is_dir() or ending not in _TEXT_ENDINGS:
                    continue
                with archive.open(member) as file:
                    yield from _decoded(iter(lambda: file.read(BLOCK), b""))
                yield b"\n"
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, lzma.LZMAError) as error:
        raise OSError(f"damaged or encrypted zip: {error}") from error


def _decoded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16 (as PowerShell's ``>`` writes it) becomes UTF-8; anything else passes as it is."""
    first = next(blocks, b"")
    encoding = _utf16(first)
    if encoding is None:
        yield first
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first).encode("utf-8", "replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")


def _utf16(head: bytes) -> str | None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:1024]
    if len(sample) < 8:
        return None
    odd, even = sample[1::2].count(0), sample[::2].count(0)
    half = len(sample) // 2
    return "utf-16-le" if odd > 0.8 * half and even == 0 else "utf-16-be" if even > 0.8 * half and odd == 0 else None
