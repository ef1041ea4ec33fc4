"""The shell scripts for a phone do what they say in every shell at hand, and run nothing foreign."""

import shutil
import subprocess
from pathlib import Path

import pytest

from heapprof_cli.device import cache, scripts
from heapprof_cli.device.scripts import RunFolder

SHELLS = [shell for shell in ("sh", "mksh", "bash") if shutil.which(shell)]


def run(shell: str, script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([shell, "-c", script], capture_output=True, text=True, timeout=30, check=False)


def store(folder: RunFolder) -> str:
    return cache.private_store(folder)


@pytest.fixture(
    params=["plain", "with space", "qu'ote\"s", "$(touch x)", "`touch x`", "-dash", "ünï", "a;touch x", "*"]
)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> RunFolder:
    return RunFolder(f"{tmp_path}/{request.param}", "00ff00ff00ff00ff")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_run_folder_lives_and_goes(shell: str, folder: RunFolder, tmp_path: Path) -> None:
    assert run(shell, scripts.prepare(folder, store(folder))).returncode == 0
    assert Path(folder.path).is_dir()
    assert run(shell, scripts.prepare(folder, store(folder))).returncode != 0, "a folder that exists is not fresh"
    assert run(shell, scripts.remove(folder)).returncode == 0
    assert list(tmp_path.iterdir()) == [], "nothing left behind, nothing else made"


@pytest.mark.parametrize("shell", SHELLS)
def test_removing_keeps_what_is_not_ours(shell: str, tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "w"), "00ff00ff00ff00ff")
    run(shell, scripts.prepare(folder, store(folder)))
    (tmp_path / "w" / "mine.txt").write_text("x")
    assert run(shell, scripts.remove(folder)).returncode == 0
    assert [p.name for p in (tmp_path / "w").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("shell", SHELLS)
def test_start_passes_words_and_variables_unchanged(shell: str, folder: RunFolder, tmp_path: Path) -> None:
    run(shell, scripts.prepare(folder, store(folder)))
    runner = Path(folder.file("heapprof_runner"))
    runner.write_text('#!/bin/sh\nprintf "%s\\n" "$A" "$@"\necho $$ >&2\n')
    words = ["--x=a b", "$(touch x)", "'", '"', "-n", "ünï", "a\\b", "*"]
    done = run(shell, scripts.start(folder, {"A": "/p;/q $HOME"}, words))
    assert done.stdout.splitlines() == ["/p;/q $HOME", *words]
    assert done.stderr.strip() == Path(folder.file("pid")).read_text().strip(), "the shell became the runner"
    assert not list(tmp_path.rglob("x"))


@pytest.mark.parametrize("shell", SHELLS)
def test_look_tells_fresh_older_and_absent(shell: str, folder: RunFolder) -> None:
    run(shell, scripts.prepare(folder, store(folder)))
    heap, marker = Path(folder.file(folder.heap_name)), Path(folder.file("started"))
    marker.write_text("")
    assert "heap=absent" in run(shell, scripts.look(folder)).stdout.splitlines()
    heap.write_text("x")
    assert "heap=fresh" in run(shell, scripts.look(folder)).stdout.splitlines()
    import os

    os.utime(heap, (1_000_000_000, 1_000_000_000))
    assert "heap=older" in run(shell, scripts.look(folder)).stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_look_names_heap_files_of_other_runs(shell: str, folder: RunFolder) -> None:
    run(shell, scripts.prepare(folder, store(folder)))
    other = Path(folder.workspace) / "old.txt"
    other.write_text("DSP:before_context_created (bytes), 1\n")
    (Path(folder.workspace) / "unrelated.txt").write_text("hello\n")
    lines = run(shell, scripts.look(folder)).stdout.splitlines()
    assert [line for line in lines if line.startswith("other=")] == [f"other={other}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_stop_ends_only_processes_of_the_run(shell: str, tmp_path: Path) -> None:
    import uuid

    run_id = uuid.uuid4().hex[:16]
    stubborn = "trap '' TERM; while :; do sleep 0.05; done"
    mine = subprocess.Popen(["sh", "-c", stubborn, "sh", f"--heap_profiling_path=heap_{run_id}.txt"])
    other = subprocess.Popen(["sh", "-c", stubborn, "sh", f"--heap_profiling_path=heap_{uuid.uuid4().hex[:16]}.txt"])
    try:
        done = run(shell, scripts.stop(RunFolder(str(tmp_path), run_id)))
        assert mine.wait(10) == -9
        assert done.stdout.strip() == "left=0"
        assert other.poll() is None
    finally:
        mine.kill()
        other.kill()
        other.wait()


@pytest.mark.parametrize("shell", SHELLS)
def test_probe_tells_the_machine_and_free_space(shell: str, tmp_path: Path) -> None:
    lines = run(shell, scripts.probe(f"{tmp_path}/not/there yet")).stdout.splitlines()
    machine = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()
    assert f"machine={machine}" in lines
    assert [line for line in lines if line.startswith("df=") and "%" in line]
