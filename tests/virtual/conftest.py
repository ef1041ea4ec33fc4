"""Virtual phones under test, with every generation of the adb server that is at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import heapprof_cli
from heapprof_cli.virtual import VirtualPhone, bundled_adb

SYSTEM_ADB = Path("/usr/bin/adb")
SOURCES = Path(heapprof_cli.__file__).parents[1]


Done = subprocess.CompletedProcess[bytes]


def ended(command: list[str], timeout: float = 40, stdin: bytes = b"") -> Done:
    """Run a command to its end."""
    return subprocess.run(command, capture_output=True, timeout=timeout, input=stdin, check=False)


@dataclass(frozen=True)
class Adb:
    """The real adb program against one phone."""

    phone: VirtualPhone

    def __call__(self, *arguments: str | Path, timeout: float = 40, stdin: bytes = b"") -> Done:
        return ended([*self.command(), *map(str, arguments)], timeout=timeout, stdin=stdin)

    def start(self, line: str) -> subprocess.Popen[bytes]:
        """A shell that runs beside the test."""
        return subprocess.Popen([*self.command(), "shell", line], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def shell(self, line: str, timeout: float = 40) -> str:
        done = self("shell", line, timeout=timeout)
        assert done.returncode == 0, done
        return done.stdout.decode()

    def command(self) -> list[str]:
        assert self.phone.adb_server is not None
        return [str(self.phone.adb_server.adb), "-P", str(self.phone.adb_port), "-s", self.phone.serial]


def said(done: Done) -> str:
    """All that adb said: version 29 has its errors on stdout."""
    return (done.stdout + done.stderr).decode("utf-8", "replace")


@pytest.fixture(scope="session", params=["bundled", "system"])
def any_phone(request: pytest.FixtureRequest) -> Iterator[VirtualPhone]:
    """A phone with adbutils' adb as its server, and one with the computer's own."""
    if request.param == "system" and not SYSTEM_ADB.exists():
        pytest.skip("no adb is installed on this computer")
    with VirtualPhone(adb=bundled_adb() if request.param == "bundled" else SYSTEM_ADB) as phone:
        yield phone


@pytest.fixture
def any_adb(any_phone: VirtualPhone) -> Iterator[Adb]:
    """adb on a shared phone, which the test must leave without processes."""
    yield Adb(any_phone)
    settle(any_phone)


@pytest.fixture(scope="session")
def quiet_phone() -> Iterator[VirtualPhone]:
    with VirtualPhone() as phone:
        yield phone


@pytest.fixture
def phone(quiet_phone: VirtualPhone) -> Iterator[VirtualPhone]:
    """A shared phone; the test must leave it without processes, and gets it without faults."""
    yield quiet_phone
    quiet_phone.faults.clear()
    settle(quiet_phone)


@pytest.fixture
def adb(phone: VirtualPhone) -> Adb:
    return Adb(phone)


def eventually(what: Callable[[], object], seconds: float = 20) -> None:
    """Wait until ``what`` is true."""
    limit = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.02)


def settle(phone: VirtualPhone) -> None:
    eventually(lambda: phone.processes() == [], 10)


def needs_namespaces(phone: VirtualPhone) -> None:
    if not phone.isolated:
        pytest.skip(f"no private root here ({phone.isolation})")


def processes_of(session: int) -> list[int]:
    """The processes of a session on this computer, zombies left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z" and int(fields[3]) == session:
                found.append(int(entry.name))
    return found


def python(
    *arguments: str, prefix: tuple[str, ...] = (), program: str = sys.executable, **options: Any
) -> subprocess.Popen[bytes]:
    """A Python that can import the package, with pipes."""
    return subprocess.Popen(
        [*prefix, program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), *sys.path[1:]]), **options.pop("env", {})},
        **options,
    )


def as_ordinary_user() -> tuple[tuple[str, ...], str]:
    """What to put before a command so that it runs as an ordinary user, and a Python that this user can start."""
    if os.geteuid():
        return (), sys.executable
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv")
    prefix = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all")
    try_itself = "import subprocess, sys, heapprof_cli; subprocess.run([sys.executable, '-c', ''], check=True)"
    for program in (sys.executable, "/usr/bin/python3"):
        trial = python("-c", try_itself, prefix=prefix, program=program, cwd="/")
        trial.communicate(timeout=30)
        if trial.returncode == 0:
            return prefix, program
    pytest.skip("an ordinary user can't start a Python with this package here")
