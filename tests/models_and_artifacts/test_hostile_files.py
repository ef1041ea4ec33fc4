"""Damaged and hostile files: only clean errors, each soon, without much memory.

HEAPPROF_EXAMPLES=10000 tries that many mutations of each kind instead of a few hundred.
"""

from __future__ import annotations

import os
import resource
import struct
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files import read_model
from tests.conftest import MODELS
from tests.models_and_artifacts.made_programs import CONTEXT, Delegate, compile_spec, program

EXAMPLES = int(os.environ.get("HEAPPROF_EXAMPLES", "250"))
MOST_SECONDS, MOST_KIB = 1.0, 200 * 1024
# What decides how a file is read lies at its front; the blob behind it is opaque to us.
KINDS = {
    "two_graphs_sm8850_v81_qnn2.51.bin": 1500,
    "sm8850_multi3.pte": 2600,
    "epcontext_sm8650_embedded.onnx": 1500,
}
NASTY = st.sampled_from([0, 1, 4, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC])


@st.composite
def changes(draw: st.DrawFn, front: int, size: int) -> tuple[int, bytes, int]:
    """Where, what and how many bytes instead; seldom behind the front."""
    at = draw(st.integers(0, front) | st.integers(0, size))
    what = draw(st.binary(max_size=32) | NASTY.map(lambda value: struct.pack("<I", value)))
    return at, what, draw(st.sampled_from([len(what), len(what), 0, 1, 64, size]))


def check(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    start = time.process_time()
    try:
        read_model(path)
    except ModelFileError as error:
        assert error.message and len(error.message) < 2000
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", sorted(KINDS))
def test_mutated_files_end_in_clean_errors(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    content = (MODELS / "good" / name).read_bytes()
    path = tmp_path_factory.mktemp("mutated") / name
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @seed(20260501)
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(changes(KINDS[name], len(content)), min_size=1, max_size=4))
    def mutate(mutations: list[tuple[int, bytes, int]]) -> None:
        changed = bytearray(content)
        for at, what, instead in mutations:
            changed[at : at + instead] = what
        check(path, bytes(changed))

    mutate()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_KIB


def test_a_program_that_lists_its_delegates_millions_of_times(tmp_path: Path) -> None:
    content = program([Delegate()], [CONTEXT], plans=60_000, repeat=60_000)
    check(tmp_path / "m.pte", content)
    with pytest.raises(ModelFileError, match="describes more than"):
        read_model(tmp_path / "m.pte")


def test_a_context_binary_that_lists_its_graph_thousands_of_times(tmp_path: Path) -> None:
    """Its list of graphs is replaced by one of 60,000 references to the first graph."""
    metadata_size, offset, size = struct.unpack_from("<QQQ", CONTEXT, 16)
    metadata = bytearray(CONTEXT[0x28 : 0x28 + metadata_size])
    contents = _child(metadata, struct.unpack_from("<I", metadata)[0], 0)
    info = _child(metadata, contents, 2)
    at = _field(metadata, info, 10)
    first = at + struct.unpack_from("<I", metadata, at)[0] + 4
    graph = first + struct.unpack_from("<I", metadata, first)[0]
    # Offsets only lead forward: the copy of everything lies behind the list, 60,000 elements long.
    count = 60_000
    listed = len(metadata)
    metadata += struct.pack("<I", count) + bytes(4 * count)
    moved = len(metadata) - graph
    struct.pack_into("<I", metadata, at, listed - at)
    tail = bytes(metadata[: len(CONTEXT[0x28 : 0x28 + metadata_size])])
    base = len(metadata)
    metadata += tail
    for index in range(count):
        place = listed + 4 + 4 * index
        struct.pack_into("<I", metadata, place, base + graph - place)
    struct.pack_into("<I", metadata, _field(metadata, info, 9), count)
    assert moved > 0
    new_offset = -(-(0x28 + len(metadata)) // 4096) * 4096
    head = CONTEXT[:16] + struct.pack("<QQQ", len(metadata), new_offset, size)
    content = (head + bytes(metadata)).ljust(new_offset, b"\0") + CONTEXT[offset:]
    check(tmp_path / "m.bin", content)
    with pytest.raises(ModelFileError, match="describes more than"):
        read_model(tmp_path / "m.bin")


def _field(data: bytes | bytearray, table: int, number: int) -> int:
    vtable = table - struct.unpack_from("<i", data, table)[0]
    return table + struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0]


def _child(data: bytes | bytearray, table: int, number: int) -> int:
    at = _field(data, table, number)
    return at + struct.unpack_from("<I", data, at)[0]


def test_overlapping_payloads_are_not_hashed_over_and_over(tmp_path: Path) -> None:
    inner = CONTEXT
    for _ in range(3):  # a context binary whose blob is a context binary, and so on
        blob = bytes.fromhex("0400000000000000") + b"soc_type=SM8850;arch=81;" + inner
        head = CONTEXT[:16] + struct.pack("<QQQ", *struct.unpack_from("<Q", CONTEXT, 16), 4096, len(blob))
        inner = (head + CONTEXT[0x28:4096]) + blob
    places = [inner.rfind(CONTEXT[:16], 0, end) for end in (len(inner), len(inner) - 70_000)]
    payloads = [inner, inner[places[0] :], inner[places[1] :]]
    base = program([Delegate(0), Delegate(1), Delegate(2)], payloads, segment_offsets=[0, places[0], places[1]])
    check(tmp_path / "m.pte", base)


@pytest.mark.parametrize(
    "content",
    [
        b"\x08\x07" + b"\x3a\x00" * 1_000_000,  # a million empty graphs
        b"\x08\x07" + b"\x08\x01" * 5_000_000,
        b"\x08\x07" + b"\x3a\xff\xff\xff\x7f" + b"\x0a" * 1_000_000,
        b"\x08" + b"\xff" * 100_000,
        b"\x3a\x84\x80\x80\x02" + b"\x0a\x00" * 2_097_154,  # a graph of two million empty nodes
    ],
    ids=["graphs", "numbers", "length", "varint", "nodes"],
)
def test_onnx_files_of_millions_of_fields(tmp_path: Path, content: bytes) -> None:
    check(tmp_path / "m.onnx", content)


def test_a_compile_spec_of_lies(tmp_path: Path) -> None:
    spec = bytearray(compile_spec())
    for at in range(0, len(spec), 2):
        damaged = bytearray(spec)
        damaged[at : at + 2] = b"\xff\xff"
        check(tmp_path / "m.pte", program([Delegate(spec=bytes(damaged))], [CONTEXT]))
