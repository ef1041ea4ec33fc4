"""The fault matrix: every step of a run meets every fault, on the real adb servers 36 and 29.

Whatever happens: the exit code and message of the contract, no number that is not this run's, no process,
lease or file left on the phone, and the next run succeeds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from heapprof_cli.virtual import VirtualPhone
from heapprof_cli.virtual.faults import Fault
from tests.conftest import Ended, OnPhone
from tests.faults.tools import check_nothing_left, check_truth, unique_numbers

OK, BAD_NUMBER, DEVICE, RUNNER, TIMEOUT = 0, 3, 4, 5, 7

SHELL_STEPS = {
    "survey": "shell*uname -m*",
    "lease": "shell*lease=taken*",
    "verify": 'shell*sha256sum "$1"*',
    "link": "shell*exit 96*",
    "run": "shell*exec ./heapprof_runner*",
    "look": "shell*heap=absent*",
    "close": "shell*lease=released*",
}
SHELL_ACTIONS = ("drop", "refuse", "stall", "truncate", "garbage", "corrupt", "reboot", "kill", "offline")
SYNC_ACTIONS = ("drop", "stall", "corrupt", "truncate", "garbage", "reboot", "offline")


@dataclass(frozen=True)
class Cell:
    """One fault at one step, and the exit codes that are right there."""

    name: str
    fault: Fault
    codes: tuple[int, ...]


def cells() -> Iterator[Cell]:
    for step, pattern in SHELL_STEPS.items():
        for action in SHELL_ACTIONS:
            # The measured run is never repeated; everything else may be, and then succeeds.
            codes: tuple[int, ...] = (OK,)
            if step == "run":
                codes = {"corrupt": (OK,), "stall": (TIMEOUT,), "kill": (RUNNER,)}.get(action, (DEVICE,))
            after = 1 if step == "run" and action not in ("refuse", "stall") else 0
            yield Cell(f"{step}-{action}", Fault(action, service=pattern, after_bytes=after, seconds=0.5), codes)  # type: ignore[arg-type]
    for command in ("SEND", "RECV"):
        for action in SYNC_ACTIONS:
            yield Cell(f"{command}-{action}", Fault(action, command=command, seconds=0.5), (OK,))  # type: ignore[arg-type]
    for action in ("drop", "stall", "corrupt", "fail"):
        code = TIMEOUT if action == "stall" else DEVICE
        fault = Fault(action, command="SEND", times=None, text="couldn't create file: Permission denied")  # type: ignore[arg-type]
        yield Cell(f"SEND-always-{action}", fault, (code,))
    for step in ("survey", "look"):
        for action, code in (("drop", DEVICE), ("stall", TIMEOUT), ("garbage", DEVICE)):
            yield Cell(f"{step}-always-{action}", Fault(action, service=SHELL_STEPS[step], times=None), (code,))  # type: ignore[arg-type]


CELLS = list(cells())
WORDS = {
    DEVICE: ("phone", "makes no sense", "Permission denied", "connection"),
    TIMEOUT: ("more than", "nothing moved", "did not end"),
}


def adb_programs() -> dict[str, Path | None]:
    debian = shutil.which("adb", path="/usr/bin")
    return {"adb36": None, **({"adb29": Path(debian)} if debian else {})}


@pytest.fixture(scope="module", params=sorted(adb_programs()))
def any_phone(request: pytest.FixtureRequest) -> Iterator[VirtualPhone]:
    """A phone on each generation of adb server at hand."""
    with VirtualPhone(adb=adb_programs()[request.param]) as phone:
        yield phone


@pytest.fixture
def faulty(any_phone: VirtualPhone, heapprof: Callable[..., Ended]) -> Iterator[OnPhone]:
    yield OnPhone(any_phone, heapprof)
    any_phone.faults.clear()


def measure(faulty: OnPhone, libs: Path, model: Path) -> Ended:
    return faulty.run(
        "--stall-timeout", "3", "--timeout", "3", "--wait", "5", "--qnn-libs", libs, "--format", "json", model
    )


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_cell(faulty: OnPhone, standin: Callable[..., Path], model: Path, cell: Cell) -> None:
    before, after = unique_numbers(cell.name)
    # Some steps happen only when something has to be sent: the behaviour file is new for each cell.
    libs = standin(before=before, after=after)
    number = faulty.phone.faults.add(cell.fault)
    done = measure(faulty, libs, model)
    assert done.code in cell.codes, done.stderr
    check_truth(done, before, after)
    if cell.fault.times is None:
        assert any(word in done.json["error"]["message"] for word in WORDS[done.code])
    assert faulty.phone.faults.happened(number) or cell.fault.action in ("garbage", "corrupt", "kill", "truncate")
    faulty.phone.faults.clear()
    faulty.phone.connect()
    check_nothing_left(faulty.phone)
    again = measure(faulty, standin(before=after, after=before + after), model)
    assert again.code == OK, again.stderr
    check_truth(again, after, before + after)
    check_nothing_left(faulty.phone)


def test_the_matrix_is_large() -> None:
    assert len(CELLS) >= 80
