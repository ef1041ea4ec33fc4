"""Streams, output files and odd values: one object, whole, and the result's exit code whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heapprof_cli.virtual import VirtualPhone
from tests.conftest import Ended, OnPhone, clean_environment, litter


def shell(script: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which $DEMO is the command."""
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; DEMO() {{ {sys.executable} -m heapprof_cli demo -q "$@"; }}; {script}'],
        env=clean_environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("DEMO | true", 0),
        ("DEMO --standin after=1 | true", 3),
        ("DEMO --format json nofile | true", 2),
        ("DEMO --standin after=1 >&-", 3),
        ("DEMO --standin after=1 2>/dev/full", 3),
        ("DEMO > /dev/full", 2),
        (f"{sys.executable} -m heapprof_cli --help | true", 0),
        (f"{sys.executable} -m heapprof_cli", 2),
    ],
)
def test_exit_codes_do_not_depend_on_the_reader(tmp_path: Path, script: str, code: int) -> None:
    done = shell(script, tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr and "a bug in" not in done.stderr


def test_a_file_is_written_even_when_nobody_reads_stdout(tmp_path: Path) -> None:
    done = shell("DEMO --standin after=1 -o r.json | true", tmp_path)
    assert done.returncode == 3
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "implausible"


@pytest.mark.parametrize("output", ["absent/x.json", "", "json:", "absent:x", "x.xmlx", "noending", "."])
def test_bad_outputs_cost_no_measurement(heapprof: Callable[..., Ended], output: str) -> None:
    done = heapprof("demo", "--format", "json", "-o", output)
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert done.json["samples"] == [] and "stages" in done.json


def test_an_output_that_fails_late_keeps_the_old_file_and_the_code(
    heapprof: Callable[..., Ended], tmp_path: Path
) -> None:
    done = heapprof("demo", "-q", "--standin", "after=1", "--format", "json", "-o", "json:/dev/full")
    assert (done.code, done.json["exit_code"]) == (3, 3)
    assert "can't write" in done.stderr


def test_every_failure_has_the_same_shape(on_phone: OnPhone, heapprof: Callable[..., Ended], model: Path) -> None:
    good = on_phone.run("--format", "json", model).json
    for arguments in (["run", "--soc", "SM9"], ["run"], ["demo", "nofile"], ["frobnicate"], ["run", "nofile"]):
        failed = heapprof(*arguments, "--format", "json")
        assert failed.json.keys() == good.keys(), arguments


def test_many_models_are_one_run(on_phone: OnPhone, model: Path) -> None:
    done = on_phone.run("--format", "json", *[model] * 250)
    assert done.code == 0, done.stderr
    assert len(done.json["model"]) == 250


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--timeout", "nan"], 2),
        (["--wait", "nan"], 2),
        (["--cache-limit", "9" * 400], 2),
        (["-H", "x" * 70], 4),
        (["-H", ".."], 4),
        (["-i", "/dev/zero"], 2),
        (["-i", "fifo"], 2),
        (["-i", "list"], 2),
        (["--runner-target", "linux-arm64"], 6),
    ],
)
def test_odd_values(on_phone: OnPhone, model: Path, tmp_path: Path, arguments: list[str], code: int) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "list").write_text("fifo\n")
    done = on_phone.run("--format", "json", *arguments, model, cwd=tmp_path, timeout=30)
    assert done.code == code, done.stderr
    assert done.json["error"]["hints"] is not None


def test_links_in_the_workspace_are_not_followed(on_phone: OnPhone, model: Path) -> None:
    base = on_phone.phone.host_path("/data/local/tmp")
    foreign, workspace = base / "foreign", base / "linked"
    (foreign / "0123456789abcdef").mkdir(parents=True)
    (foreign / "0123456789abcdef" / "mine").write_text("x")
    (foreign / "verified").write_text("my")
    (foreign / ("a" * 64)).write_text("y")
    workspace.mkdir()
    for name in ("runs", "cache"):
        (workspace / name).symlink_to("../foreign")
    for path in (base, *base.rglob("*")):
        os.chown(path, 2000, 2000, follow_symlinks=False)
    before = sorted(path.name for path in foreign.rglob("*"))
    try:
        done = on_phone.run("--workspace", "/data/local/tmp/linked", "--format", "json", model)
        assert done.code == 4 and "symbolic link" in done.json["error"]["message"]
        cleaned = on_phone.heapprof("clean", *on_phone.flags()[:4], "--workspace", "/data/local/tmp/linked")
        assert cleaned.code == 4 and "symbolic link" in cleaned.stderr
        assert sorted(path.name for path in foreign.rglob("*")) == before
    finally:
        for path in sorted([*foreign.rglob("*"), *workspace.rglob("*")], reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        foreign.rmdir()
        workspace.rmdir()


def test_interrupts_at_any_moment_leave_nothing(standin: Callable[..., Path], model: Path, tmp_path: Path) -> None:
    with VirtualPhone(latency=0.05) as phone:
        flags = ["--serial", phone.serial, "--adb-port", str(phone.adb_port), "--workspace", phone.workspace]
        command = [sys.executable, "-m", "heapprof_cli", "run", "-q", "--format", "json", *flags, str(model)]
        for moment in range(12):
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(tmp_path)
            )
            time.sleep(0.25 + 0.12 * moment)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            if process.returncode == -signal.SIGINT and b"heapprof:" not in err:
                continue  # on a busy machine Python itself may not have got to our first line yet
            assert process.returncode in (0, 130), err
            assert litter(phone) == [], f"interrupted after {0.25 + 0.12 * moment:.2f} s: {err.decode()}"
            if out:
                assert json.loads(out)["exit_code"] == process.returncode


def test_dry_run_shows_what_a_run_does(
    heapprof: Callable[..., Ended], standin: Callable[..., Path], model: Path
) -> None:
    done = heapprof("run", "--dry-run", "--format", "json", "--adb-port", "1", "--qnn-libs", standin(), model)
    assert done.code == 0, done.stderr
    text = "\n".join(done.json["commands"])
    for part in ("lease=taken", "sha256sum", ".part.", 'ln "$C/$1"', "--heap_profiling_path=", "lease=released"):
        assert part in text, part
    assert "linux-x86_64" in done.json["commands"][0]


def test_models_of_every_kind_are_in_the_help(heapprof: Callable[..., Ended]) -> None:
    assert ".pte" in heapprof("run", "--help").stdout
    assert "linux-x86_64" in heapprof("runner", "path", "foo").stderr
