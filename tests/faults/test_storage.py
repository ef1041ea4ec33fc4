"""A phone whose storage is full or can't be written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli.virtual import VirtualPhone
from tests.conftest import Ended, OnPhone, wait_until
from tests.faults.tools import Started, check_nothing_left, check_truth, on_phone_shell, runners, unique_numbers

FILL = "dd if=/dev/zero of=/data/local/tmp/fill bs=4096 2>/dev/null; true"


@pytest.fixture
def small(heapprof: Callable[..., Ended]) -> Iterator[OnPhone]:
    """A phone with 4 MiB of storage: a real file system that really fills."""
    with VirtualPhone(data_size=4 * 1024 * 1024) as phone:
        if not phone.isolated:
            pytest.skip(f"needs a private root: {phone.isolation}")
        yield OnPhone(phone, heapprof)


def measure(on: OnPhone, libs: Path, model: Path) -> Ended:
    return on.run("--qnn-libs", libs, "--format", "json", model)


@pytest.mark.parametrize("free_kib", [0, 8, 64])
def test_no_space_for_the_artifacts(small: OnPhone, standin: Callable[..., Path], model: Path, free_kib: int) -> None:
    before, after = unique_numbers(f"full {free_kib}")
    on_phone_shell(
        small.phone, f"dd if=/dev/zero of=/data/local/tmp/spare bs=1024 count={free_kib} 2>/dev/null; {FILL}"
    )
    on_phone_shell(small.phone, "rm -f /data/local/tmp/spare")
    done = measure(small, standin(before=before, after=after), model)
    assert done.code == 4, done.stderr
    check_truth(done, before, after)
    assert "No space left" in done.json["error"]["message"]
    assert any("space" in hint for hint in done.json["error"]["hints"])
    on_phone_shell(small.phone, "rm -f /data/local/tmp/fill")
    check_nothing_left(small.phone)
    again = measure(small, standin(before=before, after=after), model)
    assert again.code == 0, again.stderr
    check_truth(again, before, after)
    check_nothing_left(small.phone)


def test_space_that_runs_out_during_the_run(
    small: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    before, after = unique_numbers("full later")
    libs = standin(before=before, after=after, create_delay_ms=1500)
    run = Started(tmp_path, ["run", *small.flags(), "--qnn-libs", libs, "--format", "json", model])
    wait_until(lambda: bool(runners(small.phone)), "the runner never started")
    time.sleep(0.3)  # past the start of its status file
    on_phone_shell(small.phone, FILL)
    done = run.ended()
    assert done.code == 5, done.stderr
    check_truth(done, before, after)
    assert "No space left" in done.json["error"]["message"] or "space" in " ".join(done.json["error"]["hints"])
    on_phone_shell(small.phone, "rm -f /data/local/tmp/fill")
    check_nothing_left(small.phone)
    assert measure(small, libs, model).code == 0


@pytest.fixture
def read_only(heapprof: Callable[..., Ended]) -> Iterator[OnPhone]:
    with VirtualPhone(data_read_only=True) as phone:
        if not phone.isolated:
            pytest.skip(f"needs a private root: {phone.isolation}")
        yield OnPhone(phone, heapprof)


def test_a_read_only_phone(read_only: OnPhone, model: Path) -> None:
    done = read_only.run("--format", "json", model)
    assert (done.code, done.json["error"]["stage"]) == (4, "prepare")
    assert "Read-only" in done.json["error"]["message"]
    assert "--workspace" in done.json["error"]["hints"][0]


def test_a_workspace_that_cant_be_written(on_phone: OnPhone, model: Path) -> None:
    folder = "/data/local/tmp/closed"
    on_phone_shell(on_phone.phone, f"mkdir {folder} && chmod 555 {folder}")
    try:
        done = on_phone.run("--workspace", f"{folder}/w", "--format", "json", model)
        assert (done.code, done.json["error"]["stage"]) == (4, "prepare")
        assert "Permission denied" in done.json["error"]["message"]
    finally:
        on_phone_shell(on_phone.phone, f"chmod 755 {folder}; rmdir {folder}")
    assert on_phone.run(model).code == 0
