"""What the fault tests share."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device.server import AdbServer
from heapprof_cli.device.shell import ShellResult, run_shell
from heapprof_cli.virtual import VirtualPhone
from tests.conftest import Ended, clean_environment, litter, wait_until

RUNNER = "./heapprof_runner"


def unique_numbers(seed: str) -> tuple[int, int]:
    """Values that no other run reports: a stale or foreign number can't pass for this run's."""
    generator = random.Random(seed)
    before = generator.randrange(10**6, 10**9)
    return before, before + generator.randrange(1, 10**5)


def check_truth(done: Ended, before: int, after: int) -> None:
    """A result says this run's numbers or none, and a failure says why."""
    result = done.json
    assert "Traceback" not in done.stderr
    assert result["exit_code"] == done.code
    if done.code == 0:
        assert (result["before_bytes"], result["after_bytes"]) == (before, after)
        assert result["error"] is None
    else:
        assert result["after_bytes"] is None
        assert result["before_bytes"] in (None, before)
        assert result["error"]["message"] and result["error"]["stage"]


def runners(phone: VirtualPhone) -> list[int]:
    """The runner's processes on the phone."""
    return [pid for pid, line in phone.processes() if line.startswith(RUNNER)]


def check_nothing_left(phone: VirtualPhone) -> None:
    wait_until(lambda: not runners(phone), "a runner lives on")
    assert litter(phone) == []


def on_phone_shell(phone: VirtualPhone, command: str) -> ShellResult:
    """Run a command on the phone as its shell user."""
    server = AdbServer(ServerAddress(phone.adb_host, phone.adb_port))
    return run_shell(server, phone.serial, command, stage="test", seconds=20)


class Started:
    """A ``heapprof`` command that runs beside the test."""

    def __init__(self, home: Path, arguments: Sequence[str | Path]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "heapprof_cli", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=clean_environment(home),
            cwd=home,
        )

    def ended(self, seconds: float = 60) -> Ended:
        out, err = self.process.communicate(timeout=seconds)
        return Ended(self.process.returncode, out.decode(), err.decode())


def json_of(done: Ended) -> dict[str, object]:
    found: dict[str, object] = json.loads(done.stdout)
    return found
