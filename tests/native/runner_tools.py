"""Running the runner in tests and reading what it leaves."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
GOOD = ROOT / "tests" / "models" / "good"
BAD = ROOT / "tests" / "models" / "bad"
GOOD_BINARIES = sorted(GOOD.glob("*.bin"))
BAD_FILES = sorted(BAD.iterdir())
BEFORE = "DSP:before_context_created (bytes), {}\n"
AFTER = "DSP:after_context_freed (bytes), {}\n"
REFERENCE = BEFORE.format(928212) + AFTER.format(928212)


@cache
def build_module() -> ModuleType:
    """device_bin/build.py, which is no package's module."""
    path = ROOT / "device_bin" / "build.py"
    spec = importlib.util.spec_from_file_location("heapprof_device_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Libraries:
    htp: Path
    system: Path

    @classmethod
    def of_folder(cls, folder: Path) -> Libraries:
        return cls(folder / "libQnnHtp.so", folder / "libQnnSystem.so")

    def flags(self) -> list[str]:
        return [f"--backend_library={self.htp}", f"--system_library={self.system}"]


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: str
    folder: Path

    @property
    def heap(self) -> str | None:
        path = self.folder / "heap.txt"
        return path.read_text() if path.exists() else None

    @property
    def status(self) -> dict:
        return json.loads((self.folder / "status.json").read_text(encoding="utf-8"))

    @property
    def error(self) -> dict:
        return self.status["error"]

    @property
    def stages(self) -> list[str]:
        """The stage names in the order in which they were announced."""
        marker = "heapprof_runner: stage "
        return [line[len(marker) :].split()[0] for line in self.stderr.splitlines() if line.startswith(marker)]

    def leftovers(self) -> list[str]:
        return [path.name for path in self.folder.rglob("*.tmp")]


@dataclass
class Runner:
    binary: Path
    folder: Path
    libraries: Libraries
    heap: bool = True
    prefix: list[str] = field(default_factory=list)

    def command(self, *models: Path | str, flags=(), libraries: Libraries | None = None) -> list[str]:
        heap = [f"--heap_profiling_path={self.folder / 'heap.txt'}"] if self.heap else []
        return [
            *self.prefix,
            str(self.binary),
            *(libraries or self.libraries).flags(),
            f"--status_path={self.folder / 'status.json'}",
            *heap,
            *(f"--model={model}" for model in models),
            *flags,
        ]

    def __call__(self, *models: Path | str, flags=(), libraries: Libraries | None = None) -> Result:
        command = self.command(*models, flags=flags, libraries=libraries)
        done = subprocess.run(command, capture_output=True, timeout=100, cwd=self.folder, check=False)
        return Result(done.returncode, done.stdout, done.stderr.decode("utf-8"), self.folder)

    def plain(self, *flags: str) -> Result:
        """The runner with nothing but these flags."""
        done = subprocess.run([self.binary, *flags], capture_output=True, timeout=60, cwd=self.folder, check=False)
        return Result(done.returncode, done.stdout, done.stderr.decode("utf-8"), self.folder)

    def start(self, *models: Path | str, flags=(), libraries: Libraries | None = None) -> subprocess.Popen:
        command = self.command(*models, flags=flags, libraries=libraries)
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)


def children(pid: int) -> list[int]:
    """The child processes of a process."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(word) for word in path.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def alive(pid: int) -> bool:
    """Whether a process lives (a zombie doesn't)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_line(process: subprocess.Popen, text: str) -> str:
    """Reads the process's stderr until a line holds `text`."""
    assert process.stderr is not None
    while True:
        line = os.fsdecode(process.stderr.readline())
        assert line, f"the process ended before it said {text!r}"
        if text in line:
            return line
