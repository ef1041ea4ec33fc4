"""Model files on the host: good ones are read, every bad one has its own error."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files import context_binary, read_model
from heapprof_cli.model_files.region import Region

MODELS = Path(__file__).parent.parent / "models"


@pytest.mark.parametrize(
    ("name", "soc", "arch", "build", "graphs"),
    [
        ("conv_sm8450_v69_qnn2.51.bin", "SM8450", 69, "v2.51.0.260929181845", 1),
        ("conv_sm8550_v73_qnn2.47.bin", "SM8550", 73, "v2.47.0.260601114230", 1),
        ("conv_sm8650_v75_qnn2.51.bin", "SM8650", 75, "v2.51.0.260929181845", 1),
        ("conv_sm8850_v81_qnn2.51.bin", "SM8850", 81, "v2.51.0.260929181845", 1),
        ("three_in_two_out_qnn2.51.bin", "SM8850", 81, "v2.51.0.260929181845", 1),
        ("two_graphs_sm8850_v81_qnn2.51.bin", "SM8850", 81, "v2.51.0.260929181845", 2),
    ],
)
def test_good_files(name: str, soc: str, arch: int, build: str, graphs: int) -> None:
    facts = read_model(MODELS / "good" / name)
    assert (facts.soc, facts.htp_arch, facts.qnn_build, facts.graph_count) == (soc, arch, build, graphs)
    assert facts.size == (MODELS / "good" / name).stat().st_size
    assert len(facts.sha256) == 64


BAD = {
    "blobrand.bin": "SoC stamp",
    "blobzero.bin": "version 0",
    "empty.bin": "is empty",
    "et_wrapped.bin": "256 byte prefix",
    "hdr_blobsize.bin": "announces 61441 bytes, the file has 61440",
    "longer100.bin": "longer than it says",
    "plain_not_epcontext.onnx": "an ONNX model",
    "random.bin": "signature",
    "trunc_4096.bin": "the file has 4096",
    "trunc_61439.bin": "the file has 61439",
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_files(name: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        read_model(MODELS / "bad" / name)
    assert BAD[name] in caught.value.message
    assert caught.value.hints


def test_every_bad_file_is_in_the_table_and_differs() -> None:
    assert {path.name for path in (MODELS / "bad").iterdir()} == set(BAD)
    messages = set()
    for name in BAD:
        with pytest.raises(ModelFileError) as caught:
            read_model(MODELS / "bad" / name)
        messages.add(caught.value.message.replace(name, ""))
    assert len(messages) == len(BAD)


def test_what_is_no_file_is_explained(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, words in (
        (tmp_path / "absent.bin", "No such file"),
        (tmp_path, "not a regular file"),
        (tmp_path / "fifo", "not a regular file"),
        (Path("nul\0byte"), "can't read"),
    ):
        with pytest.raises(ModelFileError) as caught:
            read_model(path)
        assert words in caught.value.message


GOOD = (MODELS / "good" / "two_graphs_sm8850_v81_qnn2.51.bin").read_bytes()


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 5600), st.binary(min_size=1, max_size=64))
def test_damaged_metadata_ends_in_clean_errors_only(position: int, damage: bytes) -> None:
    damaged = bytearray(GOOD)
    damaged[position : position + len(damage)] = damage
    try:
        data = bytes(damaged[: len(GOOD)])
        context_binary.read(Region(data, Path("x"), 0, len(data)), "x")
    except ModelFileError as error:
        assert error.message
