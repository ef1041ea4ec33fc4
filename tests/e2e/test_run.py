"""``heapprof run`` end to end: real adb server, virtual phone, real runner, stand-in HTP library."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapprof_cli import __version__
from tests.conftest import MODELS, Ended, OnPhone

GOOD = sorted(path.name for path in (MODELS / "good").glob("*.bin"))


def test_the_table_of_a_good_run(on_phone: OnPhone, model: Path) -> None:
    done = on_phone.run("--soc", "SM8850", model)
    assert done.code == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "928212" in line]
    assert ["before_context_created" in lines[0], "after_context_freed" in lines[1]] == [True, True]
    assert "906.5 KiB" in lines[0]
    assert "difference" in done.stdout
    assert "simulated" in done.stdout.splitlines()[0]
    for fact in ("ok:", "SM8850", "HTP V81", "standin", "linux-x86_64", "heapprof virtual phone"):
        assert fact in done.stdout
    assert "\x1b" not in done.stdout


def test_the_json_of_a_good_run(on_phone: OnPhone, model: Path) -> None:
    done = on_phone.run("--format", "json", model)
    assert done.code == 0, done.stderr
    result = done.json
    assert result["schema_version"] == 1
    assert (result["verdict"], result["exit_code"], result["error"]) == ("ok", 0, None)
    assert (result["before_bytes"], result["after_bytes"], result["difference_bytes"]) == (928212, 928212, 0)
    assert result["samples"] == [
        {"run": 1, "cycle": 1, "before_bytes": 928212, "after_bytes": 928212, "difference_bytes": 0}
    ]
    assert result["device"]["virtual"] is True
    assert (result["device"]["soc"], result["device"]["htp_arch"]) == ("SM8850", 81)
    assert result["simulated"] is True
    assert "heapprof-standin" in result["qnn_build"]
    assert result["model"][0]["name"] == model.name
    assert result["model"][0]["qnn_build"] == "v2.51.0.260929181845"
    assert {a["name"] for a in result["artifacts"]} >= {
        "heapprof_runner",
        "libQnnHtp.so",
        "libQnnSystem.so",
        model.name,
    }
    assert [s["name"] for s in result["stages"]] == [
        "models", "device", "preflight", "lease", "push", "run", "collect",
    ]  # fmt: skip
    assert on_phone.phone.serial not in done.stdout + done.stderr


@pytest.mark.parametrize("name", GOOD)
def test_every_good_model_gives_a_result(on_phone: OnPhone, name: str) -> None:
    done = on_phone.run("--format", "json", MODELS / "good" / name)
    assert done.code == 0, done.stderr
    assert done.json["after_bytes"] == 928212


def test_two_models_are_one_multi_context_run(on_phone: OnPhone, standin: Callable[..., Path]) -> None:
    libs = standin(before=1000, leak_per_cycle=64)
    done = on_phone.run("--format", "json", "--qnn-libs", libs, *(MODELS / "good" / n for n in GOOD[-2:]))
    assert done.code == 0, done.stderr
    assert [m["name"] for m in done.json["model"]] == GOOD[-2:]
    assert (done.json["before_bytes"], done.json["difference_bytes"]) == (1000, 64)


def test_a_difference_is_told_and_passes(on_phone: OnPhone, standin: Callable[..., Path], model: Path) -> None:
    done = on_phone.run("--qnn-libs", standin(before=1_000_000, after=1_004_096), model)
    assert done.code == 0
    assert "4096" in done.stdout and "4.0 KiB" in done.stdout


def test_after_below_before_is_implausible(on_phone: OnPhone, standin: Callable[..., Path], model: Path) -> None:
    libs = standin(before=2000, after=1000)
    table = on_phone.run("--qnn-libs", libs, model)
    assert table.code == 3
    assert "implausible" in table.stdout and "2000" in table.stdout and "1000" in table.stdout
    result = on_phone.run("--qnn-libs", libs, "--format", "json", model).json
    assert (result["verdict"], result["exit_code"]) == ("implausible", 3)
    assert (result["before_bytes"], result["after_bytes"], result["difference_bytes"]) == (2000, 1000, -1000)
    assert result["error"]["code"] == "invalid_measurement"


@pytest.mark.parametrize(
    ("behaviour", "verdict", "words"),
    [
        ({"events": "none"}, "missing", "no DSP heap events"),
        ({"events": "before"}, "incomplete", "after_context_freed"),
        ({"events": "after"}, "incomplete", "before_context_created"),
    ],
)
def test_without_both_events_there_is_no_number(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path, behaviour: dict[str, str], verdict: str, words: str
) -> None:
    done = on_phone.run("--qnn-libs", standin(**behaviour), "--format", "json", model)
    assert (done.code, done.json["verdict"], done.json["exit_code"]) == (3, verdict, 3)
    assert words in done.json["error"]["message"]
    assert done.json["after_bytes"] is None
    assert words in done.stderr


@pytest.mark.parametrize("behaviour", [{"order": "reversed"}, {"repeat": 5}, {"order": "reversed", "repeat": 3}])
def test_order_and_repeats_of_events_change_nothing(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path, behaviour: dict[str, object]
) -> None:
    done = on_phone.run("--qnn-libs", standin(before=10, after=30, **behaviour), "--format", "json", model)
    assert (done.code, done.json["before_bytes"], done.json["after_bytes"]) == (0, 10, 30)


def test_a_stale_file_in_the_workspace_is_not_used(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path
) -> None:
    kept = on_phone.run("--keep", "--format", "json", model)
    assert kept.code == 0
    workspace = on_phone.phone.host_path(on_phone.phone.workspace)
    try:
        assert list(workspace.rglob("heap_*.txt")), "--keep left the run's folder"
        done = on_phone.run("--qnn-libs", standin(events="none"), "--format", "json", model)
        assert (done.code, done.json["verdict"]) == (3, "stale")
        assert done.json["before_bytes"] is None and done.json["after_bytes"] is None
        assert "another run" in done.json["error"]["message"]
    finally:
        shutil.rmtree(workspace / "runs")


@pytest.mark.parametrize("stage", ["backend", "device", "profile", "create", "retrieve", "execute", "free"])
def test_a_crash_is_placed(on_phone: OnPhone, standin: Callable[..., Path], model: Path, stage: str) -> None:
    done = on_phone.run("--qnn-libs", standin(crash_stage=stage), "--format", "json", model)
    assert (done.code, done.json["verdict"]) == (5, "error")
    message = done.json["error"]["message"]
    assert "SIGSEGV" in message
    runner_stage = {"backend": "setup", "device": "setup", "profile": "setup", "retrieve": "execute"}.get(stage, stage)
    assert f"'{runner_stage}'" in message or (stage == "retrieve" and "'create'" in message)


@pytest.mark.parametrize("stage", ["backend", "device", "create", "execute", "free"])
def test_a_library_error_is_explained(on_phone: OnPhone, standin: Callable[..., Path], model: Path, stage: str) -> None:
    done = on_phone.run("--qnn-libs", standin(fail_stage=stage, fail_code=1002), "--format", "json", model)
    assert (done.code, done.json["error"]["code"]) == (5, "runner_failed")
    assert "1002" in done.json["error"]["message"]
    assert done.json["error"]["hints"]


@pytest.mark.parametrize("stage", ["create", "execute", "free"])
def test_a_hang_ends_in_time_and_leaves_nothing(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path, stage: str
) -> None:
    libs = standin(hang_stage=stage)
    done = on_phone.run("--qnn-libs", libs, "--timeout", "1", "--format", "json", model)
    assert (done.code, done.json["error"]["code"]) == (7, "timeout")
    assert f"'{stage}'" in done.json["error"]["message"]


@pytest.mark.parametrize("noise", ["text", "binary", "ansi"])
def test_noise_of_the_device_is_harmless(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path, noise: str
) -> None:
    libs = standin(noise=noise, noise_bytes=3_000_000, before=5, after=6)
    done = on_phone.run("-vv", "--qnn-libs", libs, "--format", "json", model)
    assert (done.code, done.json["before_bytes"], done.json["after_bytes"]) == (0, 5, 6)
    assert "\x00" not in done.stderr and "\x1b[" not in done.stderr


NASTY = [
    "with space.bin",
    "qu'o\"te.bin",
    "$(touch x).bin",
    "`touch x`;touch y.bin",
    "-dash.bin",
    "ünï模型.bin",
    "[red]x[bold].bin",
]


@pytest.mark.parametrize("name", NASTY)
def test_nasty_model_names_work_and_run_nothing(on_phone: OnPhone, tmp_path: Path, model: Path, name: str) -> None:
    folder = tmp_path / "models here"
    folder.mkdir()
    shutil.copy(model, folder / name)
    done = on_phone.run("--format", "json", "--", name, cwd=folder)
    assert done.code == 0, done.stderr
    assert done.json["model"][0]["name"] == name
    assert name in on_phone.run("--", name, cwd=folder).stdout
    assert [p.name for p in folder.iterdir()] == [name]
    assert not list(on_phone.phone.root.rglob("x"))


def test_a_nasty_workspace_works_and_runs_nothing(on_phone: OnPhone, model: Path) -> None:
    workspace = f"{on_phone.phone.workspace}/a b $(touch x) 'q' ü"
    done = on_phone.run("--workspace", workspace, "--format", "json", model)
    assert done.code == 0, done.stderr
    folder = on_phone.phone.host_path(on_phone.phone.workspace)
    assert not list(folder.rglob("x"))
    assert on_phone.heapprof("clean", *on_phone.flags()[:4], "--workspace", workspace).code == 0
    assert not on_phone.phone.host_path(workspace).exists()


def test_a_model_for_another_soc_is_a_warning_without_a_dsp(on_phone: OnPhone) -> None:
    done = on_phone.run("--format", "json", MODELS / "good" / "conv_sm8650_v75_qnn2.51.bin")
    assert done.code == 0
    assert "V75" in done.json["warnings"][0] and "V81" in done.json["warnings"][0]


def test_the_wrong_soc_is_refused_before_anything_is_sent(on_phone: OnPhone, model: Path) -> None:
    done = on_phone.run("--soc", "SM8650", "--format", "json", model)
    assert (done.code, done.json["error"]["code"]) == (6, "preflight")
    assert "SM8650" in done.json["error"]["message"] and "SM8850" in done.json["error"]["message"]
    assert "push" not in [stage["name"] for stage in done.json["stages"]]


def test_missing_libraries_are_named(on_phone: OnPhone, tmp_path: Path, model: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = on_phone.run("--qnn-libs", tmp_path / "empty", "--format", "json", model)
    assert (done.code, done.json["error"]["code"]) == (6, "preflight")
    for name in ("libQnnHtp.so", "libQnnSystem.so"):
        assert name in done.json["error"]["message"]


@pytest.mark.parametrize("name", sorted(p.name for p in (MODELS / "bad").iterdir()))
def test_bad_models_touch_no_phone(heapprof: Callable[..., Ended], name: str) -> None:
    done = heapprof("run", "--adb-port", "1", "--format", "json", MODELS / "bad" / name)
    assert (done.code, done.json["error"]["code"], done.json["error"]["stage"]) == (2, "usage", "model")


def test_the_real_emulator_says_in_words_that_it_cant(on_phone: OnPhone, model: Path) -> None:
    onnxruntime_qnn = pytest.importorskip("onnxruntime_qnn")
    libs = Path(onnxruntime_qnn.__file__).parent
    done = on_phone.run("--qnn-libs", libs, "--format", "json", model)
    assert (done.code, done.json["error"]["code"]) == (5, "runner_failed")
    assert "1000" in done.json["error"]["message"]
    assert "DSP" in done.json["error"]["message"] + " ".join(done.json["error"]["hints"])
    assert done.json["qnn_build"].startswith("v2.51")
    assert done.json["simulated"] is False


def test_keep_leaves_the_folder(on_phone: OnPhone, model: Path) -> None:
    assert on_phone.run("--keep", model).code == 0
    workspace = on_phone.phone.host_path(on_phone.phone.workspace)
    try:
        (heap,) = workspace.rglob("heap_*.txt")
        assert heap.read_text() == (
            "DSP:before_context_created (bytes), 928212\nDSP:after_context_freed (bytes), 928212\n"
        )
    finally:
        shutil.rmtree(workspace / "runs")


def test_an_input_list_travels(on_phone: OnPhone, tmp_path: Path, model: Path) -> None:
    (tmp_path / "wrong size.raw").write_bytes(b"1234")
    (tmp_path / "list.txt").write_text("wrong_size.raw\n")
    os.rename(tmp_path / "wrong size.raw", tmp_path / "wrong_size.raw")
    done = on_phone.run("-i", tmp_path / "list.txt", "--format", "json", model)
    assert done.code == 5
    assert "4" in done.json["error"]["message"]


def test_results_go_to_files_too(on_phone: OnPhone, tmp_path: Path, model: Path) -> None:
    done = on_phone.run("-o", "r.json", "-o", "table:r.txt", model, cwd=tmp_path)
    assert done.code == 0
    import json

    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "ok"
    assert "928212" in (tmp_path / "r.txt").read_text()


def test_quiet_says_nothing_on_stderr(on_phone: OnPhone, model: Path) -> None:
    assert on_phone.run("-q", model).stderr == ""


def test_underscored_spellings_work(on_phone: OnPhone, model: Path) -> None:
    done = on_phone.run(
        "--soc_model", "SM8850", "--htp_performance_mode", "burst", "--log_level", "3", "--format", "json", model
    )
    assert done.code == 0, done.stderr
    assert done.json["settings"]["perf_mode"] == "burst"


def test_the_result_says_where_it_comes_from(on_phone: OnPhone, model: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True)
    result = on_phone.run("--format", "json", model).json
    assert result["repository"] == {"commit": head.stdout.strip(), "dirty": False}
    assert (result["heapprof_version"], result["runner"]["version"]) == (__version__, __version__)
    assert result["device"]["kernel"] == platform.release()
    assert all(len(artifact["sha256"]) == 64 for artifact in result["artifacts"])
    assert on_phone.phone.serial not in str(result)
