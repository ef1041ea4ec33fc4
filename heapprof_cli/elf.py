"""What an ELF file says of itself: class, machine, shared libraries it needs and where it looks for them.

Layout: the System V ABI's published ELF-64 and ELF-32 formats, little-endian. Trusts no offset.
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from pathlib import Path

_MACHINES = {62: "x86_64", 183: "aarch64", 40: "arm", 3: "i386", 164: "hexagon"}
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 5, 14, 15, 29
_PT_LOAD, _PT_DYNAMIC = 1, 2
_MAX_SEGMENTS, _MAX_DYNAMIC, _MAX_NAME = 256, 4096, 4096


@dataclass(frozen=True)
class ElfFacts:
    """``bits`` is 32 or 64; ``machine`` a name such as aarch64, or the number as text."""

    bits: int
    machine: str
    needed: tuple[str, ...]
    run_path: tuple[str, ...]
    soname: str | None


def read(path: Path) -> ElfFacts | None:
    """The facts of the ELF file at ``path``; None when it is none or too damaged to tell."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(data)
    except (OSError, ValueError, struct.error, IndexError):
        return None


def contains(path: Path, text: bytes) -> bool:
    """Whether the file holds ``text``; False when it can't be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(text) >= 0
    except (OSError, ValueError):
        return False


def search(path: Path, pattern: re.Pattern[bytes]) -> bytes | None:
    """The first text in the file that ``pattern`` matches; None when there is none or it can't be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = pattern.search(data)
            return bytes(found[0]) if found else None
    except (OSError, ValueError):
        return None


def _read(data: mmap.mmap) -> ElfFacts | None:
    if data[:4] != b"\x7fELF" or data[5] != 1 or data[4] not in (1, 2):
        return None
    wide = data[4] == 2
    machine = struct.unpack_from("<H", data, 18)[0]
    segments = _segments(data, wide)
    entries = _dynamic(data, wide, segments)
    strings = _file_offset(segments, next((value for tag, value in entries if tag == _DT_STRTAB), 0))

    def names(*tags: int) -> tuple[str, ...]:
        return tuple(_name(data, strings + value) for tag, value in entries if tag in tags)

    run_path = tuple(part for text in names(_DT_RPATH, _DT_RUNPATH) for part in text.split(":") if part)
    soname = names(_DT_SONAME)
    return ElfFacts(
        bits=64 if wide else 32,
        machine=_MACHINES.get(machine, str(machine)),
        needed=names(_DT_NEEDED),
        run_path=run_path,
        soname=soname[0] if soname else None,
    )


def _segments(data: mmap.mmap, wide: bool) -> list[tuple[int, int, int, int]]:
    """(type, file offset, virtual address, size in the file) of every segment."""
    if wide:
        (offset,), (entry, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    else:
        (offset,), (entry, count) = struct.unpack_from("<I", data, 28), struct.unpack_from("<HH", data, 42)
    found = []
    for index in range(min(count, _MAX_SEGMENTS)):
        at = offset + index * entry
        if wide:
            kind, _, file_offset, address, _, size = struct.unpack_from("<IIQQQQ", data, at)
        else:
            kind, file_offset, address, _, size = struct.unpack_from("<IIIII", data, at)
        found.append((kind, file_offset, address, size))
    return found


def _dynamic(data: mmap.mmap, wide: bool, segments: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    form, width = ("<QQ", 16) if wide else ("<II", 8)
    for kind, offset, _, size in segments:
        if kind == _PT_DYNAMIC:
            count = min(size // width, _MAX_DYNAMIC)
            entries = [struct.unpack_from(form, data, offset + width * i) for i in range(count)]
            return [(tag, value) for tag, value in entries if tag]
    return []


def _file_offset(segments: list[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, start, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return address - start + offset
    return address


def _name(data: mmap.mmap, offset: int) -> str:
    end = data.find(b"\0", offset, offset + _MAX_NAME)
    if offset < 0 or end < 0:
        raise ValueError("a name outside the file")
    return bytes(data[offset:end]).decode("utf-8", "replace")
