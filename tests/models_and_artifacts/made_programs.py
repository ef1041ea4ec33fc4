"""Small ExecuTorch programs, made with the flatbuffers package (which onnxruntime brings along)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import flatbuffers

from tests.conftest import MODELS

CONTEXT = (MODELS / "good" / "conv_sm8850_v81_qnn2.51.bin").read_bytes()
OTHER_CONTEXT = (MODELS / "good" / "three_in_two_out_qnn2.51.bin").read_bytes()
PREFIX_MAGIC = 0x5678ABCD


def prefixed(content: bytes, size: int | None = None) -> bytes:
    """``content`` behind ExecuTorch's 256 byte prefix."""
    head = struct.pack("<IqQ", PREFIX_MAGIC, 7, len(content) if size is None else size)
    return head.ljust(256, b"\0") + content


def table(builder: flatbuffers.Builder, fields: dict[int, tuple[str, int]]) -> int:
    """A table of fields {number: ("u8" | "u32" | "u64" | "offset", value)}."""
    builder.StartObject(max(fields, default=0) + 1)
    for number, (kind, value) in fields.items():
        if kind == "offset":
            builder.PrependUOffsetTRelativeSlot(number, value, 0)
        elif kind == "u8":
            builder.PrependUint8Slot(number, value, 0)
        elif kind == "u32":
            builder.PrependUint32Slot(number, value, 0)
        else:
            builder.PrependUint64Slot(number, value, 0)
    return builder.EndObject()


def offsets(builder: flatbuffers.Builder, items: Sequence[int]) -> int:
    builder.StartVector(4, len(items), 4)
    for item in reversed(items):
        builder.PrependUOffsetTRelative(item)
    return builder.EndVector()


def compile_spec(
    *,
    soc: int = 87,
    arch: int = 81,
    backend: int = 2,
    profile: int = 2,
    online: bool = False,
    log_level: int = 0,
    old: bool = False,
    length: bool = False,
) -> bytes:
    """The options as the newer schema has them, or the ``old`` one with the graph's name in third place."""
    builder = flatbuffers.Builder()
    path = builder.CreateString("")
    name = builder.CreateString("forward")
    htp = table(builder, {0: ("u32", arch), 1: ("u32", 8)})
    soc_info = table(builder, {0: ("u32", soc), 1: ("offset", htp)})
    backends = table(builder, {0: ("u32", backend)})
    shift = 1 if old else 0
    fields = {0: ("offset", soc_info), 1: ("offset", backends), 2 + shift: ("offset", path)}
    if old:
        fields[2] = ("offset", name)
    fields |= {3 + shift: ("u32", log_level), 4 + shift: ("u8", int(online)), 6 + shift: ("u32", profile)}
    builder.Finish(table(builder, fields))
    spec = bytes(builder.Output())
    return struct.pack("<I", len(spec)) + spec if length else spec


@dataclass(frozen=True)
class Delegate:
    """A delegate whose payload is segment or inline data number ``index``."""

    index: int = 0
    spec: bytes | None = compile_spec()
    backend: str = "QnnBackend"


def program(
    delegates: Sequence[Delegate],
    payloads: Sequence[bytes],
    *,
    inline: bool = False,
    plans: int = 1,
    repeat: int = 1,
    segment_offsets: Sequence[int] | None = None,
) -> bytes:
    """A program; ``repeat``: each plan lists its delegates so often, by the same offsets as a hostile file may."""
    builder = flatbuffers.Builder()
    made = [_delegate(builder, delegate, inline) for delegate in delegates]
    listed = offsets(builder, made * repeat)
    name = builder.CreateString("forward")
    plan = table(builder, {0: ("offset", name), 7: ("offset", listed)})
    fields = {0: ("u32", 0), 1: ("offset", offsets(builder, [plan] * plans))}
    places = list(segment_offsets) if segment_offsets is not None else _places(payloads)
    if inline:
        data = [table(builder, {0: ("offset", builder.CreateByteVector(payload))}) for payload in payloads]
        fields[3] = ("offset", offsets(builder, data))
    else:
        segments = [
            table(builder, {0: ("u64", at), 1: ("u64", len(payload))})
            for at, payload in zip(places, payloads, strict=True)
        ]
        fields[4] = ("offset", offsets(builder, segments))
    builder.Finish(table(builder, fields), file_identifier=b"ET12")
    flat = bytes(builder.Output())
    return flat if inline else _with_segments(flat, payloads)


def _places(payloads: Sequence[bytes]) -> list[int]:
    return [sum(len(payload) for payload in payloads[:index]) for index in range(len(payloads))]


def _delegate(builder: flatbuffers.Builder, delegate: Delegate, inline: bool) -> int:
    place = table(builder, {0: ("u8", 0 if inline else 1), 1: ("u32", delegate.index)})
    specs = []
    if delegate.spec is not None:
        value, key = builder.CreateByteVector(delegate.spec), builder.CreateString("qnn_compile_spec")
        specs.append(table(builder, {0: ("offset", key), 1: ("offset", value)}))
    listed = offsets(builder, specs)
    name = builder.CreateString(delegate.backend)
    return table(builder, {0: ("offset", name), 1: ("offset", place), 2: ("offset", listed)})


def _with_segments(flat: bytes, payloads: Sequence[bytes]) -> bytes:
    """Puts the extended header behind the identifier: all offsets but the root's are relative to themselves."""
    header_bytes = 32
    root = struct.unpack_from("<I", flat)[0] + header_bytes
    size = len(flat) + header_bytes
    base = -(-size // 128) * 128
    data = b"".join(payloads)
    head = b"eh00" + struct.pack("<IQQQ", header_bytes, size, base, len(data))
    return (struct.pack("<I", root) + flat[4:8] + head + flat[8:]).ljust(base, b"\0") + data
