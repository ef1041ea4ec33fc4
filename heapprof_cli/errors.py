"""One tree of errors; each knows its exit code, its stage, whether a retry can help, and a hint.

A message says what happened and why; the hints say what to do next. Nothing here prints or exits:
the command line turns an error into text, JSON and a process exit code.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import ClassVar


class ExitCode(enum.IntEnum):
    """The exit codes of the ``heapprof`` command, stable from the first release."""

    OK = 0
    OVER_LIMIT = 1
    USAGE = 2
    INVALID_MEASUREMENT = 3
    DEVICE = 4
    RUNNER_FAILED = 5
    PREFLIGHT = 6
    TIMEOUT = 7
    NO_BASELINE = 8
    INTERNAL = 70
    BUSY = 75
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """When the command ends with this code, in one line."""
        return _MEANINGS[self]


_MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "measured, within every limit asked for",
    ExitCode.OVER_LIMIT: "a valid measurement that a limit, baseline or threshold rejects",
    ExitCode.USAGE: "a bad flag, file or configuration",
    ExitCode.INVALID_MEASUREMENT: ("heap file missing, stale, incomplete, malformed, or after < before (implausible)"),
    ExitCode.DEVICE: "none, ambiguous, offline, unauthorized, lost during the run",
    ExitCode.RUNNER_FAILED: "the runner ended with an error or a signal",
    ExitCode.PREFLIGHT: "an artifact is missing, or SoC, arch or QNN build don't match",
    ExitCode.TIMEOUT: "a stage ran past its limit (the stage is named)",
    ExitCode.NO_BASELINE: "only with --require-baseline",
    ExitCode.INTERNAL: "a bug; where the debug log lies",
    ExitCode.BUSY: "the phone is measured by someone else; try again",
    ExitCode.INTERRUPTED: "Ctrl-C or SIGTERM, after cleaning up",
}


class HeapprofError(Exception):
    """Base of every failure that heapprof explains to its user.

    ``stage`` names the step of a run in which it happened ("device", "push", "run", ...);
    ``transient`` says whether repeating the same step may succeed; ``hints`` are next steps.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL
    default_stage: ClassVar[str] = "internal"

    def __init__(
        self,
        message: str,
        *,
        stage: str | None = None,
        hints: Iterable[str] = (),
        transient: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.stage = stage or self.default_stage
        self.hints: tuple[str, ...] = tuple(hints)
        self.transient = transient


class UsageError(HeapprofError):
    """A bad flag, file or configuration; raised before any phone is touched."""

    exit_code = ExitCode.USAGE
    default_stage = "settings"


class ModelFileError(UsageError):
    """A file that can't be read as a model, with the reason."""

    default_stage = "model"


class DeviceError(HeapprofError):
    """No usable phone: none, ambiguous, offline, unauthorized, or lost during the run."""

    exit_code = ExitCode.DEVICE
    default_stage = "device"


class PreflightError(HeapprofError):
    """Something that the run needs is missing or does not match, found before the run."""

    exit_code = ExitCode.PREFLIGHT
    default_stage = "preflight"


class RunnerError(HeapprofError):
    """The runner ended with an error or a signal."""

    exit_code = ExitCode.RUNNER_FAILED
    default_stage = "run"


class StageTimeout(HeapprofError):
    """A stage ran past its limit; the stage is named."""

    exit_code = ExitCode.TIMEOUT
    default_stage = "run"


class BusyError(HeapprofError):
    """The phone is measured by someone else."""

    exit_code = ExitCode.BUSY
    default_stage = "lease"


class Interrupted(HeapprofError):
    """Ctrl-C or SIGTERM."""

    exit_code = ExitCode.INTERRUPTED
    default_stage = "interrupted"
