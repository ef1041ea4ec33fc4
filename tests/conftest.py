"""What many tests share: the command as a user starts it, a virtual phone, stand-in libraries."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from heapprof_cli import resources
from heapprof_cli.virtual import VirtualPhone

MODELS = Path(__file__).parent / "models"
TARGET = "linux-x86_64"

# Tests started in the background (`nohup`, `&`) inherit signals that are ignored, and so would the commands under
# test, which keep to that: no Ctrl-C would ever reach them.
for _number, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)


@dataclass(frozen=True)
class Ended:
    """How a ``heapprof`` command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


def clean_environment(home: Path) -> dict[str, str]:
    """The caller's variables without those that would choose a server, a phone or an SDK."""
    prefixes = ("HEAPPROF_", "ANDROID_", "ADB_", "QNN_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", "PYTHONUTF8": "1"}


@pytest.fixture
def heapprof(tmp_path: Path) -> Callable[..., Ended]:
    """Runs the command in a process of its own: ``heapprof("run", "x.bin", cwd=...)``."""

    def call(*arguments: str | Path, cwd: Path | None = None, timeout: float = 90, **variables: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "heapprof_cli", *map(str, arguments)],
            capture_output=True,
            cwd=cwd or tmp_path,
            env={**clean_environment(tmp_path), **variables},
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Ended(done.returncode, done.stdout.decode("utf-8", "strict"), done.stderr.decode("utf-8", "strict"))

    return call


@pytest.fixture(scope="session")
def shared_phone() -> Iterator[VirtualPhone]:
    """One virtual phone a test process."""
    with VirtualPhone() as phone:
        yield phone


@pytest.fixture
def phone(shared_phone: VirtualPhone) -> Iterator[VirtualPhone]:
    """The shared phone; the test fails when it leaves a file or a process on it."""
    yield shared_phone
    assert litter(shared_phone) == []
    assert [line for _, line in shared_phone.processes() if line.startswith("./heapprof_runner")] == []


def wait_until(true: Callable[[], bool], otherwise: str, seconds: float = 20) -> None:
    """Wait for something that happens soon; fail with ``otherwise`` when it does not."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, otherwise
        time.sleep(0.05)


def litter(phone: VirtualPhone) -> list[str]:
    """Everything on the phone that should not outlive a run: all but the content cache."""
    shared = phone.host_path(phone.workspace).parent
    found = [str(path.relative_to(shared)) for path in shared.rglob("*")]
    cache = phone.host_path(phone.workspace).name + "/cache"
    kept = re.compile(rf"{cache}(/(used(/[0-9a-f]{{64}})?|[0-9a-f]{{64}}|verified))?|{cache.split('/')[0]}")
    return sorted(path for path in found if not kept.fullmatch(path))


@dataclass(frozen=True)
class OnPhone:
    """``heapprof run`` against one phone."""

    phone: VirtualPhone
    heapprof: Callable[..., Ended]

    def run(self, *arguments: str | Path, **options: Any) -> Ended:
        return self.heapprof("run", *self.flags(), *arguments, **options)

    def flags(self) -> list[str]:
        return [
            "--serial",
            self.phone.serial,
            "--adb-port",
            str(self.phone.adb_port),
            "--workspace",
            self.phone.workspace,
        ]


@pytest.fixture
def on_phone(phone: VirtualPhone, heapprof: Callable[..., Ended]) -> OnPhone:
    return OnPhone(phone, heapprof)


@pytest.fixture
def standin(tmp_path: Path) -> Callable[..., Path]:
    """A folder of stand-in libraries that behave as told: ``standin(after=1, events="none")``."""

    def make(**behaviour: object) -> Path:
        folder = tmp_path / f"standin-{len(list(tmp_path.glob('standin-*')))}"
        folder.mkdir()
        for library in (resources.device_build(TARGET) / "standin").glob("*.so"):
            (folder / library.name).symlink_to(library)
        (folder / "standin.conf").write_text("".join(f"{key} = {value}\n" for key, value in behaviour.items()))
        return folder

    return make


@pytest.fixture
def model() -> Path:
    """A small context binary for SM8850."""
    return MODELS / "good" / "conv_sm8850_v81_qnn2.51.bin"
