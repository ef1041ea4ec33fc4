"""The phone's cache and lease, as scripts in every shell at hand and as decisions of the host."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device import cache, lease, scripts
from heapprof_cli.device.cache import Entry, Inventory
from heapprof_cli.device.capture import Capture
from heapprof_cli.device.lease import Owner
from heapprof_cli.device.phone import Phone
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.selection import DeviceEntry
from heapprof_cli.device.server import AdbServer
from heapprof_cli.device.shell import ShellResult
from heapprof_cli.records import Artifact

SHELLS = [shell for shell in ("sh", "mksh", "bash") if shutil.which(shell)]
pytestmark = pytest.mark.parametrize("shell", SHELLS)


def run(shell: str, script: str) -> str:
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout


def artifact(content: bytes, name: str = "a.so") -> Artifact:
    return Artifact(name, "/x", name, hashlib.sha256(content).hexdigest(), len(content))


def received(store: str, run_id: str, content: bytes, wanted: Artifact) -> None:
    Path(store).mkdir(parents=True, exist_ok=True)
    Path(cache.part(store, run_id, wanted)).write_bytes(content)


def inventory(shell: str, store: str) -> Inventory:
    return cache.parse_inventory(run(shell, cache.inventory(store)).splitlines())


@pytest.fixture
def place(tmp_path: Path) -> RunFolder:
    return RunFolder(f"{tmp_path}/w $(touch x) 'q'", "00ff00ff00ff00ff")


def test_only_what_was_verified_is_present(shell: str, place: RunFolder) -> None:
    store = cache.shared_store(place.workspace)
    good, bad = artifact(b"good"), artifact(b"bad")
    received(store, place.run_id, b"good", good)
    received(store, place.run_id, b"BAD", bad)
    told = run(shell, cache.verify(store, place.run_id, [good, bad], []))
    assert f"good={good.sha256}" in told and f"bad={bad.sha256}" in told
    found = inventory(shell, store)
    assert found.has(good) and not found.has(bad)
    assert sorted(p.name for p in Path(store).iterdir()) == sorted([good.sha256, "verified"])


def test_a_change_on_the_phone_is_noticed(shell: str, place: RunFolder) -> None:
    store = cache.shared_store(place.workspace)
    good = artifact(b"good")
    received(store, place.run_id, b"good", good)
    run(shell, cache.verify(store, place.run_id, [good], []))
    file = Path(store) / good.sha256
    os.utime(file, (1, 1))
    assert inventory(shell, store).doubtful(good), "same size, other time: to be hashed again"
    assert f"good={good.sha256}" in run(shell, cache.verify(store, place.run_id, [], [good]))
    assert inventory(shell, store).has(good)
    file.write_bytes(b"evil")
    os.utime(file, (2, 2))
    assert f"bad={good.sha256}" in run(shell, cache.verify(store, place.run_id, [], [good]))
    assert not file.exists()
    file.write_bytes(b"of another size")
    found = inventory(shell, store)
    assert not found.has(good) and not found.doubtful(good)


def test_links_bring_artifacts_into_the_run(shell: str, place: RunFolder) -> None:
    store = cache.shared_store(place.workspace)
    first, second = artifact(b"one", "one.so"), artifact(b"two", "two [x].bin")
    run(shell, scripts.prepare(place, store))
    for content, wanted in ((b"one", first), (b"two", second)):
        received(store, place.run_id, content, wanted)
    run(shell, cache.verify(store, place.run_id, [first, second], []))
    done = subprocess.run([shell, "-c", cache.link(store, place, [first, second])], check=False)
    assert done.returncode == 0
    assert Path(place.file("two [x].bin")).read_bytes() == b"two"
    assert Path(place.file("one.so")).stat().st_ino == (Path(store) / first.sha256).stat().st_ino
    assert os.access(place.file("one.so"), os.X_OK)
    found = inventory(shell, store)
    assert set(run(shell, cache.recency(store)).split()) == {first.sha256, second.sha256}
    assert found.entries[first.sha256].links == 2
    gone = subprocess.run([shell, "-c", cache.link(store, place, [artifact(b"gone", "gone")])], check=False)
    assert gone.returncode == 96


def test_evictions_take_the_least_recently_used_and_nothing_in_use(shell: str) -> None:
    a, b, c, d = (Entry(letter * 64, i, 100, 5, 1) for i, letter in enumerate("abcd"))
    used = Entry("e" * 64, 9, 100, 5, 2)
    found = Inventory({e.sha256: e for e in (a, b, c, d, used)}, frozenset())
    new = Artifact("n", "/n", "n", "f" * 64, 100)

    def evicted(limit: int) -> list[str]:
        missing = cache.missing_space(found, [new], limit)
        return cache.choose_evictions(found, [new], missing, (b.sha256, a.sha256, used.sha256))

    assert evicted(600) == []
    assert evicted(500) == [c.sha256], "never used counts as oldest"
    assert evicted(300) == [c.sha256, d.sha256, b.sha256]
    assert set(evicted(0)) == {a.sha256, b.sha256, c.sha256, d.sha256}


def test_clean_takes_only_what_is_ours(shell: str, place: RunFolder) -> None:
    store = cache.shared_store(place.workspace)
    good = artifact(b"good" * 10_000)
    run(shell, scripts.prepare(place, store))
    received(store, place.run_id, b"good" * 10_000, good)
    run(shell, cache.verify(store, place.run_id, [good], []) + "; true")
    run(shell, cache.link(store, place, [good]))
    received(store, place.run_id, b"half", good)
    mine = Path(place.workspace) / "mine.txt"
    mine.write_text("x")
    freed = run(shell, scripts.clean(place.workspace))
    assert int(freed.strip().removeprefix("freed=")) >= 36
    assert [p.name for p in Path(place.workspace).iterdir()] == ["mine.txt"]
    mine.unlink()
    run(shell, scripts.clean(place.workspace))
    assert not Path(place.workspace).exists()
    assert run(shell, scripts.clean(place.workspace)).strip() == "freed=0"


def owner(number: int) -> Owner:
    return Owner(f"{number:016x}", "user name", "host-1", number)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workspace whose lease lies in it, as on systems without Android's shared folder."""
    monkeypatch.setattr("heapprof_cli.device.lease._SHARED_FOLDER", f"{tmp_path}/absent")
    return f"{tmp_path}/w x"


def test_a_lease_excludes_until_released(shell: str, workspace: str) -> None:
    assert "lease=free" in run(shell, lease.show(workspace))
    assert run(shell, lease.take(workspace, owner(1), None)).strip() == "lease=taken"
    busy = lease.parse(run(shell, lease.take(workspace, owner(2), None)))
    assert busy is not None and busy.owner == Owner(owner(1).token, "user_name", "host-1", 1)
    assert busy.seconds_left is not None and 50 < busy.seconds_left <= lease.SECONDS
    assert "lease=lost" in run(shell, lease.renew(workspace, owner(2)))
    assert "lease=renewed" in run(shell, lease.renew(workspace, owner(1)))
    run(shell, lease.release(workspace, owner(2)))
    assert lease.parse(run(shell, lease.show(workspace))) is not None, "others can't release it"
    assert "lease=released" in run(shell, lease.release(workspace, owner(1)))
    assert "lease=taken" in run(shell, lease.take(workspace, owner(2), None))


def test_a_lease_is_broken_when_its_owner_is_gone_or_it_expired_or_the_phone_rebooted(
    shell: str, workspace: str
) -> None:
    run(shell, lease.take(workspace, owner(1), None))
    assert "lease=busy" in run(shell, lease.take(workspace, owner(2), owner(3).token))
    told = run(shell, lease.take(workspace, owner(2), owner(1).token))
    assert told.split() == [f"broken={owner(1).token}", "lease=taken"]
    file = Path(workspace) / ".heapprof-lease" / "owner"
    words = file.read_text().split()
    file.write_text(" ".join(["1", *words[1:]]) + "\n")
    assert "lease=taken" in run(shell, lease.take(workspace, owner(3), None)), "expired"
    words = file.read_text().split()
    file.write_text(" ".join([words[0], "another-boot", *words[2:]]) + "\n")
    assert "lease=free" in run(shell, lease.show(workspace))
    assert "lease=taken" in run(shell, lease.take(workspace, owner(4), None)), "rebooted"
    assert [p.name for p in Path(workspace).iterdir()] == [".heapprof-lease"]


def test_a_half_taken_lease_holds_for_a_while_only(shell: str, workspace: str) -> None:
    folder = Path(workspace) / ".heapprof-lease"
    folder.mkdir(parents=True)
    assert "lease=busy" in run(shell, lease.take(workspace, owner(1), None))
    os.utime(folder, (1, 1))
    assert "lease=taken" in run(shell, lease.take(workspace, owner(1), None))


def test_of_many_breakers_one_wins(shell: str, workspace: str) -> None:
    run(shell, lease.take(workspace, owner(99), None))
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda i: run(shell, lease.take(workspace, owner(i), owner(99).token)), range(8)))
    assert sum("lease=taken" in text for text in told) == 1
    assert sum("broken=" in text for text in told) == 1


@pytest.mark.parametrize(
    ("answer", "busy"),
    [
        ("lease=taken\n", False),
        ("lease=busy\n", True),
        ("lease=busy t u h 1 9\n", True),
        ("lease=busy t u h 1 0\n", True),
        ("lease=busy t u h 1 -7\n", True),
        ("lease=busy what is this\n", True),
        ("lease=taken\nlease=busy t u h 1 0\n", True),
    ],
)
def test_a_phone_that_may_be_in_use_is_never_ours(
    shell: str, monkeypatch: pytest.MonkeyPatch, answer: str, busy: bool
) -> None:
    stdout = Capture()
    stdout.add(answer.encode())
    monkeypatch.setattr(Phone, "_shell", lambda *_: ShellResult(0, stdout, Capture()))
    phone = Phone(AdbServer(ServerAddress(port=1)), DeviceEntry("s", "device"))
    opened = phone.open_run(RunFolder("/w/x", "0" * 16), "/w/x/cache", owner(1), None)
    assert (opened.busy is not None) == busy


def test_an_expired_lease_is_told_as_such(shell: str) -> None:
    for left, expired in (("5", False), ("0", True), ("-7", True), ("x", False)):
        state = lease.parse(f"lease=busy t u h 1 {left}")
        assert state is not None and state.expired == expired


def test_garbage_is_no_lease(shell: str) -> None:
    assert lease.parse("noise\n\x1b[31m") is None
    assert str(lease.parse("lease=busy a b")) == "someone who is just taking it"
    state = lease.parse("lease=busy t \x1b[31mu h 12 x")
    assert state is not None and state.owner is not None and "\x1b" not in str(state)
