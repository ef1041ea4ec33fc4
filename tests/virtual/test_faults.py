"""Each fault happens where it was asked for, as often as asked for, and the phone is well afterwards."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from heapprof_cli.virtual import VirtualPhone
from heapprof_cli.virtual.faults import Fault, FaultPlan, Operation
from tests.virtual.conftest import Adb, eventually, said


@pytest.fixture
def place(phone: VirtualPhone) -> str:
    return phone.workspace.rpartition("/")[0]


@pytest.fixture
def big(tmp_path: Path) -> Path:
    path = tmp_path / "big"
    path.write_bytes(os.urandom(3_000_000))
    return path


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_well(adb: Adb, place: str, big: Path) -> None:
    """The phone serves a push again, and holds no part of a broken one."""
    adb.phone.connect()
    assert adb("push", big, f"{place}/well").returncode == 0
    assert sha(adb.phone.host_path(f"{place}/well")) == sha(big)
    assert adb.shell(f"cd {place}; rm well; ls") == ""


# transfers


@pytest.mark.parametrize("action", ["drop", "offline"])
@pytest.mark.parametrize("after", [0, 1_500_000])
def test_a_connection_lost_in_a_push(adb: Adb, place: str, big: Path, action: str, after: int) -> None:
    number = adb.phone.faults.add(Fault(action, command="SEND", after_bytes=after, seconds=0.2))  # type: ignore[arg-type]
    done = adb("push", big, f"{place}/f")
    assert done.returncode == 1
    assert adb.phone.faults.happened(number) == 1
    eventually(lambda: not adb.phone.host_path(f"{place}/f").exists())
    is_well(adb, place, big)


@pytest.mark.parametrize("after", [0, 1_500_000])
def test_a_failed_push_says_why(adb: Adb, place: str, big: Path, after: int) -> None:
    adb.phone.faults.add(Fault("fail", command="SEND", after_bytes=after, text="write failed: No space left on device"))
    done = adb("push", big, f"{place}/f")
    assert done.returncode == 1 and "remote write failed: No space left on device" in said(done)
    is_well(adb, place, big)


@pytest.mark.parametrize("command", ["SEND", "RECV", "STAT"])
def test_a_stalled_transfer_hangs_and_can_be_given_up(adb: Adb, place: str, big: Path, command: str) -> None:
    adb("push", big, f"{place}/f")
    adb.phone.faults.add(Fault("stall", command=command, after_bytes=0 if command == "STAT" else 100_000))
    arguments = ("push", big, f"{place}/f") if command == "SEND" else ("pull", f"{place}/f", big.parent / "g")
    with pytest.raises(subprocess.TimeoutExpired):
        adb(*arguments, timeout=0.8)
    adb.shell(f"rm -f {place}/f")
    is_well(adb, place, big)


def test_a_corrupted_push_tells_nobody(adb: Adb, place: str, big: Path) -> None:
    adb.phone.faults.add(Fault("corrupt", command="SEND", after_bytes=1_000_000))
    assert adb("push", big, f"{place}/f").returncode == 0
    there = adb.phone.host_path(f"{place}/f").read_bytes()
    changed = [n for n, (a, b) in enumerate(zip(there, big.read_bytes(), strict=True)) if a != b]
    assert len(changed) == 16 and 1_000_000 - 65536 < changed[0] <= 1_000_000
    adb.shell(f"rm {place}/f")


@pytest.mark.parametrize("command", ["SEND", "RECV"])
def test_a_truncated_transfer_tells_nobody(adb: Adb, place: str, big: Path, command: str) -> None:
    if command == "RECV":
        adb("push", big, f"{place}/f")
    adb.phone.faults.add(Fault("truncate", command=command, after_bytes=1_000_000))
    if command == "SEND":
        assert adb("push", big, f"{place}/f").returncode == 0
        result = adb.phone.host_path(f"{place}/f")
    else:
        adb("pull", f"{place}/f", big.parent / "back")  # versions differ in whether they notice
        result = big.parent / "back"
    assert 900_000 < result.stat().st_size < 1_100_000
    adb.shell(f"rm {place}/f")


def test_a_corrupted_pull_and_the_next_is_right(adb: Adb, place: str, big: Path) -> None:
    adb("push", big, f"{place}/f")
    adb.phone.faults.add(Fault("corrupt", command="RECV", path="*/f"))
    back = big.parent / "back"
    assert adb("pull", f"{place}/f", back).returncode == 0 and sha(back) != sha(big)
    assert adb("pull", f"{place}/f", back).returncode == 0 and sha(back) == sha(big)
    adb.shell(f"rm {place}/f")


@pytest.mark.parametrize("action", ["garbage", "refuse", "truncate", "corrupt"])
def test_a_broken_answer_to_stat(adb: Adb, place: str, big: Path, action: str) -> None:
    adb("push", big, f"{place}/f")
    number = adb.phone.faults.add(Fault(action, command="STAT"))  # type: ignore[arg-type]
    assert adb("pull", f"{place}/f", big.parent / "back").returncode != 0
    assert adb.phone.faults.happened(number) == 1
    adb.shell(f"rm {place}/f")
    is_well(adb, place, big)


def test_sync_refused(adb: Adb, place: str, big: Path) -> None:
    adb.phone.faults.add(Fault("refuse", service="sync:"))
    assert adb("push", big, f"{place}/f").returncode == 1
    is_well(adb, place, big)


# shells


@pytest.mark.parametrize("action", ["drop", "reboot", "offline", "truncate"])
def test_a_shell_cut_off(adb: Adb, action: str) -> None:
    number = adb.phone.faults.add(Fault(action, service="shell*yes*", after_bytes=100_000, seconds=0.1))  # type: ignore[arg-type]
    done = adb("shell", "yes | head -c 10000000; sleep 309")
    assert len(done.stdout) < 1_000_000 and done.returncode in (1, 255)
    adb.phone.connect()
    assert adb.phone.faults.happened(number) == 1  # also after the reboot: it does not happen again
    assert adb.shell("echo well") == "well\n"
    adb("shell", "kill $(grep -l 309 /proc/[0-9]*/cmdline | cut -d/ -f3)")


@pytest.mark.parametrize("after", [0, 1])
def test_a_killed_shell(adb: Adb, after: int) -> None:
    adb.phone.faults.add(Fault("kill", service="shell*sleep 310*", after_bytes=after))
    assert adb("shell", "echo started; sleep 310").returncode == 137
    eventually(lambda: adb.phone.processes() == [])


def test_a_shell_that_fails_at_once(adb: Adb) -> None:
    adb.phone.faults.add(Fault("fail", service="shell*", text="out of memory"))
    done = adb("shell", "echo x")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"out of memory\n")


@pytest.mark.parametrize("action", ["refuse", "garbage", "truncate"])
def test_a_shell_that_does_not_start(adb: Adb, action: str) -> None:
    adb.phone.faults.add(Fault(action, service="shell*"))  # type: ignore[arg-type]
    assert adb("shell", "echo x").stdout != b"x\n"
    assert adb.shell("echo x") == "x\n"


@pytest.mark.parametrize("after", [0, 3])
def test_corrupted_output(adb: Adb, after: int) -> None:
    adb.phone.faults.add(Fault("corrupt", service="shell*", after_bytes=after))
    done = adb("shell", "echo -n text; exit 3")
    assert (done.returncode, len(done.stdout)) == (3, 4) and done.stdout != b"text"


def test_a_stalled_shell(adb: Adb) -> None:
    adb.phone.faults.add(Fault("stall", service="shell*"))
    with pytest.raises(subprocess.TimeoutExpired):
        adb("shell", "echo x", timeout=0.5)
    assert adb.shell("echo x") == "x\n"


# connections


@pytest.mark.parametrize("action", ["drop", "garbage"])
def test_a_connection_refused_once(adb: Adb, action: str) -> None:
    number = adb.phone.faults.add(Fault(action, service="connect"))  # type: ignore[arg-type]
    assert adb.phone.connect().startswith("connected")
    assert adb.phone.faults.happened(number) == 1
    assert adb.shell("echo x") == "x\n"


def test_a_silent_phone_is_offline() -> None:
    with VirtualPhone() as phone:
        assert phone.adb_server is not None
        phone.faults.add(Fault("stall", service="connect", times=None))
        phone.drop()
        eventually(lambda: phone.adb_server and phone.adb_server.states().get(phone.serial) in ("offline", None))
        assert Adb(phone)("shell", "true").returncode == 1


# how often and where


def test_times_and_skip(adb: Adb) -> None:
    number = adb.phone.faults.add(Fault("refuse", service="shell*", skip=1, times=2))
    assert [adb("shell", "true").returncode for _ in range(5)] == [0, 1, 1, 0, 0]
    assert adb.phone.faults.happened(number) == 2
    adb.phone.faults.clear()
    always = adb.phone.faults.add(Fault("refuse", service="shell*", times=None))
    assert [adb("shell", "true").returncode for _ in range(3)] == [1, 1, 1]
    assert adb.phone.faults.happened(always) == 3


def test_what_a_fault_is_for() -> None:
    send = Operation("sync:", "SND2", "/data/x")
    assert Fault("drop", command="SEND").matches(send)
    assert Fault("drop", command="SND2").matches(send)
    assert Fault("drop", command="SEND", path="*/x").matches(send)
    assert Fault("drop", service="sync:", after_bytes=1).matches(send)
    assert not Fault("drop", service="sync:").matches(send)
    assert not Fault("drop", command="RECV").matches(send)
    assert not Fault("drop", command="SEND", path="*/y").matches(send)
    assert Fault("drop", service="sync:").matches(Operation("sync:"))
    assert not Fault("drop", service="sync:", after_bytes=1).matches(Operation("sync:"))
    assert not Fault("drop").matches(Operation("connect"))
    assert Fault("drop", service="connect").matches(Operation("connect"))
    assert not Fault("drop", command="SEND").matches(Operation("shell:ls"))
    for wrong in ({"action": "explode"}, {"action": "kill", "command": "SEND"}):
        with pytest.raises(ValueError, match="fault"):
            Fault(**wrong)  # type: ignore[arg-type]


def test_bytes_are_counted_exactly() -> None:
    plan = FaultPlan()
    plan.add(Fault("drop", service="shell*", after_bytes=10))
    watch = plan.begin(Operation("shell:x"))
    assert watch.at_start() is None and watch.passing(10) is None and watch.passing(1) is not None
    assert plan.begin(Operation("shell:x")).passing(100) is None


# a slow link


def test_latency_delays_each_packet_but_not_their_number(phone: VirtualPhone, adb: Adb) -> None:
    adb.shell("true")
    begun = time.monotonic()
    phone.set_latency(0.1)
    try:
        many = [adb.start(f"exit {n}") for n in range(5)]
        assert [process.wait(20) for process in many] == [0, 1, 2, 3, 4]
        took = time.monotonic() - begun
        # A shell needs two round trips of 0.2 s; five side by side need hardly more.
        assert 0.39 <= took < 1.5
    finally:
        phone.set_latency(0)
        for process in many:
            assert process.stdout is not None
            process.stdout.close()


def test_bandwidth_bounds_what_the_link_carries_both_ways(
    phone: VirtualPhone, adb: Adb, place: str, big: Path, tmp_path: Path
) -> None:
    phone.set_bandwidth(6_000_000)
    try:
        begun = time.monotonic()
        assert adb("push", big, f"{place}/slow").returncode == 0
        pushed = time.monotonic()
        assert adb("pull", f"{place}/slow", tmp_path / "back").returncode == 0
        pulled = time.monotonic()
    finally:
        phone.set_bandwidth(None)
        adb.shell(f"rm {place}/slow")
    assert sha(tmp_path / "back") == sha(big)
    # 3 MB each way; a link may be slower than asked for, never faster.
    assert pushed - begun >= 0.49
    assert pulled - pushed >= 0.49
