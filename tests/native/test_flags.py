"""The command line of the runner."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.native.runner_tools import REFERENCE


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--nonsense=1", "--model=x"], "unknown option"),
        (["--mode=x"], "unknown option"),
        (["model.bin"], "no option"),
        (["--model"], "needs a value"),
        (["--model="], "no path"),
        ([], "--model PATH is needed"),
        (["--model=x", "--log_level=0"], "from 1 to 5"),
        (["--model=x", "--log_level=9"], "from 1 to 5"),
        (["--model=x", "--iteration=-1"], "no whole number"),
        (["--model=x", "--iteration=99999999999999999999999"], "no whole number"),
        (["--model=x", "--iteration="], "no whole number"),
        (["--model=x", "--htp_performance_mode=9"], "no performance mode"),
        (["--model=x", "--htp_performance_mode=fast"], "no performance mode"),
        (["--model=x", "--profile_level=0", "--heap_profiling_path=h"], "profile_level"),
        (["--model=x", "--heap_series_path=h"], "needs --heap_profiling_path"),
        (["--model=x", "--version=1"], "takes no value"),
        (["--model=x", "--backend_library="], "empty"),
        (["--model=x", "--cycles=0"], "from 1"),
        (["--model=x", "--run_id=" + "r" * 5000], "longer than"),
        (["--model=x", "--time_limit=1e3"], "no number of seconds"),
        (["--model=x", "--time_limit=1.2.3"], "no number of seconds"),
        (["--model=x", "--time_limit=.5"], "no number of seconds"),
        (["--model=x", "--time_limit=5."], "no number of seconds"),
        (["--model=x", "--time_limit=31536001"], "no number of seconds"),
        (["--model=x", "--time_limit=111111111111111111111111111111"], "no number of seconds"),
        (["--model=x", "--status_path=x"], "for two things"),
        (["--model=x", "--heap_profiling_path=h", "--status_path=h"], "for two things"),
        (["-"], "no option"),
        (["--"], "unknown option"),
        (["--=x"], "unknown option"),
    ],
)
def test_bad_flags_are_usage_errors(run, flags, words):
    result = run.plain(*flags)
    assert result.code == 2 and words in result.stderr
    assert result.stderr.startswith("heapprof_runner: usage: ") and result.stderr.count("\n") == 1
    assert result.stdout == b""


EXECUTORCH = [
    "model_path", "output_folder_path", "input_list_path", "iteration", "warm_up", "log_level",
    "htp_performance_mode", "profile_level", "heap_profiling_path",
]  # fmt: skip


def test_help_names_every_flag_of_executorch(run):
    text = run.plain("--help").stdout.decode()
    for name in EXECUTORCH:
        assert f"--{name} " in text
    assert run.plain("--help").code == 0


def test_version_names_target(run):
    assert run.plain("--version").stdout == b"heapprof_runner 0.1.0 linux-x86_64\n"


@pytest.mark.parametrize("style", ["--model={}", "-model={}", "--model_path={}"])
def test_one_or_two_dashes(run, conv, style):
    assert run(flags=[style.format(conv)]).code == 0


def test_value_as_the_next_word_may_start_with_a_dash(run, conv, tmp_path):
    shutil.copy(conv, tmp_path / "-m.bin")
    result = run(flags=["--model", "-m.bin", "-iteration", "2"])
    assert (result.code, result.heap) == (0, REFERENCE)


@pytest.mark.parametrize("name", ["a b.bin", "$(touch x).bin", "'\"q.bin", "模型 ü.bin", "new\nline.bin"])
def test_any_model_path_works_and_stays_readable(run, conv, tmp_path, name):
    shutil.copy(conv, tmp_path / name)
    result = run(tmp_path / name)
    assert (result.code, result.heap) == (0, REFERENCE)
    assert result.status["contexts"][0]["model"] == str(tmp_path / name)
    assert not (tmp_path / "x").exists()


def test_invalid_utf8_in_a_path_does_not_break_the_status(run, conv, tmp_path):
    name = os.fsdecode(b"m\xff\xfe.bin")
    shutil.copy(conv, tmp_path / name)
    result = run(tmp_path / name)
    assert result.code == 0 and "\ufffd\ufffd.bin" in result.status["contexts"][0]["model"]


MODES = {
    1: (100, 0x80, 9999), 2: (40, 0xA0, 9999), 3: (100, 0x80, 9999), 4: (1000, 0x40, 0),
    5: (1000, 0x30, 0), 6: (1000, 0x50, 0), 7: (1000, 0x60, 0), 8: (1000, 0x70, 0),
}  # fmt: skip
NAMES = [
    "default", "sustained_high_performance", "burst", "high_performance", "power_saver", "low_power_saver",
    "high_power_saver", "low_balanced", "balanced",
]  # fmt: skip


@pytest.mark.parametrize("mode", range(9))
@pytest.mark.parametrize("by_name", [False, True])
def test_performance_modes_vote_up_and_down(run, conv, mode, by_name):
    value = NAMES[mode] if by_name else mode
    result = run(conv, flags=[f"--htp_performance_mode={value}", "--log_level=3"])
    assert result.code == 0
    lines = [line.split("<I> ")[1] for line in result.stderr.splitlines() if "<I> power" in line]
    if mode == 0:
        assert lines == []
        return
    latency, corner, polling = MODES[mode]
    up, down = " ".join([f"0x{corner:x}"] * 3), "0x30 0x30 0x30"
    assert lines == [
        "power config 1 created",
        f"power vote 1: dcvs 0 mode 0x10 latency {latency} bus {up} core {up}",
        "power option 2: 100 us",
        f"power option 3: {polling} us",
        f"power vote 1: dcvs 1 mode 0x4 latency 2000 bus {down} core {down}",
        "power config 1 destroyed",
    ]
    order = [result.stderr.index(text) for text in ("dcvs 0", "stage create", "stage free", "dcvs 1")]
    assert order == sorted(order)


@pytest.mark.parametrize("kind", ["create", "execute", "free"])
def test_votes_are_given_back_after_an_error(run, standin, conv, kind):
    flags = ["--htp_performance_mode=burst", "--log_level=3"]
    result = run(conv, flags=flags, libraries=standin(fail_stage=kind))
    assert result.code in (22, 23, 24) and "power config 1 destroyed" in result.stderr


@pytest.mark.parametrize(("call", "code"), [(1, 21), (2, 21), (3, 0), (4, 24)])
def test_refused_votes(run, standin, conv, call, code):
    flags = ["--htp_performance_mode=burst", "--log_level=3"]
    result = run(conv, flags=flags, libraries=standin(fail_stage="power", fail_at=call))
    assert result.code == code, result.stderr
    assert "power config 1 destroyed" in result.stderr
    assert ("RPC polling was refused" in result.stderr) == (call == 3)  # HTP older than V69: no error
    if code:
        assert result.error["call"] == "setPowerConfig"


@pytest.mark.parametrize("mode", range(1, 9))
def test_real_library_takes_every_mode(run, real, conv, mode):
    run.heap = False
    result = run(conv, flags=[f"--htp_performance_mode={mode}", "--iteration=0"], libraries=real)
    assert result.code == 0, result.stderr
