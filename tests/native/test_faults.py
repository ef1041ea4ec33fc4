"""Failures, crashes, hangs and kills: placed, cleaned up, nothing lost and nothing left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from tests.native.runner_tools import AFTER, BEFORE, REFERENCE, alive, children, wait_for_line

EXITS = {
    "log": ("setup", 21),
    "backend": ("setup", 21),
    "device": ("setup", 21),
    "profile": ("setup", 21),
    "create": ("create", 22),
    "retrieve": ("create", 22),
    "events": ("create", 22),
    "execute": ("execute", 23),
    "free": ("free", 24),
}
HALF = BEFORE.format(928212)


@pytest.mark.parametrize("kind", EXITS)
def test_failing_call_gives_its_stage_code_and_name(run, standin, conv, kind):
    stage, code = EXITS[kind]
    result = run(conv, libraries=standin(fail_stage=kind, fail_code=13003))
    assert result.code == code, result.stderr
    error = result.error
    assert (error["stage"], error["code"]) == (stage, 13003)
    assert "transport" in error["message"]  # our own text: the library has none for 13xxx
    assert result.status["stage"] == stage and result.status["state"] == "failed"
    assert kind in error["call"].lower() or kind in ("log",)


@pytest.mark.parametrize(
    ("kind", "number"),
    [*((kind, "SEGV") for kind in EXITS), ("create", "ABRT"), ("execute", "BUS"), ("execute", "KILL")],
)
def test_crash_is_placed_by_stage_and_signal(run, standin, conv, kind, number):
    stage, _ = EXITS[kind]
    result = run(conv, libraries=standin(crash_stage=kind, crash_signal=number))
    status = result.status
    assert result.code == 30 and status["state"] == "crashed"
    assert (status["stage"], status["signal_name"]) == (stage, f"SIG{number}")
    assert status["signal"] == getattr(signal, f"SIG{number}")
    assert f"SIG{number}" in status["error"]["message"]
    assert result.stages[-1] == stage
    assert result.heap == (HALF if kind in ("retrieve", "execute", "free") else None)
    assert result.leftovers() == []


def test_a_library_that_calls_exit_does_not_pass_for_success(run, standin, conv):
    result = run(conv, libraries=standin(crash_stage="execute", crash_signal="EXIT"))
    assert (result.code, result.status["state"], result.status["stage"]) == (30, "crashed", "execute")
    assert result.status["signal"] is None and "from within, with exit code 0" in result.error["message"]


def test_what_was_measured_before_a_crash_is_kept(run, standin, conv):
    status = run(conv, libraries=standin(crash_stage="execute")).status
    assert status["heap"]["before_bytes"] == 928212 and status["heap"]["after_bytes"] is None
    assert status["library"]["provider"] and status["contexts"][0]["graphs"]


@pytest.mark.parametrize("kind", ["backend", "create", "execute", "free"])
def test_hang_ends_at_the_time_limit_and_leaves_no_process(run, standin, conv, kind):
    process = run.start(conv, flags=["--time_limit=2"], libraries=standin(hang_stage=kind))
    wait_for_line(process, f"stage {EXITS[kind][0]}")
    (child,) = children(process.pid)
    assert process.wait(20) == 31
    assert not alive(child)
    process.stderr.close()
    status = json.loads((run.folder / "status.json").read_text())
    assert (status["state"], status["stage"], status["exit_code"]) == ("timed_out", EXITS[kind][0], 31)


@pytest.mark.parametrize(("limit", "words"), [("0.25", "0.250 s"), ("1", "1.000 s"), ("0.0001", "0.001 s")])
def test_time_limits_may_be_parts_of_a_second(run, standin, conv, limit, words):
    result = run(conv, flags=[f"--time_limit={limit}"], libraries=standin(hang_stage="create"))
    assert result.code == 31 and f"the time limit of {words} is over" in result.error["message"]


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failed_create_is_not_counted(run, standin, conv, failing):
    result = run(conv, conv, conv, libraries=standin(fail_stage="create", fail_at=failing))
    assert result.code == 22
    # The contexts made before are freed, the last of them with the profile handle: both lines are there.
    assert result.heap == (None if failing == 1 else REFERENCE)
    assert result.stages.count("free") == failing - 1
    assert result.error["stage"] == "create"


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failed_free_still_frees_the_others(run, standin, conv, failing):
    result = run(conv, conv, libraries=standin(fail_stage="free", fail_at=failing))
    assert result.code == 24 and result.stages.count("free") == 2


def test_kill_of_the_child_at_any_time_leaves_a_whole_heap_file_or_none(run, standin, conv):
    seen = set()
    libraries = standin(create_delay_ms=4, execute_delay_ms=4)
    start = time.monotonic()
    assert run(conv, conv, libraries=libraries).code == 0
    whole = time.monotonic() - start
    for step in range(24):
        process = run.start(conv, conv, libraries=libraries)
        time.sleep(step / 20 * whole)  # from the very begin to after the end
        for child in children(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        assert process.wait(20) in (0, 30)
        process.stderr.close()
        path = run.folder / "heap.txt"
        heap = path.read_text() if path.exists() else None
        assert heap in (None, HALF, REFERENCE)
        assert not list(run.folder.rglob("*.tmp"))
        assert (run.folder / "status.json").exists()
        seen.add(heap)
    assert len(seen) >= 2, "the kills came all at the same stage"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_runner_ends_the_child(run, standin, conv, number):
    process = run.start(conv, libraries=standin(hang_stage="execute"))
    wait_for_line(process, "stage execute")
    (child,) = children(process.pid)
    process.send_signal(number)
    assert process.wait(20) == 32
    process.stderr.close()
    assert not alive(child)
    assert '"state":"stopped"' in (run.folder / "status.json").read_text()


def test_the_child_dies_with_a_killed_runner(run, standin, conv):
    process = run.start(conv, libraries=standin(hang_stage="execute"))
    wait_for_line(process, "stage execute")
    (child,) = children(process.pid)
    process.kill()
    process.wait(20)
    process.stderr.close()
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child)


def test_a_closed_stderr_does_not_end_the_run(run, conv):
    command = run.command(conv)
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=write_end)
    os.close(write_end)
    assert process.wait(20) == 0
    assert (run.folder / "heap.txt").read_text() == REFERENCE


def test_missing_and_wrong_libraries_are_load_errors(run, conv, tmp_path):
    missing = run(conv, flags=["--backend_library=libNoSuchThing.so"])
    assert missing.code == 20 and "libNoSuchThing.so" in missing.error["message"]
    assert missing.status["stage"] == "load"
    wrong = run(conv, flags=[f"--backend_library={run.libraries.system}"])
    assert wrong.code == 20 and "no QNN library" in wrong.error["message"]
    (tmp_path / "text.so").write_text("no library")
    assert run(conv, flags=[f"--system_library={tmp_path / 'text.so'}"]).code == 20


@pytest.mark.parametrize("text", ["unknown = 1", "before = x", "fail_stage = nowhere", "no equals", "sdk = two"])
def test_bad_behaviour_file_is_said_and_fails_setup(run, standin, conv, text):
    result = run(conv, libraries=standin(text))
    assert result.code == 21 and "standin.conf" in result.error["message"]


def test_unwritable_heap_file_is_a_write_error(run, conv):
    result = run(conv, flags=["--heap_profiling_path=/proc/nowhere/heap.txt"])
    assert result.code == 25 and "/proc/nowhere/heap.txt" in result.error["message"]
    assert result.error["stage"] == "write"


def test_unwritable_status_file_stops_the_run(run, conv):
    result = run.plain(f"--model={conv}", "--status_path=/proc/nowhere/status.json")
    assert result.code == 25 and "status file" in result.stderr


def test_after_below_before_is_told_as_it_is(run, standin, conv):
    result = run(conv, libraries=standin(before=2000, after=1000))
    assert result.heap == BEFORE.format(2000) + AFTER.format(1000)
