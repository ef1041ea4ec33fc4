"""`run --runner executorch` on the virtual phone, with a stand-in for ExecuTorch's runner: numbers are simulated."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from heapprof_cli import resources
from heapprof_cli.virtual import VirtualPhone
from heapprof_cli.virtual.faults import Fault
from tests.conftest import MODELS, TARGET, Ended, OnPhone, clean_environment, wait_until

GOOD = MODELS / "good"
P2, P0 = GOOD / "sm8850_p2.pte", GOOD / "sm8850_p0.pte"
RUNNER, BACKEND = "qnn_executor_runner", "libqnn_executorch_backend.so"
OLD = (b"heap_profiling_path", b"some_other_old_flag")  # of one length


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """An ExecuTorch build folder, its files where ExecuTorch's build leaves them."""
    made = resources.device_build(TARGET) / "standin_executorch"
    for name, place in ((RUNNER, "examples/qualcomm/executor_runner"), (BACKEND, "backends/qualcomm")):
        (tmp_path / "build" / place).mkdir(parents=True)
        shutil.copy(made / name, tmp_path / "build" / place / name)
    return tmp_path / "build"


Run = Callable[..., Ended]


@pytest.fixture
def run(on_phone: OnPhone, standin: Callable[..., Path], build: Path) -> Iterator[Run]:
    """`heapprof run --runner executorch --format json`; after it no runner may be left."""

    def call(*arguments: str | Path, **behaviour: object) -> Ended:
        libs = standin(**behaviour)
        flags = ("--runner", "executorch", "--build-folder", build, "--qnn-libs", libs, "--format", "json")
        return on_phone.run(*flags, *arguments)

    yield call
    assert runners(on_phone.phone) == []


def runners(phone: VirtualPhone) -> list[str]:
    return [line for _, line in phone.processes() if line.startswith(f"./{RUNNER}")]


def test_a_program_is_measured_by_executorchs_runner(run: Run) -> None:
    done = run(P2, before=1000, after=5096)
    assert done.code == 0, done.stderr
    result = done.json
    assert (result["before_bytes"], result["difference_bytes"], result["simulated"]) == (1000, 4096, True)
    assert result["runner"] == {"kind": "executorch", "target": TARGET, "version": None}
    assert result["settings"]["profile_level"] == 2
    names = {artifact["name"] for artifact in result["artifacts"]}
    assert {RUNNER, BACKEND, "libQnnHtp.so", "libQnnSystem.so", P2.name} <= names
    assert "heapprof_runner" not in names and len([name for name in names if name.endswith(".pte")]) == 1
    (program,) = [artifact for artifact in result["artifacts"] if artifact["name"] == P2.name]
    assert program["bytes"] == P2.stat().st_size, "the whole program goes, not what is in it"


def test_the_table_says_which_runner(on_phone: OnPhone) -> None:
    done = on_phone.run("--runner", "executorch", P2)
    assert done.code == 0, done.stderr
    assert f"executorch, {TARGET}" in done.stdout and "simulated" in done.stdout.splitlines()[0]


def test_several_delegates_and_runs(run: Run) -> None:
    done = run(GOOD / "sm8850_multi3.pte", "--runs", "2", leak_per_cycle=64)
    assert done.code == 0, done.stderr
    assert [(s["run"], s["difference_bytes"]) for s in done.json["samples"]] == [(1, 64), (2, 64)]


def test_profile_level_0_is_overridden_where_the_runner_can(run: Run) -> None:
    done = run(P0)
    assert (done.code, done.json["after_bytes"]) == (0, 928212)
    assert "profile level 0" in done.stderr


@pytest.mark.parametrize(
    ("model", "behaviour", "words"),
    [
        (P0, {"runner_profile_level": "ignored"}, "compiled with profile level 0"),
        (P2, {"runner_heap_path": "lost"}, "no path"),
        (P2, {"events": "none"}, "no DSP heap events"),
    ],
)
def test_without_a_heap_file_it_says_why(run: Run, model: Path, behaviour: dict[str, str], words: str) -> None:
    done = run(model, **behaviour)
    assert (done.code, done.json["verdict"]) == (3, "missing")
    assert words in done.json["error"]["message"] and done.json["error"]["hints"]
    assert done.json["before_bytes"] is None


def test_an_older_backend_is_named(run: Run, build: Path) -> None:
    aged(build / "backends/qualcomm" / BACKEND)
    done = run(P2)
    assert (done.code, done.json["verdict"]) == (3, "missing")
    assert f"{BACKEND} is older" in done.json["error"]["message"]


def test_one_line_is_incomplete(run: Run) -> None:
    done = run(GOOD / "sm8850_multi3.pte", events="before")
    assert (done.code, done.json["verdict"], done.json["before_bytes"]) == (3, "incomplete", 928212)
    assert any("profile levels" in hint for hint in done.json["error"]["hints"])


def test_an_old_runner_is_refused_before_anything_is_sent(run: Run, build: Path) -> None:
    aged(build / "examples/qualcomm/executor_runner" / RUNNER)
    done = run(P2)
    assert (done.code, done.json["error"]["stage"]) == (6, "artifacts")
    assert "--heap_profiling_path" in done.json["error"]["message"]
    assert "ExecuTorch" in done.json["error"]["hints"][0]
    assert not any(stage["name"] == "push" for stage in done.json["stages"])


def aged(file: Path) -> None:
    """A build from before heap profiling: it holds that name nowhere."""
    content = file.read_bytes()
    assert OLD[0] in content
    file.write_bytes(content.replace(*OLD))


def test_a_flag_that_the_runner_does_not_know(run: Run) -> None:
    done = run(P2, runner_unknown_flag="heap_profiling_path")
    assert (done.code, done.json["error"]["stage"]) == (5, "start")
    assert "does not know the flag --heap_profiling_path" in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ({"crash_stage": "create"}, "SIGSEGV"),
        ({"crash_stage": "free"}, "SIGSEGV after its first context was made"),
        ({"runner_crash": "yes"}, "SIGSEGV after its first context was made"),
        ({"fail_stage": "create"}, "Loading of method forward failed"),
        ({"fail_stage": "backend"}, "first error: stand-in: failing"),
    ],
)
def test_a_runner_that_fails(run: Run, behaviour: dict[str, str], words: str) -> None:
    done = run(P2, **behaviour)
    assert (done.code, done.json["error"]["code"], done.json["after_bytes"]) == (5, "runner_failed", None)
    assert words in done.json["error"]["message"]


@pytest.mark.parametrize("stage", ["create", "free"])
def test_a_runner_that_hangs_is_ended_on_the_phone(run: Run, stage: str) -> None:
    done = run(P2, "--timeout", "1", hang_stage=stage)
    assert (done.code, done.json["error"]["code"]) == (7, "timeout")
    assert "past its time limit of 1 s" in done.json["error"]["message"]


def test_an_interrupt_leaves_no_runner(on_phone: OnPhone, standin: Callable[..., Path], tmp_path: Path) -> None:
    libs = standin(hang_stage="create")
    command = [sys.executable, "-m", "heapprof_cli", "run", *on_phone.flags(), "--runner", "executorch"]
    with subprocess.Popen(
        [*command, "--qnn-libs", str(libs), str(P2)], env=clean_environment(tmp_path), stderr=subprocess.PIPE
    ) as process:
        wait_until(lambda: runners(on_phone.phone) != [], "the runner never started")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert runners(on_phone.phone) == []


def test_files_that_are_missing_are_named_at_once(on_phone: OnPhone, build: Path, tmp_path: Path) -> None:
    (build / "backends/qualcomm" / BACKEND).unlink()
    (tmp_path / "empty").mkdir()
    flags = ("--runner", "executorch", "-b", build, "--qnn-libs", tmp_path / "empty", "--format", "json")
    done = on_phone.run(*flags, P2)
    assert (done.code, done.json["error"]["stage"]) == (6, "artifacts")
    for name in (BACKEND, "libQnnHtp.so", "libQnnSystem.so"):
        assert name in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([GOOD / "conv_sm8850_v81_qnn2.51.bin"], "takes an ExecuTorch program"),
        ([GOOD / "epcontext_sm8850_external.onnx"], "takes an ExecuTorch program"),
        ([P2, P0], "exactly one program"),
        ([GOOD / "sm8850_online.pte"], "online_prepare"),
        (["--cycles", "2", P2], "--cycles"),
    ],
)
def test_what_it_can_not_take_is_refused_before_any_phone(
    heapprof: Callable[..., Ended], arguments: list[str | Path], words: str
) -> None:
    done = heapprof("run", "--adb-port", "1", "--runner", "executorch", "--format", "json", *arguments)
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert words in done.json["error"]["message"] and done.json["error"]["hints"]


@pytest.mark.parametrize(("length", "code"), [(200, 0), (201, 2), (260, 2)])
def test_a_path_is_never_cut(run: Run, on_phone: OnPhone, length: int, code: int) -> None:
    long = f"{on_phone.phone.workspace}/".ljust(length, "x")
    done = run("--workspace", long, "--no-cache", P2)
    assert done.code == code, done.stderr
    if code:
        assert "longer than 200 bytes" in done.json["error"]["message"] and done.json["error"]["hints"]


def test_a_dry_run_shows_its_commands(
    heapprof: Callable[..., Ended], standin: Callable[..., Path], build: Path
) -> None:
    flags = ("--runner", "executorch", "-b", build, "--qnn-libs", standin(), "--runner-target", TARGET)
    done = heapprof("run", "--dry-run", *flags, "--perf-mode", "burst", P2)
    assert done.code == 0, done.stderr
    (start,) = [line for line in done.stdout.splitlines() if f"exec ./{RUNNER} " in line]
    for flag in ("--model_path=model_0.pte", "--heap_profiling_path=heap_", "--profile_level=2", "kill -KILL"):
        assert flag in start
    assert "--htp_performance_mode=2" in start and "--status_path" not in done.stdout
    assert str(P2) in done.stdout


def test_doctor_knows_the_runner(on_phone: OnPhone, heapprof: Callable[..., Ended], build: Path) -> None:
    aged(build / "examples/qualcomm/executor_runner" / RUNNER)
    libs = resources.device_build(TARGET) / "standin"
    flags = ("--runner", "executorch", "-b", build, "--qnn-libs", libs)
    done = heapprof("doctor", *on_phone.flags(), *flags, P2)
    assert done.code == 6 and "too old for heap profiling" in done.stdout


def test_the_demo_takes_it_too(heapprof: Callable[..., Ended]) -> None:
    done = heapprof("demo", "--runner", "executorch", "--format", "json", P2)
    assert (done.code, done.json["runner"]["kind"]) == (0, "executorch")


@pytest.mark.parametrize("action", ["drop", "offline", "kill"])
def test_a_lost_connection_leaves_no_runner(
    on_phone: OnPhone, standin: Callable[..., Path], action: Literal["drop", "offline", "kill"]
) -> None:
    phone = on_phone.phone
    libs = standin(hang_stage="free")
    number = phone.faults.add(Fault(action, service=f"shell*exec ./{RUNNER}*", after_bytes=1, seconds=0.5))
    try:
        done = on_phone.run("--runner", "executorch", "--qnn-libs", libs, "--format", "json", "--timeout", "30", P2)
        assert phone.faults.happened(number) == 1
    finally:
        phone.faults.clear()
    assert done.code == (5 if action == "kill" else 4), done.stderr
    assert done.json["after_bytes"] is None
    assert runners(phone) == []
