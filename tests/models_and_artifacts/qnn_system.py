"""What the real libQnnSystem.so tells of a context binary: the reference for our own reader.

Offsets are facts of the binary interface (device_bin/include/qnn_abi.h asserts the same ones).
"""

from __future__ import annotations

import ctypes
import importlib.util
import struct
from pathlib import Path
from typing import Any

_GRAPH_BYTES, _TENSOR_BYTES, _RECORD_BYTES = 88, 144, 112


def library() -> ctypes.CDLL:
    spec = importlib.util.find_spec("onnxruntime_qnn")
    assert spec is not None and spec.origin is not None, "the test extra installs onnxruntime-qnn"
    return ctypes.CDLL(str(Path(spec.origin).parent / "libQnnSystem.so"))


def describe(path: Path) -> dict[str, Any]:
    """Build id, SoC, arch, versions and graphs as the library sees them."""
    providers, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_uint32()
    assert library().QnnSystemInterface_getProviders(ctypes.byref(providers), ctypes.byref(count)) == 0
    table = (ctypes.c_void_p * 4).from_address(providers[0] + 32)
    handle, found, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    data = path.read_bytes()
    buffer = ctypes.create_string_buffer(data, len(data))
    assert ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(table[0])(ctypes.byref(handle)) == 0
    pointers = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    get_info = ctypes.CFUNCTYPE(ctypes.c_uint64, *pointers)(table[1])
    assert get_info(handle, buffer, len(data), ctypes.byref(found), ctypes.byref(size)) == 0
    info = ctypes.string_at(found.value, 144)
    version, build, graphs = unpack("<I", info, 0), unpack("<Q", info, 16), unpack("<Q", info, 104)
    assert version == 3
    described = {
        "qnn_build": text(build),
        "core_api": dotted(info, 24),
        "backend_api": dotted(info, 36),
        "blob_version": dotted(info, 56),
        "soc_id": unpack("<I", info, 136),
        "htp_arch": unpack("<I", ctypes.string_at(unpack("<Q", info, 128), 8), 4),
        "graphs": [graph(graphs + _GRAPH_BYTES * i) for i in range(unpack("<I", info, 96))],
    }
    assert ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(table[3])(handle) == 0
    return described


def graph(address: int) -> dict[str, Any]:
    raw = ctypes.string_at(address, _GRAPH_BYTES)
    record = ctypes.string_at(unpack("<Q", raw, 72), _RECORD_BYTES)
    return {
        "name": text(unpack("<Q", raw, 8)),
        "inputs": tensors(unpack("<Q", raw, 24), unpack("<I", raw, 16)),
        "outputs": tensors(unpack("<Q", raw, 40), unpack("<I", raw, 32)),
        "record": struct.unpack("<14Q", record),
    }


def tensors(address: int, count: int) -> list[tuple[str, tuple[int, ...], int]]:
    return [tensor(ctypes.string_at(address + _TENSOR_BYTES * i, _TENSOR_BYTES)) for i in range(count)]


def tensor(raw: bytes) -> tuple[str, tuple[int, ...], int]:
    """Name, dims and the number of the data type."""
    rank = unpack("<I", raw, 80)
    dims = struct.unpack(f"<{rank}I", ctypes.string_at(unpack("<Q", raw, 88), 4 * rank))
    return text(unpack("<Q", raw, 16)), dims, unpack("<I", raw, 32)


def text(address: int) -> str:
    return ctypes.string_at(address).decode()


def dotted(raw: bytes, at: int) -> str:
    return ".".join(map(str, struct.unpack_from("<III", raw, at)))


def unpack(form: str, raw: bytes, at: int) -> int:
    return struct.unpack_from(form, raw, at)[0]
