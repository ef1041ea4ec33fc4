"""What is known of a measurement so far; it becomes the result, whether the measurement ends well or not."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from heapprof_cli.errors import ExitCode, HeapprofError
from heapprof_cli.records import (
    Artifact,
    CheckOutcome,
    Conditions,
    DeviceFacts,
    Failure,
    HeapReading,
    MemoryPoint,
    ModelFacts,
    Payload,
    Result,
    Sample,
    StageTime,
    Verdict,
)
from heapprof_cli.session import growing
from heapprof_cli.session.evidence import Evidence
from heapprof_cli.session.reporting import Reporter
from heapprof_cli.settings import RunSettings


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass
class Story:
    """Collects facts as the session finds them."""

    settings: RunSettings
    reporter: Reporter
    device: DeviceFacts | None = None
    conditions_after: Conditions | None = None
    models: tuple[ModelFacts, ...] = ()
    payloads: tuple[Payload, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    sent: set[str] = field(default_factory=set)
    target: str | None = None
    runner_version: str | None = None
    qnn_build: str | None = None
    simulated: bool = False
    before_bytes: int | None = None
    samples: list[Sample] = field(default_factory=list)
    memory: list[MemoryPoint] = field(default_factory=list)
    stages: list[StageTime] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    started_at: str = field(default_factory=_now)
    checks: tuple[CheckOutcome, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    current_stage: str = "settings"
    clean: bool = True

    @contextlib.contextmanager
    def stage(self, name: str, detail: str) -> Iterator[None]:
        """Times a stage, and names it in every error that comes out of it without a stage of its own."""
        self.current_stage = name
        self.reporter.stage(name, detail)
        begin = time.monotonic()
        moved_before = self._bytes_sent()
        try:
            yield
        finally:
            moved = self._bytes_sent() - moved_before
            self.stages.append(StageTime(name, round(time.monotonic() - begin, 6), moved or None))

    def _bytes_sent(self) -> int:
        return sum(artifact.size for artifact in self.artifacts if artifact.sha256 in self.sent)

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
            self.reporter.warn(text)

    def measured(self, verdict: Verdict, reading: HeapReading, summary: str, failure: Failure | None) -> Result:
        """The result of a run that gave a reading."""
        code = ExitCode.OK if verdict is Verdict.OK else ExitCode.INVALID_MEASUREMENT
        return self._result(verdict, code, summary, reading=reading, failure=failure)

    def no_reading(self, verdict: Verdict, message: str, hints: tuple[str, ...]) -> Result:
        """The result of a run that ended well but left no valid heap file."""
        code = ExitCode.INVALID_MEASUREMENT
        return self._result(verdict, code, message, failure=Failure(code.name.lower(), "collect", message, hints))

    def failed(self, error: HeapprofError) -> Result:
        """The result of a measurement that ended with ``error``."""
        failure = Failure(error.exit_code.name.lower(), error.stage, error.message, error.hints)
        return self._result(Verdict.ERROR, error.exit_code, error.message, failure=failure)

    def _result(
        self,
        verdict: Verdict,
        exit_code: ExitCode,
        summary: str,
        *,
        reading: HeapReading | None = None,
        failure: Failure | None = None,
    ) -> Result:
        return Result(
            verdict=verdict,
            exit_code=exit_code,
            summary=summary,
            samples=tuple(self.samples),
            memory=tuple(self.memory),
            growth=growing.heap_growth(self.settings, self.samples),
            memory_growth=growing.memory_growth(self.settings, self.memory),
            noise=growing.run_noise(self.settings, self.samples),
            reading=reading,
            before_bytes=reading.before_bytes if reading else self.before_bytes,
            device=self.device,
            conditions_after=self.conditions_after,
            models=self.models,
            artifacts=self.artifacts,
            sent=frozenset(self.sent),
            runner=self.settings.runner,
            target=self.target,
            runner_version=self.runner_version,
            qnn_build=self.qnn_build,
            simulated=self.simulated,
            settings=self.settings.described(),
            settings_origins=self.settings.origins,
            started_at=self.started_at,
            stages=tuple(self.stages),
            warnings=tuple(self.warnings),
            failure=failure,
            checks=self.checks,
        )
