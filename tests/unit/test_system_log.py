"""The phone's log of a run: asked for in words that shells take, and only what is about the run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heapprof_cli.device import system_log
from heapprof_cli.device.scripts import RunFolder

LOGCAT = """#!/bin/sh
echo "$*" >> {folder}/asked
cat {folder}/lines
"""
LINES = """--------- beginning of main
12-07 10:00:00.000  4711  4712 I qnn     : of the child
12-07 10:00:00.001  4710  4710 I whatever: of the runner itself
12-07 10:00:00.002  9999  9999 I whatever: of another app
12-07 10:00:00.003  9999  4711 I whatever: a thread of another app that has our number
12-07 10:00:00.004  9999  9999 E adsprpc : another app's failure
12-07 10:00:00.005   612   612 E cdsprpcd: the daemon's
12-07 10:00:00.006     0     0 I kernel  : remoteproc remoteproc2: crash detected in cdsp
12-07 10:00:00.007     0     0 I kernel  : wlan: beacon lost
12-07 10:00:00.008   500   500 I lmkd    : Kill 'heapprof_runner' (4711), uid 2000
12-07 10:00:00.009   500   500 I lmkd    : Kill 'com.example' (8000), uid 10100
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    place = RunFolder(str(tmp_path / "work space"), "0123456789abcdef")
    Path(place.path).mkdir(parents=True)
    Path(place.file("started")).touch()
    Path(place.file("pid")).write_text("4710\n")
    return place


@pytest.fixture
def logcat(tmp_path: Path) -> Path:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "logcat").write_text(LOGCAT.format(folder=tools))
    (tools / "logcat").chmod(0o755)
    (tools / "lines").write_text(LINES)
    return tools


def ask(folder: RunFolder, tools: Path, pid: int | None, shell: str = "sh") -> list[str]:
    done = subprocess.run(
        [shell, "-c", system_log.window(folder, pid)],
        env={"PATH": f"{tools}:/usr/bin:/bin", "TZ": "UTC"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_lines_of_the_run_the_dsp_and_the_kernel(folder: RunFolder, logcat: Path) -> None:
    texts = {line.split(": ", 1)[1] for line in ask(folder, logcat, 4711)}
    assert texts == {
        "of the child",
        "of the runner itself",
        "the daemon's",
        "Kill 'heapprof_runner' (4711), uid 2000",
        "remoteproc remoteproc2: crash detected in cdsp",
    }


def test_without_the_childs_number(folder: RunFolder, logcat: Path) -> None:
    text = "\n".join(ask(folder, logcat, None))
    assert "of the runner itself" in text and "of the child" not in text


@pytest.mark.parametrize("content", ["", "none", "1|2", ".*", "12\n34"])
def test_a_pid_file_that_holds_no_number_selects_nothing(folder: RunFolder, logcat: Path, content: str) -> None:
    Path(folder.file("pid")).write_text(content)
    text = "\n".join(ask(folder, logcat, 4711))
    assert "of the child" in text
    assert "another app" not in text and "runner itself" not in text


def test_only_since_the_run_began(folder: RunFolder, logcat: Path) -> None:
    subprocess.run(["touch", "-d", "2026-03-04 05:06:07 UTC", folder.file("started")], check=True)
    ask(folder, logcat, 1)
    asked = (logcat / "asked").read_text().splitlines()
    assert asked == [
        "-d -b main,system,crash -v threadtime -T 03-04 05:06:07.000",
        "-d -b kernel -v threadtime -T 03-04 05:06:07.000",
    ]


def test_no_logcat_and_no_beginning(folder: RunFolder, logcat: Path, tmp_path: Path) -> None:
    Path(folder.file("started")).unlink()
    assert ask(folder, logcat, 1) == []
    assert ask(folder, tmp_path, 1) == []


def test_other_programs_crashes_are_left_out_and_ours_cut() -> None:
    other = [f"12-07 10:00:00.001 700 700 F DEBUG   : {text}" for text in ("*** ***", "pid: 77, tid: 77, name: camera")]
    ours = [
        f"12-07 10:00:00.002 701 701 F DEBUG   : {text}"
        for text in ("*** ***", "pid: 4711, tid: 4715, name: qnn", *(f"#{n} pc 00" for n in range(100)))
    ]
    named = ["12-07 10:00:00.003 702 702 F DEBUG   : pid: 5, tid: 5, name: x  >>> ./heapprof_runner <<<"]
    plain = ["12-07 10:00:00.004 4711 4711 E qnn     : error"]
    kept = system_log.of_the_run("\n".join([*other, *ours, *named, *plain]), [4711])
    assert kept == [*ours[:60], *named, *plain]


KERNEL = "12-07 10:00:00.001     0     0 I kernel  : {}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Out of memory: Killed process 4321 (com.other.app) total-vm:123kB", False),
        ("Out of memory: Killed process 4711 (heapprof_runner) total-vm:123kB", True),
        ("lowmemorykiller: Killing 'com.other.app' (4321), adj 900", False),
        ("lowmemorykiller: Killing 'heapprof_runner' (4711), adj 0", True),
        ("lowmemorykiller: kill threshold set, no process killed", True),
        ('avc: denied { open } for comm="camera" path="/dev/adsprpc-smd" dev="tmpfs"', False),
        ('avc: denied { open } for pid=4711 comm="Binder:1" path="/dev/adsprpc-smd"', True),
        ("remoteproc remoteproc2: crash detected in cdsp: type fatal error", True),
    ],
)
def test_kernel_lines_of_other_processes_are_left_out(text: str, kept: bool) -> None:
    line = KERNEL.format(text)
    assert system_log.of_the_run(line, [4711]) == ([line] if kept else [])


def test_a_crash_of_the_audio_dsp_is_not_asked_for(folder: RunFolder, logcat: Path) -> None:
    lines = [
        KERNEL.format(f"remoteproc remoteproc1: crash detected in {dsp}: type fatal error") for dsp in ("adsp", "cdsp")
    ]
    (logcat / "lines").write_text("\n".join(lines) + "\n")
    assert set(ask(folder, logcat, 1)) == {lines[1]}


def test_a_logcat_that_does_not_answer_is_ended_on_the_phone(
    folder: RunFolder, logcat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_log, "_SECONDS", 1)
    (logcat / "logcat").write_text(f"#!/bin/sh\necho $$ >> {logcat}/pids\nexec sleep 1000\n")
    assert ask(folder, logcat, 1) == []
    pids = (logcat / "pids").read_text().split()
    assert len(pids) == 2 and not any(Path("/proc", pid).exists() for pid in pids)


def test_a_hostile_log_costs_little() -> None:
    text = "\n".join(["12-07 " + "9" * 100_000, "12-07 10:00:00.1 1 1 F DEBUG: " + "pid: 1, " * 10_000, ":" * 300_000])
    assert len(system_log.of_the_run(text, [2])) == 2
