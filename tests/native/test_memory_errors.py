"""Valgrind finds nothing on the stand-in path, in the runner or in the stand-in."""

from __future__ import annotations

import shutil

import pytest

from tests.native.runner_tools import BAD, GOOD, GOOD_BINARIES

WRONG = 99


@pytest.fixture
def checked(run):
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("needs the package valgrind")
    run.prefix = [
        valgrind,
        "-q",
        f"--error-exitcode={WRONG}",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite,possible",
        "--track-fds=no",
    ]
    return run


def clean(result):
    """Valgrind's own lines start with its process number."""
    said = [line for line in result.stderr.splitlines() if line.startswith("==")]
    return result.code != WRONG and not said


def test_valgrind_is_clean_on_the_whole_flow(checked, tmp_path):
    (tmp_path / "x.raw").write_bytes(bytes(100352))
    (tmp_path / "list.txt").write_text("x.raw\nx.raw\n")
    flags = ["--cycles=3", "--threads=4", "--heap_series_path=s.csv", "--memory_ledger_path=l.jsonl"]
    flags += ["--output_folder_path=out", "--htp_performance_mode=burst", "--share_spill_fill=4096", "--warm_up=1"]
    result = checked(*GOOD_BINARIES[:2], GOOD_BINARIES[-1], flags=[*flags, "--input_list_path=list.txt"])
    assert result.code == 0 and clean(result), result.stderr


@pytest.mark.parametrize("kind", ["log", "device", "create", "retrieve", "execute", "free", "events"])
def test_valgrind_is_clean_on_errors(checked, standin, conv, kind):
    keys = {"fail_stage": kind, "repeat": 7, "noise_bytes": 1000}
    result = checked(conv, GOOD / "three_in_two_out_qnn2.51.bin", libraries=standin(**keys))
    assert 20 < result.code < 26 and clean(result), result.stderr


def test_valgrind_is_clean_on_bad_files_and_lists(checked, conv, tmp_path):
    for name in ("blobzero.bin", "hdr_blobsize.bin", "random.bin", "empty.bin"):
        result = checked(conv, BAD / name)
        assert result.code == 22 and clean(result), result.stderr
    (tmp_path / "list.txt").write_text("a:=b c\n")
    result = checked(conv, flags=["--input_list_path=list.txt"])
    assert result.code == 26 and clean(result), result.stderr
    assert clean(checked.plain("--nonsense"))


def test_valgrind_is_clean_on_damaged_metadata(checked, conv, tmp_path):
    data = conv.read_bytes()
    for at in (0x28, 0x40, 0x100, 0x200, 0x300):
        (tmp_path / "damaged.bin").write_bytes(data[:at] + b"\xff" * 16 + data[at + 16 :])
        result = checked(tmp_path / "damaged.bin")
        assert result.code in (0, 22) and clean(result), result.stderr
