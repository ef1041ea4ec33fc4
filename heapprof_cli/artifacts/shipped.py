"""Device programs that come with heapprof: the runner, and the stand-in libraries."""

from __future__ import annotations

from pathlib import Path

from heapprof_cli import resources
from heapprof_cli.errors import PreflightError
from heapprof_cli.records import RUNNER_NAME

STANDIN_FOLDER = "standin"
STANDIN_EXECUTORCH = "standin_executorch"


def runner_file(target: str) -> Path:
    """The runner for ``target``. Raises PreflightError when this installation lacks it."""
    return _existing(resources.device_build(target) / RUNNER_NAME, f"the runner for {target}")


def standin_folder(target: str) -> Path:
    """The folder of the stand-in libQnnHtp.so and libQnnSystem.so for ``target``."""
    return _existing(resources.device_build(target) / STANDIN_FOLDER, f"the stand-in for {target}")


def _existing(path: Path, what: str) -> Path:
    if not path.exists():
        raise PreflightError(
            f"{what} is not part of this installation",
            stage="artifacts",
            hints=(f"it should lie at {path}; install heapprof again, or build it with device_bin/build.py",),
        )
    return path
