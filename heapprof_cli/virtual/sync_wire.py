"""The records of adb's sync service (adb's file_sync_protocol.h); all numbers are little-endian."""

from __future__ import annotations

import os
import struct

MAX_DATA = 64 * 1024
MAX_PATH = 1024

REQUEST = struct.Struct("<4sI")
"""An id and a length (or for DONE a time), before every request and every piece of data."""

_STAT_V1 = struct.Struct("<4s3I")
_STAT_V2 = struct.Struct("<4sI2Q4IQ3q")
_ENTRY_V1 = struct.Struct("<4s4I")
_ENTRY_V2 = struct.Struct("<4sI2Q4IQ3qI")
SEND_V2 = struct.Struct("<4s2I")
RECEIVE_V2 = struct.Struct("<4sI")

MORE = {b"SND2": SEND_V2.size, b"RCV2": RECEIVE_V2.size}
"""How many bytes follow the path of a request."""

FLAG_BROTLI = 1
FLAG_LZ4 = 2
FLAG_ZSTD = 4
FLAG_DRY_RUN = 0x80000000

_MASK = 0xFFFFFFFF


def stat_v1(found: os.stat_result | None) -> bytes:
    """Answer to STAT; all zeros when there is nothing."""
    if found is None:
        return _STAT_V1.pack(b"STAT", 0, 0, 0)
    return _STAT_V1.pack(b"STAT", found.st_mode, found.st_size & _MASK, int(found.st_mtime) & _MASK)


def _long(found: os.stat_result) -> tuple[int, ...]:
    return (
        found.st_dev,
        found.st_ino,
        found.st_mode,
        found.st_nlink,
        found.st_uid,
        found.st_gid,
        found.st_size,
        int(found.st_atime),
        int(found.st_mtime),
        int(found.st_ctime),
    )


def stat_v2(name: bytes, found: os.stat_result | None, error: int) -> bytes:
    """Answer to STA2 or LST2: ``error`` is an errno, with zeros for the rest."""
    return _STAT_V2.pack(name, error, *(_long(found) if found else (0,) * 10))


def entry_v1(name: bytes, found: os.stat_result) -> bytes:
    """One name of a folder, answer to LIST."""
    size, time = found.st_size & _MASK, int(found.st_mtime) & _MASK
    return _ENTRY_V1.pack(b"DENT", found.st_mode, size, time, len(name)) + name


def entry_v2(name: bytes, found: os.stat_result | None, error: int) -> bytes:
    """One name of a folder, answer to LIS2."""
    return _ENTRY_V2.pack(b"DNT2", error, *(_long(found) if found else (0,) * 10), len(name)) + name


def end_of_list(version: int) -> bytes:
    """What ends the answer to LIST (1) or LIS2 (2)."""
    record = _ENTRY_V1 if version == 1 else _ENTRY_V2
    return record.pack(b"DONE", *(0,) * (len(record.unpack(bytes(record.size))) - 1))


def failure(text: str) -> bytes:
    """FAIL with its reason."""
    said = text.encode("utf-8", "surrogateescape")
    return REQUEST.pack(b"FAIL", len(said)) + said


OKAY = REQUEST.pack(b"OKAY", 0)
DONE = REQUEST.pack(b"DONE", 0)
