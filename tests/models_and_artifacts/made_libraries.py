"""Small ELF files that say of themselves what QNN's libraries do: machine, soname, needed libraries, build id."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

AARCH64, X86_64, HEXAGON = 183, 62, 164
V51, V47 = "v2.51.0.260929181845", "v2.47.0.260601114230"


def elf(machine: int, soname: str, needed: Sequence[str] = (), build: str | None = None) -> bytes:
    """A shared library with a dynamic section and nothing to run; 32 bit for the Hexagon."""
    wide = machine != HEXAGON
    names = b"\0"
    places = []
    for name in (soname, *needed):
        places.append(len(names))
        names += name.encode() + b"\0"
    word, header, program = ("<QQ", 64, 56) if wide else ("<II", 52, 32)
    dynamic_at = header + 2 * program
    entries = [(14, places[0]), *((1, place) for place in places[1:])]
    strings_at = dynamic_at + struct.calcsize(word) * (len(entries) + 2)
    entries += [(5, strings_at), (0, 0)]
    dynamic = b"".join(struct.pack(word, *entry) for entry in entries)
    end = strings_at + len(names)
    segments = [(1, 0, end), (2, dynamic_at, len(dynamic))]
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    if wide:
        head = ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, header, 0, 0, header, program, 2, 0, 0, 0)
        heads = [struct.pack("<IIQQQQQQ", kind, 5, at, at, at, size, size, 8) for kind, at, size in segments]
    else:
        head = ident + struct.pack("<HHIIIIIHHHHHH", 3, machine, 1, 0, header, 0, 0, header, program, 2, 0, 0, 0)
        heads = [struct.pack("<IIIIIIII", kind, at, at, at, size, size, 5, 4) for kind, at, size in segments]
    tail = b"\0made by QNN " + build.encode() + b"\0" if build else b""
    return head + b"".join(heads) + dynamic + names + tail


def fill(folder: Path, arch: int = 81, build: str = V51, *, android: bool = True, machine: int = AARCH64) -> Path:
    """A folder with all that a phone needs, as an SDK has it: libQnnSystem.so carries no build id."""
    folder.mkdir(parents=True, exist_ok=True)
    needed = ["liblog.so", "libc.so"] if android else ["libc.so.6"]
    for name, id_ in (("libQnnHtp.so", build), ("libQnnSystem.so", None), (f"libQnnHtpV{arch}Stub.so", build)):
        (folder / name).write_bytes(elf(machine, name, needed, id_))
    skel = f"libQnnHtpV{arch}Skel.so"
    (folder / skel).write_bytes(elf(HEXAGON, skel, [], build))
    return folder
