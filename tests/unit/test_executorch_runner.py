"""ExecuTorch's runner: its command line, what its end means, and the watchdog that bounds it on a phone."""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.cli.progress import StderrReporter
from heapprof_cli.device import scripts
from heapprof_cli.device.capture import Capture
from heapprof_cli.device.phone import Leavings
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.shell import ShellResult
from heapprof_cli.errors import ExitCode, UsageError
from heapprof_cli.records import Artifact, ModelFacts
from heapprof_cli.session.runners import runner_of
from heapprof_cli.session.runners.executorch_outcome import failure_of, without_heap_file
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings
from tests.conftest import wait_until

SHELLS = [shell for shell in ("sh", "mksh", "bash") if shutil.which(shell)]
FOLDER = RunFolder("/data/local/tmp/heapprof", "00ff00ff00ff00ff")
MODEL = ModelFacts("/m/x.pte", "x.pte", "pte", "0" * 64, 1, "SM8850", 81, None, 1, backends=("HTP",))


def settings(**options: object) -> RunSettings:
    return RunSettings((Path("x.pte"),), ServerAddress(), runner="executorch", **options)  # type: ignore[arg-type]


def ended(status: int, stderr: str = "", stdout: str = "") -> ShellResult:
    result = ShellResult(status, Capture(), Capture())
    result.stdout.add(stdout.encode())
    result.stderr.add(stderr.encode())
    return result


def test_the_flags_are_those_of_qnn_executor_runner() -> None:
    chosen = settings(perf_mode=2, iterations=3, warm_up=1, log_level=4, timeout=0.0)
    command = runner_of(chosen).command(chosen, FOLDER, 1, True)
    words = command.split("exec ./qnn_executor_runner ")[1].split()
    assert words == [
        "--model_path=model_0.pte", "--heap_profiling_path=heap_00ff00ff00ff00ff.txt", "--output_folder_path=outputs",
        "--profile_level=2", "--log_level=4", "--htp_performance_mode=2", "--iteration=3", "--warm_up=1",
        "--input_list_path=input_list.txt",
    ]  # fmt: skip
    assert "kill" not in command, "no time limit, no watchdog"
    assert "--profile_level=1 " in runner_of(chosen).command(settings(profile_level=1), FOLDER, 1, False)


@pytest.mark.parametrize(("length", "good"), [(255, True), (256, False)])
def test_a_path_that_would_be_cut_is_refused(length: int, good: bool) -> None:
    folder = RunFolder("/w", "f" * (length - len("heap_.txt")))
    assert len(folder.heap_name) == length
    if good:
        assert folder.heap_name in runner_of(settings()).command(settings(), folder, 1, False)
    else:
        with pytest.raises(UsageError, match="cuts it after 255"):
            runner_of(settings()).command(settings(), folder, 1, False)


def test_a_program_for_another_backend_is_refused() -> None:
    gpu = ModelFacts("/m/x.pte", "x.pte", "pte", "0" * 64, 1, None, None, None, 1, contexts=(None,), backends=("GPU",))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="GPU backend: only HTP"):
        runner_of(settings()).check(settings(), [gpu])


@pytest.mark.parametrize(
    ("status", "stderr", "code", "words"),
    [
        (1, "ERROR: unknown command line flag 'heap_profiling_path'\n", 5, "does not know the flag --heap_profiling"),
        (1, 'CANNOT LINK EXECUTABLE "./qnn_executor_runner": library "libc++_shared.so" not found: needed by x\n', 5,
         "libc++_shared.so is not on the phone"),
        (127, "./qnn_executor_runner: error while loading shared libraries: libqnn_executorch_backend.so: cannot open "
         "shared object file: No such file or directory\n", 5, "libqnn_executorch_backend.so is not on the phone"),
        (126, "sh: ./qnn_executor_runner: Permission denied\n", 5, "can't execute"),
        (134, "[ERROR] [Qnn ExecuTorch]: Can't create context from binary. Error 5000.\nF 00:00:00.1 executorch:"
         "qnn_executor_runner.cpp:413] In function main(), assert failed (method.ok()): Loading of method forward "
         "failed with status 0x1\n", 5, "status 0x1; first error: Can't create context from binary. Error 5000."),
        (134, "abort\n", 5, "SIGABRT"),
        (139, "I 00:00:00.1 executorch:a.cpp:1] Method loaded.\n", 5, "SIGSEGV: Method loaded."),
        (137, "", 5, "SIGKILL"),
        (1, "E 00:00:00.1 executorch:a.cpp:1] Failed to parse model file m\n", 5, "(exit status 1): Failed to parse"),
        (3, "\x1b[31m[red]bad\x1b[0m\n", 5, "[red]bad"),
        (1, "", 5, "it said nothing"),
    ],
)  # fmt: skip
def test_every_end_has_its_own_words(status: int, stderr: str, code: int, words: str) -> None:
    error = failure_of(ended(status, stderr), before=None, overdue=False, seconds=600)
    assert error is not None
    assert error.exit_code == code and error.hints
    assert words in error.message and "\x1b" not in error.message


def test_only_the_watchdogs_note_makes_a_kill_a_timeout() -> None:
    error = failure_of(ended(137), before=1, overdue=True, seconds=2)
    assert error is not None and error.exit_code is ExitCode.TIMEOUT
    assert "2 s" in error.message and "after its first context" in error.message
    assert failure_of(ended(0), before=1, overdue=False, seconds=2) is None


@pytest.mark.parametrize(
    ("level", "log", "words"),
    [
        (0, "", "profiling is off: x.pte was compiled with profile level 0"),
        (2, "Profile handle is null, skipping ProfileDataToFile", "profiling is off"),
        (2, "Heap profiling path is empty, skipping", "given no path"),
        (2, "Not HTP backend but enable htp profiling. Please check setting.", "no DSP heap events"),
        (2, "", "does not say why"),
    ],
)
def test_why_there_is_no_heap_file(tmp_path: Path, level: int, log: str, words: str) -> None:
    backend = tmp_path / "libqnn_executorch_backend.so"
    backend.write_bytes(b"\x7fELF qnn_runtime_heap_profiling_path")
    story = Story(settings(), StderrReporter(-1))
    story.models = (ModelFacts("/m/x.pte", "x.pte", "pte", "0" * 64, 1, None, None, None, 1, profile_level=level),)
    story.artifacts = (Artifact(backend.name, str(backend), backend.name, "0" * 64, 1),)
    judgement = without_heap_file(story, ended(0, log), Leavings(None, False, False, (), None))
    assert words in judgement.sentence and judgement.hints and judgement.verdict.value == "missing"
    stale = without_heap_file(story, ended(0, log), Leavings(None, False, False, ("/w/heap_other.txt",), None))
    assert stale.verdict.value == "stale" and "/w/heap_other.txt" in stale.sentence


def started(shell: str, folder: RunFolder, program: str, seconds: float) -> subprocess.Popen[bytes]:
    """The start script with ``program`` as the runner; its shell is the process that is given back."""
    subprocess.run([shell, "-c", scripts.prepare(folder, f"{folder.path}/cache")], check=True)
    runner = Path(folder.file("runner"))
    runner.write_text(f"#!/bin/sh\n{program}\n")
    arguments = [f"--heap_profiling_path={folder.heap_name}"]
    script = scripts.start(folder, {"A": "b"}, arguments, "runner", seconds, folders=("outputs",))
    return subprocess.Popen([shell, "-c", script], stdout=subprocess.PIPE)


def of_run(folder: RunFolder) -> list[int]:
    """Every process whose command line names the run: runner and watchdog."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes()
        except OSError:
            continue
        if any(f"--{flag}{folder.run_id}".encode() in line for flag in ("heap_profiling_path=heap_", "run_id=")):
            found.append(int(place.parent.name))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(f"{tmp_path}/with space", secrets.token_hex(8))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_watchdog_ends_what_even_a_lost_connection_does_not(shell: str, folder: RunFolder) -> None:
    with started(shell, folder, "trap '' HUP TERM; echo up; while :; do sleep 0.1; done", 1.0) as process:
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGHUP)  # the cable is pulled
        assert process.wait(30) == -signal.SIGKILL
    wait_until(lambda: of_run(folder) == [], "the watchdog outlived its runner")
    look = subprocess.run([shell, "-c", scripts.look(folder)], capture_output=True, text=True, check=True)
    assert "overdue" in look.stdout.splitlines()
    assert Path(folder.file("outputs")).is_dir()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_watchdog_goes_with_its_runner_and_leaves_the_stream_alone(shell: str, folder: RunFolder) -> None:
    with started(shell, folder, "echo done; exit 3", 600) as process:
        assert process.communicate(timeout=30)[0] == b"done\n", "the stream ends with the runner"
        assert process.returncode == 3
    wait_until(lambda: of_run(folder) == [], "the watchdog outlived its runner")
    look = subprocess.run([shell, "-c", scripts.look(folder)], capture_output=True, text=True, check=True)
    assert "overdue" not in look.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_stop_finds_runner_and_watchdog(shell: str, folder: RunFolder) -> None:
    with started(shell, folder, "trap '' HUP TERM; echo up; while :; do sleep 0.1; done", 600) as process:
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        assert len(of_run(folder)) >= 2
        done = subprocess.run([shell, "-c", scripts.stop(folder)], capture_output=True, text=True, check=True)
        assert "left=0" in done.stdout or of_run(folder) == [process.pid], "a zombie of this test is all that is left"
        assert process.wait(30) == -signal.SIGKILL
    assert of_run(folder) == []
