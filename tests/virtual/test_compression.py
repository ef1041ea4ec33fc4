"""Packed transfers: offered only where they work, right where they are."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from heapprof_cli.virtual import VirtualPhone, compression, sync_wire
from tests.virtual.conftest import Adb, said

LIBRARIES = {"zstd": "zstandard", "lz4": "lz4"}
FLAGS = {"zstd": sync_wire.FLAG_ZSTD, "lz4": sync_wire.FLAG_LZ4}


def has(kind: str) -> bool:
    return importlib.util.find_spec(LIBRARIES[kind]) is not None


def test_only_what_works_is_offered() -> None:
    assert set(compression.features()) == {f"sendrecv_v2_{kind}" for kind in LIBRARIES if has(kind)}
    assert compression.codec_for(sync_wire.FLAG_BROTLI) is None


@pytest.mark.parametrize("kind", sorted(LIBRARIES))
def test_a_codec_there_and_back(kind: str) -> None:
    if not has(kind):
        pytest.skip(f"no {LIBRARIES[kind]} here")
    packer, unpacker = compression.codec_for(FLAGS[kind]), compression.codec_for(FLAGS[kind])
    assert packer is not None and unpacker is not None
    data = os.urandom(200_000) + bytes(800_000)
    packed = packer.encode(data[:500_000]) + packer.encode(data[500_000:]) + packer.finish_encoding()
    assert len(packed) < 400_000
    result: list[bytes] = []
    for start in range(0, len(packed), sync_wire.MAX_DATA):
        unpacker.decode(packed[start : start + sync_wire.MAX_DATA], result.append)
    assert b"".join(result) == data
    broken = compression.codec_for(FLAGS[kind])
    assert broken is not None
    with pytest.raises(compression.CodecError):
        broken.decode(b"not packed at all" * 10, result.append)


@pytest.mark.parametrize("kind", sorted(LIBRARIES))
def test_a_bomb_is_unpacked_in_pieces(kind: str) -> None:
    if not has(kind):
        pytest.skip(f"no {LIBRARIES[kind]} here")
    packer, unpacker = compression.codec_for(FLAGS[kind]), compression.codec_for(FLAGS[kind])
    assert packer is not None and unpacker is not None
    packed = packer.encode(bytes(64 << 20)) + packer.finish_encoding()
    largest = total = 0
    for start in range(0, len(packed), sync_wire.MAX_DATA):
        sizes: list[int] = []
        unpacker.decode(packed[start : start + sync_wire.MAX_DATA], lambda part: sizes.append(len(part)))  # noqa: B023
        largest, total = max(largest, *sizes), total + sum(sizes)
    assert total == 64 << 20 and largest <= 32 << 20


@pytest.mark.parametrize("kind", ["any", "none", *sorted(LIBRARIES)])
def test_the_real_adb_packs_and_unpacks(phone: VirtualPhone, adb: Adb, tmp_path: Path, kind: str) -> None:
    if kind in LIBRARIES and not has(kind):
        pytest.skip(f"no {LIBRARIES[kind]} here")
    place = phone.workspace.rpartition("/")[0]
    source, back = tmp_path / "f", tmp_path / "g"
    source.write_bytes(os.urandom(500_000) + bytes(2_500_000))
    assert adb("push", "-z", kind, source, f"{place}/f").returncode == 0
    assert phone.host_path(f"{place}/f").read_bytes() == source.read_bytes()
    assert adb("pull", "-z", kind, f"{place}/f", back).returncode == 0
    assert back.read_bytes() == source.read_bytes()
    assert adb("push", "-n", source, f"{place}/dry").returncode == 0
    assert said(adb("shell", f"cd {place}; rm f; ls")) == ""
