"""QNN context binaries: header, metadata and integrity, read without any vendor library.

The layout (version 3, as QAIRT 2.47 and 2.51 write it) was measured on real files: a 16 byte
signature, three little-endian u64 (metadata size, blob offset, blob size), a FlatBuffer of metadata
at 0x28, and the blob; offset plus size is the file's length exactly.
"""

from __future__ import annotations

import re
import struct

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files.flatbuffer import Budget, FlatBuffer, FlatBufferError, Table
from heapprof_cli.model_files.graph_table import read_graphs
from heapprof_cli.model_files.region import Region
from heapprof_cli.records import ContextBinaryFacts
from heapprof_cli.text import clean

SIGNATURE = bytes.fromhex("00000002000000030000000000000001")
HEADER_BYTES = 0x28
_STAMP_START = b"soc_type="
_STAMP = re.compile(rb"soc_type=([A-Z0-9_]{2,32});arch=([0-9]{1,4});")
# Seen within 32 KB of the blob's start, in files of 50 KB and of 200 MB; many GB are not searched.
_STAMP_WITHIN = 32 * 1024 * 1024
_CONTENTS_FIELD, _INFO_FIELD = 0, 2
_MAX_METADATA = 256 * 1024 * 1024
_BUILD_ID, _CORE_API, _BACKEND_API, _BLOB_VERSION = 1, 2, 3, 5
_GRAPH_COUNT, _META, _SOC_MODEL = 9, 15, 16
_MADE_AGAIN = "make the context binary again, or copy it again from where it was made"


def read(region: Region, name: str, budget: Budget | None = None) -> ContextBinaryFacts:
    """The metadata of the context binary that ``region`` holds; ``name`` stands for it in messages.

    ``budget`` bounds the work; contexts of one file share it.

    Raises ModelFileError with the reason when it is truncated, damaged, or no context binary.
    """
    metadata_size, blob_offset = _check_header(region, name)
    facts = _metadata(region, metadata_size, name, budget or Budget())
    _check_blob(region, blob_offset, facts, name)
    return facts


def _check_header(region: Region, name: str) -> tuple[int, int]:
    if region.size < HEADER_BYTES:
        raise _bad(name, f"it is cut off: {region.size} bytes, where the header alone has {HEADER_BYTES}")
    if region.read(0, 16) != SIGNATURE:
        raise _bad(name, "it does not start with a context binary's signature")
    metadata_size, offset, size = struct.unpack("<QQQ", region.read(16, 24))
    if metadata_size > _MAX_METADATA:
        raise _bad(name, f"its header is damaged: it announces {metadata_size} bytes of metadata")
    if offset < HEADER_BYTES + metadata_size:
        raise _bad(name, "its header is damaged: the metadata would overlap the blob")
    expected = offset + size
    if expected != region.size:
        how = "cut off" if region.size < expected else "longer than it says"
        raise _bad(name, f"it is {how}: its header announces {expected} bytes, the file has {region.size}")
    return metadata_size, offset


def _metadata(region: Region, size: int, name: str, budget: Budget) -> ContextBinaryFacts:
    start = region.start + HEADER_BYTES
    try:
        root = FlatBuffer(region.data, start, start + size, budget).root()
        contents = _required(root.table(_CONTENTS_FIELD))
        info = _required(contents.table(_INFO_FIELD))
        meta = info.blob(_META) or b""
        build = info.text(_BUILD_ID, 256)
        count = info.unsigned(_GRAPH_COUNT, 4, 0) or 0
        soc_id = info.unsigned(_SOC_MODEL, 4)
        versions = [_version(info, field) for field in (_CORE_API, _BACKEND_API, _BLOB_VERSION)]
        graphs = tuple(read_graphs(info))
    except FlatBufferError as error:
        raise _bad(name, f"its metadata is damaged: {error}") from error
    if count == 0 or not graphs:
        raise _bad(name, "it holds no graph: there is nothing to run")
    if count != len(graphs):
        raise _bad(name, f"its metadata is damaged: it announces {count} graphs and describes {len(graphs)}")
    arch = struct.unpack("<II", meta)[1] if len(meta) == 8 else None
    return ContextBinaryFacts(clean(build, 100) if build else None, soc_id, arch, count, graphs, *versions)


def _version(info: Table, field: int) -> str | None:
    raw = info.struct(field, 12)
    return ".".join(map(str, struct.unpack("<III", raw))) if raw else None


def _required(table: Table | None) -> Table:
    if table is None:
        raise FlatBufferError("a part that every context binary has is absent")
    return table


def _check_blob(region: Region, blob_offset: int, facts: ContextBinaryFacts, name: str) -> None:
    version = region.read(blob_offset, 4)
    if len(version) < 4 or version == bytes(4):
        raise _bad(name, "its blob is damaged: it starts with version 0, as a zeroed or half-written file does")
    at = region.find(_STAMP_START, blob_offset, _STAMP_WITHIN)
    match = _STAMP.match(region.read(at, 64)) if at >= 0 else None
    if match is None:
        if at < 0 and region.size - blob_offset > _STAMP_WITHIN:
            return
        raise _bad(name, "its blob is damaged: the SoC stamp that every HTP context binary carries is absent")
    if facts.htp_arch is not None and int(match[2]) != facts.htp_arch:
        raise _bad(
            name,
            f"its parts disagree: the metadata says HTP arch V{facts.htp_arch}, the blob V{int(match[2])}",
        )


def _bad(name: str, why: str) -> ModelFileError:
    return ModelFileError(f"{clean(name, 300)} is no usable QNN context binary: {why}", hints=(_MADE_AGAIN,))
