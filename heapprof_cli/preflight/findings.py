"""What a check looks at and what it says."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from heapprof_cli.artifacts import Bundle
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.records import DeviceFacts, ModelFacts


class Severity(enum.Enum):
    """An error ends the run before anything is sent (exit code 6); a warning is told and recorded."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """The outcome of a check: ``id`` is stable, ``what`` is a sentence, ``fix`` the next step."""

    id: str
    severity: Severity
    what: str
    fix: str | None = None


@dataclass(frozen=True)
class Situation:
    """All that is known before a run. ``htp_arch`` is the one that libraries were chosen for."""

    device: DeviceFacts
    target: Target
    htp_arch: int | None
    bundle: Bundle
    models: tuple[ModelFacts, ...]

    @property
    def real_dsp(self) -> bool:
        """Whether a DSP is involved: the stand-in and the x86_64 emulator take what a DSP refuses."""
        return self.target.on_dsp and not self.bundle.standin
