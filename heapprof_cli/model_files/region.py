"""A stretch of a mapped file: parts of it are read where they are wanted, the whole is never copied."""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.errors import ModelFileError
from heapprof_cli.text import clean

Data = bytes | mmap.mmap


@dataclass(frozen=True)
class Region:
    """``size`` bytes from ``start`` of ``data``, the content of the file at ``path``. Offsets are relative."""

    data: Data
    path: Path
    start: int
    size: int

    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes from ``offset``; fewer where the region ends."""
        end = min(offset + length, self.size)
        return bytes(self.data[self.start + offset : self.start + end]) if 0 <= offset < end else b""

    def find(self, word: bytes, offset: int, length: int) -> int:
        """Where ``word`` begins in the ``length`` bytes from ``offset``, or -1."""
        end = min(offset + length, self.size)
        at = self.data.find(word, self.start + offset, self.start + end)
        return at - self.start if at >= 0 else -1

    def part(self, offset: int, size: int) -> Region | None:
        """The region inside this one, or None where it would lead outside."""
        if offset < 0 or size < 0 or offset + size > self.size:
            return None
        return Region(self.data, self.path, self.start + offset, size)


@contextlib.contextmanager
def mapped(path: Path) -> Iterator[Region]:
    """The whole file, mapped. Raises ModelFileError when there is nothing that could be read."""
    shown = clean(str(path), 300)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before opening: a FIFO would block for ever
            raise ModelFileError(f"{shown} is not a regular file")
        with path.open("rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            if size == 0:
                raise ModelFileError(
                    f"{clean(path.name, 300)} is empty (0 bytes)", hints=("make or copy the model file again",)
                )
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield Region(data, path, 0, len(data))
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path, or mmap's refusal
        raise ModelFileError(
            f"can't read the model {shown}: {getattr(error, 'strerror', None) or error}",
            hints=("check the path and its permissions",),
        ) from error
