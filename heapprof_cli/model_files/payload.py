"""The payload of an ExecuTorch QNN delegate: a context binary, with or without ExecuTorch's prefix.

The prefix, 256 bytes: u32 magic, i64 signature, u64 size of what follows, padding.
"""

from __future__ import annotations

import struct

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files.region import Region
from heapprof_cli.text import clean

MAGIC = bytes.fromhex("cdab7856")
_PREFIX_BYTES = 256
_SIZE_AT = 12


def unwrapped(payload: Region, name: str) -> Region:
    """The context binary in ``payload``. Raises ModelFileError when its prefix and its size disagree."""
    if payload.read(0, 4) != MAGIC:
        return payload
    head = payload.read(0, _PREFIX_BYTES)
    size = struct.unpack_from("<Q", head, _SIZE_AT)[0] if len(head) == _PREFIX_BYTES else 0
    inside = payload.part(_PREFIX_BYTES, size)
    if inside is None or size == 0:
        raise ModelFileError(
            f"{clean(name, 300)} is cut off or damaged: its prefix announces a context binary of {size} bytes, "
            f"{max(payload.size - _PREFIX_BYTES, 0)} bytes follow it",
            hints=("export the program again, or copy it again from where it was made",),
        )
    return inside
