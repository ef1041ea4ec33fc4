"""The packets between an adb server and a phone (ADB protocol 1.0, docs/dev/protocol.md of adb)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

CNXN = 0x4E584E43
AUTH = 0x48545541
OPEN = 0x4E45504F
OKAY = 0x59414B4F
WRTE = 0x45545257
CLSE = 0x45534C43

VERSION_WITH_CHECKSUMS = 0x01000000
VERSION = 0x01000001
MAX_PAYLOAD = 1024 * 1024
INITIAL_ACK_BYTES = 32 * 1024 * 1024
"""What a stream may have under way with delayed acks (adb.h, INITIAL_DELAYED_ACK_BYTES)."""

AUTH_TOKEN = 1
AUTH_SIGNATURE = 2
AUTH_PUBLIC_KEY = 3

HEADER = struct.Struct("<6I")

Payload = bytes | bytearray | memoryview


class WireError(Exception):
    """What came can't be a packet."""


@dataclass(frozen=True)
class Header:
    """The 24 bytes before each payload."""

    command: int
    arg0: int
    arg1: int
    length: int
    checksum: int


def parse_header(data: Payload) -> Header:
    """Raises WireError when ``data`` is no packet header or announces more than MAX_PAYLOAD bytes."""
    command, arg0, arg1, length, checksum, magic = HEADER.unpack(data)
    if magic != command ^ 0xFFFFFFFF:
        raise WireError(f"bad magic {magic:#x} of command {command:#x}")
    if length > MAX_PAYLOAD:
        raise WireError(f"a payload of {length} bytes")
    return Header(command, arg0, arg1, length, checksum)


def header(command: int, arg0: int, arg1: int, payload: Payload, *, with_checksum: bool) -> bytes:
    """The header of a packet that carries ``payload``."""
    checksum = sum(payload) & 0xFFFFFFFF if with_checksum else 0
    return HEADER.pack(command, arg0, arg1, len(payload), checksum, command ^ 0xFFFFFFFF)


def banner(properties: dict[str, str], features: tuple[str, ...]) -> bytes:
    """What a phone says of itself when a connection begins."""
    named = ("ro.product.name", "ro.product.model", "ro.product.device")
    shown = "".join(f"{name}={properties.get(name, '')};" for name in named)
    return f"device::{shown}features={','.join(features)}".encode()
