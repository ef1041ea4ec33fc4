"""Several who want one phone, owners that die, servers that go, runners that are killed."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli.virtual import PrivateAdbServer, VirtualPhone
from heapprof_cli.virtual.faults import Fault
from tests.conftest import Ended, OnPhone, wait_until
from tests.faults.test_matrix import adb_programs
from tests.faults.tools import Started, check_nothing_left, check_truth, on_phone_shell, runners, unique_numbers

LEASE = "/data/local/tmp/.heapprof-lease"


@pytest.fixture(params=sorted(adb_programs()))
def own(request: pytest.FixtureRequest, heapprof: Callable[..., Ended]) -> Iterator[OnPhone]:
    """A phone of the test's own, on each generation of adb server at hand."""
    with VirtualPhone(adb=adb_programs()[request.param]) as phone:
        yield OnPhone(phone, heapprof)


def start(on: OnPhone, home: Path, libs: Path, model: Path, *more: str) -> Started:
    return Started(home, ["run", *on.flags(), "--qnn-libs", libs, "--format", "json", *more, model])


def running(on: OnPhone) -> None:
    wait_until(lambda: bool(runners(on.phone)), "the runner never started")


def measured_before(on: OnPhone) -> None:
    """Wait until the phone holds the first of the two numbers."""
    wait_until(
        lambda: any(b"before_bytes" in file.read_bytes() for file in Path(on.phone.root).rglob("status_*.json")),
        "the first number was never written",
    )


def kill_a_holder(on: OnPhone, home: Path, libs: Path, model: Path) -> None:
    """Somebody measures, and dies without a chance to clean up: the lease and a run's folder stay."""
    run = start(on, home, libs, model)
    running(on)
    run.process.kill()
    run.ended()


def test_eight_at_once_take_turns(own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path) -> None:
    numbers = [unique_numbers(f"turn {i}") for i in range(8)]
    runs = [
        start(own, tmp_path, standin(before=b, after=a, execute_delay_ms=100), model, "--wait", "80")
        for b, a in numbers
    ]
    most, done = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.is_set():
            lines = {line for _, line in own.phone.processes() if line.startswith("./heapprof_runner")}
            most = max(most, len(lines))  # a run's two processes have one command line
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for run, (before, after) in zip(runs, numbers, strict=True):
            ended = run.ended(100)
            assert ended.code == 0, ended.stderr
            check_truth(ended, before, after)
    finally:
        done.set()
        watcher.join()
    assert most == 1
    check_nothing_left(own.phone)


def test_a_second_server_is_excluded_too(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    first = start(own, tmp_path, standin(hang_stage="execute"), model)
    running(own)
    with PrivateAdbServer() as server:
        server.connect_afresh(own.phone.serial)
        flags = ["--serial", own.phone.serial, "--adb-port", str(server.port)]
        busy = own.heapprof("run", *flags, "--format", "json", model)
        assert (busy.code, busy.json["error"]["code"]) == (75, "busy")
        assert "measured by" in busy.json["error"]["message"] and "--wait" in busy.json["error"]["hints"][0]
        (listed,) = own.heapprof("devices", "--adb-port", str(server.port), "--format", "json").json["devices"]
        assert listed["lease"] and "process" in listed["lease"]
        second = Started(tmp_path, ["run", *flags, "--wait", "60", "--format", "json", model])
        time.sleep(0.5)
        assert second.process.poll() is None, "it waits"
        first.process.send_signal(signal.SIGINT)
        assert first.ended().code == 130
        waited = second.ended()
        assert waited.code == 0, waited.stderr
    check_nothing_left(own.phone)


def test_a_holder_killed_here_frees_the_phone_at_once(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    kill_a_holder(own, tmp_path, standin(hang_stage="execute"), model)
    done = own.run("--format", "json", model)
    assert done.code == 0, done.stderr
    assert "gone" in " ".join(done.json["warnings"])
    check_nothing_left(own.phone)


@pytest.mark.parametrize("pattern", ["shell*left=*", "shell*rm -rf *runs*"])
def test_a_takeover_whose_clearing_fails_is_tried_again(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path, pattern: str
) -> None:
    kill_a_holder(own, tmp_path, standin(hang_stage="execute"), model)
    number = own.phone.faults.add(Fault("kill", service=pattern))
    done = own.run("--format", "json", model)
    assert done.code == 0, done.stderr
    assert own.phone.faults.happened(number) == 1
    own.phone.faults.clear()
    check_nothing_left(own.phone)


def test_a_holder_killed_elsewhere_frees_the_phone_by_its_expiry(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    kill_a_holder(own, tmp_path, standin(hang_stage="execute"), model)
    # As if it had been another computer's, with ten seconds to go.
    on_phone_shell(
        own.phone,
        f"set -- $(cat {LEASE}/owner); u=$(cat /proc/uptime); "
        f"echo $((${{u%%.*}}+10)) $2 $3 $4 elsewhere $6 > {LEASE}/owner",
    )
    busy = own.run("--format", "json", model)
    assert busy.code == 75 and "elsewhere" in busy.json["error"]["message"]
    done = own.run("--wait", "60", "--format", "json", model)
    assert done.code == 0, done.stderr
    check_nothing_left(own.phone)


@pytest.mark.parametrize("who", ["supervisor", "child"])
def test_a_killed_runner(own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path, who: str) -> None:
    before, after = unique_numbers(who)
    run = start(own, tmp_path, standin(before=before, after=after, hang_stage="execute"), model)
    wait_until(lambda: len(runners(own.phone)) == 2, "the runner never started")
    pids = sorted(runners(own.phone))
    on_phone_shell(own.phone, f"kill -9 {pids[0] if who == 'supervisor' else pids[1]}")
    done = run.ended()
    assert (done.code, done.json["error"]["code"]) == (5, "runner_failed")
    assert "SIGKILL" in done.json["error"]["message"]
    check_truth(done, before, after)
    check_nothing_left(own.phone)
    assert own.run(model).code == 0


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_killed_server(own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path, when: str) -> None:
    before, after = unique_numbers(when)
    libs = standin(before=before, after=after, hang_stage="execute")
    server = own.phone.adb_server
    assert server is not None
    if when == "before":
        server.kill()
    run = start(own, tmp_path, libs, model)
    if when == "during":
        running(own)
        server.kill()
    done = run.ended()
    assert (done.code, done.json["error"]["code"]) == (4, "device")
    check_truth(done, before, after)
    server.start()
    own.phone.connect()
    wait_until(lambda: not runners(own.phone), "the runner outlived its connection")
    again = own.run("--wait", "5", "--format", "json", model)
    assert again.code == 0, again.stderr
    check_nothing_left(own.phone)


def test_a_pulled_cable_ends_the_runner(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    before, after = unique_numbers("cable")
    run = start(own, tmp_path, standin(before=before, after=after, hang_stage="execute"), model)
    measured_before(own)
    own.phone.go_offline(1.0)
    wait_until(lambda: not runners(own.phone), "the runner outlived the cable")
    done = run.ended()
    assert done.code == 4, done.stderr
    check_truth(done, before, after)
    assert done.json["before_bytes"] == before, "what was measured until then is kept"
    own.phone.connect()
    check_nothing_left(own.phone)
    assert own.run(model).code == 0


def test_ctrl_c_does_not_wait_for_a_transfer(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    number = own.phone.faults.add(Fault("stall", command="SEND", times=None))
    run = start(own, tmp_path, standin(before=3, after=4), model, "--stall-timeout", "60")
    wait_until(lambda: own.phone.faults.happened(number) > 0, "nothing was sent")
    run.process.send_signal(signal.SIGINT)
    done = run.ended(25)
    assert done.code == 130, done.stderr
    assert "cleaned up" in done.json["error"]["message"]
    own.phone.faults.clear()
    check_nothing_left(own.phone)


def test_a_second_ctrl_c_gives_up_at_once(
    own: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    own.phone.faults.add(Fault("stall", service="shell*left=*", times=None))
    run = start(own, tmp_path, standin(hang_stage="execute"), model, "--stall-timeout", "60")
    running(own)
    run.process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert run.process.poll() is None, "it cleans up"
    run.process.send_signal(signal.SIGINT)
    done = run.ended(10)
    assert done.code == 130, done.stderr
    assert "may still hold" in done.json["error"]["message"]
    own.phone.faults.clear()
    assert own.run("--wait", "5", model).code == 0
    check_nothing_left(own.phone)
