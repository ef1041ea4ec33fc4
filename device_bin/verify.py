#!/usr/bin/env python3
"""Check the structure of a file built for Android: all that can be known of it without a phone.

    python device_bin/verify.py FILE...

``problems(path)`` lists what would keep the file from loading, or from loading on every phone since
Android 9 (API 28, 4 and 16 KB pages): what bionic's linker demands, and names that only other
systems' libraries have. Standard library only.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

INTERPRETER = b"/system/bin/linker64\0"
API_LEVEL = 28
LIBRARIES = frozenset({"libc.so", "libdl.so", "libm.so"})
FOREIGN = ("__errno_location", "GLIBC_", "__emutls", "__aarch64_", "__ubsan", "__isoc99", "__fxstat", "__xstat")
_SIZE_LIMIT = 64 * 1024

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE, _PT_TLS, _PT_STACK, _PT_RELRO = 1, 2, 3, 4, 7, 0x6474E551, 0x6474E552
_RELOCATIONS = {1027: "RELATIVE", 1025: "GLOB_DAT", 1026: "JUMP_SLOT"}
_ALLOWED_RELOCATIONS = frozenset(_RELOCATIONS)
_DT_NEEDED, _DT_STRTAB, _DT_SYMTAB, _DT_RELA, _DT_RELASZ, _DT_PLTRELSZ, _DT_JMPREL = 1, 5, 6, 7, 8, 2, 23
_DT_RPATH, _DT_TEXTREL, _DT_FLAGS, _DT_RUNPATH, _DT_FLAGS_1, _DT_HASH = 15, 22, 30, 29, 0x6FFFFFFB, 4
_PACKED = {36: "RELR", 35: "RELR", 0x6000000F: "ANDROID_REL", 0x60000011: "ANDROID_RELA", 0x6FFFE000: "ANDROID_RELR"}
_DF_BIND_NOW, _DF_TEXTREL, _DF_1_NOW, _DF_1_PIE = 8, 4, 1, 0x08000000


@dataclass(frozen=True)
class _Segment:
    type: int
    flags: int
    offset: int
    address: int
    file_size: int
    align: int


class _Elf:
    """The parts of a 64-bit little-endian ELF file that the checks look at."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:7] != b"\x7fELF\x02\x01\x01":
            raise ValueError("no 64-bit little-endian ELF file")
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        self.entry, offset = struct.unpack_from("<QQ", data, 24)
        size, count = struct.unpack_from("<HH", data, 54)
        self.segments = [self._segment(offset + size * i) for i in range(count)]
        self.dynamic = list(self._dynamic())

    def _segment(self, at: int) -> _Segment:
        kind, flags, offset, address, _, file_size, _, align = struct.unpack_from("<IIQQQQQQ", self.data, at)
        return _Segment(kind, flags, offset, address, file_size, align)

    def _dynamic(self) -> Iterator[tuple[int, int]]:
        for segment in self.of_type(_PT_DYNAMIC):
            for at in range(segment.offset, segment.offset + segment.file_size, 16):
                tag, value = struct.unpack_from("<qQ", self.data, at)
                if tag == 0:
                    return
                yield tag, value

    def of_type(self, kind: int) -> list[_Segment]:
        return [segment for segment in self.segments if segment.type == kind]

    def contents(self, segment: _Segment) -> bytes:
        return self.data[segment.offset : segment.offset + segment.file_size]

    def value(self, tag: int) -> int:
        return next((value for found, value in self.dynamic if found == tag), 0)

    def place(self, address: int) -> int:
        """The file offset of an address."""
        for segment in self.of_type(_PT_LOAD):
            if segment.address <= address < segment.address + segment.file_size:
                return segment.offset + address - segment.address
        raise ValueError(f"address 0x{address:x} lies in no segment")

    def text(self, index: int) -> str:
        start = self.place(self.value(_DT_STRTAB)) + index
        return self.data[start : self.data.index(b"\0", start)].decode()

    def needed(self) -> list[str]:
        return [self.text(value) for tag, value in self.dynamic if tag == _DT_NEEDED]

    def undefined(self) -> list[str]:
        count = struct.unpack_from("<I", self.data, self.place(self.value(_DT_HASH)) + 4)[0]
        start = self.place(self.value(_DT_SYMTAB))
        symbols = (struct.unpack_from("<IBBH", self.data, start + 24 * i) for i in range(1, count))
        return [self.text(name) for name, _, _, section in symbols if section == 0]

    def relocations(self) -> Iterator[int]:
        for table, size in ((_DT_RELA, _DT_RELASZ), (_DT_JMPREL, _DT_PLTRELSZ)):
            if self.value(size):
                start = self.place(self.value(table))
                for at in range(start, start + self.value(size), 24):
                    yield struct.unpack_from("<Q", self.data, at + 8)[0] & 0xFFFFFFFF


def problems(path: Path, allowed: frozenset[str] | None = None) -> list[str]:
    """What is wrong with the Android program or library at ``path``; empty when nothing is.

    ``allowed``: the functions of bionic it may use; None reads android/symbols.txt beside this file.
    """
    data = path.read_bytes()
    try:
        elf = _Elf(data)
        return [
            *_shape(elf, program=not path.name.endswith(".so")),
            *_linking(elf, allowed or _listed()),
            *_words(data),
        ]
    except (ValueError, struct.error, IndexError) as error:
        return [f"it can't be read as an ELF file: {error}"]


def _shape(elf: _Elf, program: bool) -> Iterator[str]:
    if (elf.type, elf.machine) != (3, 183):
        yield f"it is no position-independent AArch64 file (type {elf.type}, machine {elf.machine})"
    interpreters = [elf.contents(segment) for segment in elf.of_type(_PT_INTERP)]
    if interpreters != ([INTERPRETER] if program else []):
        yield f"its interpreter is {interpreters}"
    for segment in elf.of_type(_PT_LOAD):
        if segment.align != 16384 or (segment.address - segment.offset) % 16384:
            yield f"the segment at 0x{segment.address:x} is not aligned to 16 KB pages"
        if segment.flags & 3 == 3:
            yield f"the segment at 0x{segment.address:x} can be written and executed"
    if not elf.of_type(_PT_RELRO):
        yield "it has no RELRO segment"
    if elf.of_type(_PT_TLS):
        yield "it has thread-local storage"
    if any(segment.flags & 1 for segment in elf.of_type(_PT_STACK)) or not elf.of_type(_PT_STACK):
        yield "its stack can be executed"
    if program and struct.pack("<III8sI", 8, 4, 1, b"Android", API_LEVEL) not in (
        b"".join(elf.contents(segment) for segment in elf.of_type(_PT_NOTE))
    ):
        yield f"it has no Android note with API level {API_LEVEL}"
    if program and not (elf.value(_DT_FLAGS_1) & _DF_1_PIE and elf.entry):
        yield "it is not marked as PIE, or has no entry point"
    if len(elf.data) > _SIZE_LIMIT:
        yield f"it has {len(elf.data)} bytes, more than {_SIZE_LIMIT}"


def _linking(elf: _Elf, allowed: frozenset[str]) -> Iterator[str]:
    tags = {tag for tag, _ in elf.dynamic}
    if not (elf.value(_DT_FLAGS_1) & _DF_1_NOW and elf.value(_DT_FLAGS) & _DF_BIND_NOW):
        yield "its symbols are not bound at load time"
    if _DT_TEXTREL in tags or elf.value(_DT_FLAGS) & _DF_TEXTREL:
        yield "it has text relocations"
    if tags & {_DT_RPATH, _DT_RUNPATH}:
        yield "it carries a search path"
    for tag in tags & set(_PACKED):
        yield f"it has packed relocations ({_PACKED[tag]}), which API {API_LEVEL} doesn't know"
    if extra := set(elf.needed()) - LIBRARIES:
        yield f"it needs {sorted(extra)}"
    if extra := set(elf.undefined()) - allowed:
        yield f"it uses functions that are not on the list: {sorted(extra)}"
    if bad := set(elf.relocations()) - _ALLOWED_RELOCATIONS:
        yield f"it has relocations of the types {sorted(bad)}"


def _words(data: bytes) -> Iterator[str]:
    for name in FOREIGN:
        if name.encode() in data:
            yield f"it names {name}, which bionic doesn't have"


def _listed() -> frozenset[str]:
    lines = (Path(__file__).resolve().parent / "android" / "symbols.txt").read_text().splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split()[1:])


def main(arguments: list[str]) -> int:
    """The command line: one line a problem; 1 when there is one."""
    found = [(path, problem) for path in map(Path, arguments) for problem in problems(path)]
    for path, problem in found:
        print(f"{path}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
