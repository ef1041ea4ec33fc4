"""QNN context binaries: header, metadata and integrity, read without any vendor library.

The layout (version 3, as QAIRT 2.47 and 2.51 write it) was measured on real files: a 16 byte
signature, three little-endian u64 (metadata size, blob offset, blob size), a FlatBuffer of metadata
at 0x28, and the blob; offset plus size is the file's length exactly.
"""

from __future__ import annotations

import mmap
import re
import struct

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files.flatbuffer import FlatBuffer, FlatBufferError, Table
from heapprof_cli.records import ContextBinaryFacts
from heapprof_cli.text import clean

SIGNATURE = bytes.fromhex("00000002000000030000000000000001")
HEADER_BYTES = 0x28
_STAMP_START = b"soc_type="
_STAMP = re.compile(rb"soc_type=([A-Z0-9_]{2,32});arch=([0-9]{1,4});")
_CONTENTS_FIELD, _INFO_FIELD = 0, 2
_MAX_METADATA = 256 * 1024 * 1024
_BUILD_ID, _GRAPH_COUNT, _META, _SOC_MODEL = 1, 9, 15, 16
_MADE_AGAIN = "make the context binary again, or copy it again from where it was made"

Data = bytes | mmap.mmap


def read(data: Data, name: str) -> ContextBinaryFacts:
    """The metadata of the context binary ``data``.

    Raises ModelFileError with the reason when it is truncated, damaged, or no context binary.
    """
    blob_offset = _check_header(data, name)
    facts = _metadata(data, blob_offset, name)
    _check_blob(data, blob_offset, facts, name)
    return facts


def _check_header(data: Data, name: str) -> int:
    if len(data) < HEADER_BYTES:
        raise _bad(name, f"it is cut off: {len(data)} bytes, where the header alone has {HEADER_BYTES}")
    metadata_size, offset, size = struct.unpack_from("<QQQ", data, 16)
    if metadata_size > _MAX_METADATA:
        raise _bad(name, f"its header is damaged: it announces {metadata_size} bytes of metadata")
    if offset < HEADER_BYTES + metadata_size:
        raise _bad(name, "its header is damaged: the metadata would overlap the blob")
    expected = offset + size
    if expected != len(data):
        how = "cut off" if len(data) < expected else "longer than it says"
        raise _bad(name, f"it is {how}: its header announces {expected} bytes, the file has {len(data)}")
    return int(offset)


def _metadata(data: Data, blob_offset: int, name: str) -> ContextBinaryFacts:
    metadata_size = struct.unpack_from("<Q", data, 16)[0]
    try:
        root = FlatBuffer(
            bytes(data[: HEADER_BYTES + metadata_size]), HEADER_BYTES, HEADER_BYTES + metadata_size
        ).root()
        contents = _required(root.table(_CONTENTS_FIELD))
        info = _required(contents.table(_INFO_FIELD))
        meta = info.blob(_META) or b""
        build = info.text(_BUILD_ID, 256)
        graphs = info.unsigned(_GRAPH_COUNT, 4, 0) or 0
        soc_id = info.unsigned(_SOC_MODEL, 4)
    except FlatBufferError as error:
        raise _bad(name, f"its metadata is damaged: {error}") from error
    if graphs == 0:
        raise _bad(name, "it holds no graph: there is nothing to run")
    arch = struct.unpack("<II", meta)[1] if len(meta) == 8 else None
    return ContextBinaryFacts(clean(build, 100) if build else None, soc_id, arch, graphs)


def _required(table: Table | None) -> Table:
    if table is None:
        raise FlatBufferError("a part that every context binary has is absent")
    return table


def _check_blob(data: Data, blob_offset: int, facts: ContextBinaryFacts, name: str) -> None:
    version = bytes(data[blob_offset : blob_offset + 4])
    if len(version) < 4 or version == bytes(4):
        raise _bad(name, "its blob is damaged: it starts with version 0, as a zeroed or half-written file does")
    at = data.find(_STAMP_START, blob_offset)
    match = _STAMP.match(bytes(data[at : at + 64])) if at >= 0 else None
    if match is None:
        raise _bad(name, "its blob is damaged: the SoC stamp that every HTP context binary carries is absent")
    if facts.htp_arch is not None and int(match[2]) != facts.htp_arch:
        raise _bad(
            name,
            f"its parts disagree: the metadata says HTP arch V{facts.htp_arch}, the blob V{int(match[2])}",
        )


def _bad(name: str, why: str) -> ModelFileError:
    return ModelFileError(f"{clean(name, 300)} is no usable QNN context binary: {why}", hints=(_MADE_AGAIN,))
