"""Graphs and tensors of a context binary's metadata.

The field numbers were found by comparing files of QAIRT 2.47 and 2.51 with what libQnnSystem.so tells of
them (device_bin/README.md has the tables; a test compares every good file). A graph's 112 byte record of
u64 words: 1 is the spill-fill buffer, 2 the VTCM (low half), 11 the weights, all in bytes; found by
compiling models of known weights and of activations larger than VTCM.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from heapprof_cli.model_files.flatbuffer import FlatBufferError, Table
from heapprof_cli.records import GraphFacts, TensorFacts
from heapprof_cli.text import clean

_GRAPHS = 10
_VERSIONS, _RECORD = 2, 2
_NAME, _INPUTS, _OUTPUTS = 0, 2, 4
_TENSOR_DATA_TYPE, _TENSOR_DIMS, _TENSOR_NAME = 3, 7, 9
_RECORD_BYTES, _SPILL_FILL_AT, _VTCM_AT, _WEIGHTS_AT = 112, 8, 16, 88
_LONGEST_NAME, _HIGHEST_RANK = 1024, 32

_KINDS = {0x00: "int", 0x01: "uint", 0x02: "float", 0x03: "sfixed", 0x04: "ufixed", 0x05: "bool"}
# The low byte of a data type is its width in bits, written in decimal digits.
_WIDTHS = {0x08: 8, 0x16: 16, 0x32: 32, 0x64: 64}


def read_graphs(info: Table) -> Iterator[GraphFacts]:
    """Every graph that the metadata table ``info`` lists. Raises FlatBufferError where it is damaged."""
    for entry in info.tables(_GRAPHS):
        # Versions of the structure are nested, each in the next: newest outside, the names innermost.
        newest = _inside(entry, _VERSIONS)
        graph = _inside(_inside(newest, 0), 0)
        record = newest.blob(_RECORD, 4096) or b""
        known = len(record) >= _RECORD_BYTES
        yield GraphFacts(
            name=_text(graph, _NAME),
            inputs=tuple(map(_tensor, graph.tables(_INPUTS))),
            outputs=tuple(map(_tensor, graph.tables(_OUTPUTS))),
            spill_fill_bytes=_word("<Q", record, _SPILL_FILL_AT) if known else None,
            vtcm_bytes=_word("<I", record, _VTCM_AT) if known else None,
            weight_bytes=_word("<Q", record, _WEIGHTS_AT) if known else None,
        )


def _inside(table: Table, field: int) -> Table:
    found = table.table(field)
    if found is None:
        raise FlatBufferError("a graph's description is incomplete")
    return found


def _tensor(table: Table) -> TensorFacts:
    dims = tuple(table.numbers(_TENSOR_DIMS, 4, _HIGHEST_RANK))
    code = table.unsigned(_TENSOR_DATA_TYPE, 4, 0) or 0
    bits = _WIDTHS.get(code & 0xFF)
    count = None if bits is None else math.prod(dims) * bits // 8
    return TensorFacts(_text(table, _TENSOR_NAME), dims, data_type(code), count)


def data_type(code: int) -> str:
    """QNN's name of a data type in short: 0x0408 is ufixed8. Unknown ones are shown as numbers."""
    kind, bits = _KINDS.get(code >> 8), {**_WIDTHS, 0x04: 4}.get(code & 0xFF)
    return f"{kind}{bits}" if kind and bits else f"0x{code:04x}"


def _text(table: Table, field: int) -> str:
    return clean(table.text(field, _LONGEST_NAME) or "", _LONGEST_NAME)


def _word(form: str, record: bytes, at: int) -> int:
    value: int = struct.unpack_from(form, record, at)[0]
    return value
