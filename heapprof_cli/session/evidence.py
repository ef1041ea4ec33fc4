"""What a run leaves to learn from: its output, its status, the phone's log of that time; and what they tell.

Everything is bounded, whatever a phone sends. Only the last run's is kept: it is the one that failed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from heapprof_cli.device.capture import Capture
from heapprof_cli.device.phone import Leavings, Phone
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.shell import ShellResult
from heapprof_cli.errors import ExitCode, HeapprofError, RunnerError, StageTimeout, UsageError
from heapprof_cli.log_findings import Finding
from heapprof_cli.records import LogFile, Result, Verdict
from heapprof_cli.session.runner_status import RunnerStatus, parse_status
from heapprof_cli.text import decode

_EXPLAINED = frozenset({ExitCode.INVALID_MEASUREMENT, ExitCode.DEVICE, ExitCode.RUNNER_FAILED, ExitCode.TIMEOUT})
_MOST_HINTS = 3
STDOUT, STDERR, SYSTEM_LOG, STATUS = "stdout.txt", "stderr.txt", "logcat.txt", "status.json"


@dataclass
class Evidence:
    """Fills as the run goes on."""

    _heard: Capture = field(default_factory=Capture)
    _shell: ShellResult | None = None
    _status: bytes | None = None
    _system_log: str = ""

    def begin(self) -> None:
        """Another runner process starts."""
        self._heard, self._shell, self._status, self._system_log = Capture(), None, None, ""

    def hear(self, raw: bytes) -> None:
        """A line of its stderr, told at once: it is all there is when the phone gets lost."""
        self._heard.add(raw + b"\n")

    def end(self, shell: ShellResult) -> None:
        """It ended, and this is all it said."""
        self._shell = shell

    def left(self, leavings: Leavings) -> None:
        """It left these files."""
        self._status = leavings.status

    def ask(self, phone: Phone, folder: RunFolder) -> str | None:
        """Fetch the phone's log of the run; why it could not be had, which changes nothing else, or None."""
        status = self._read_status()
        try:
            self._system_log = phone.system_log(folder, status.pid if status else None)
        except HeapprofError as error:
            return f"the phone's log of the run could not be fetched: {error.message}"
        return None

    @contextlib.contextmanager
    def of_run(self, phone: Phone, folder: RunFolder, warn: Callable[[str], None]) -> Iterator[None]:
        """Around a runner process and the judgement of it: asks the phone for its log where the run fails."""
        self.begin()
        try:
            yield
        except (RunnerError, StageTimeout):
            if problem := self.ask(phone, folder):
                warn(problem)
            raise

    def logs(self) -> tuple[LogFile, ...]:
        """What there is, as files."""
        stdout, stderr = (self._shell.stdout, self._shell.stderr) if self._shell else (None, self._heard)
        found = (
            (STDERR, stderr.text()),
            (STDOUT, stdout.text() if stdout else ""),
            (SYSTEM_LOG, self._system_log),
            (STATUS, decode(self._status or b"")),
        )
        return tuple(LogFile(name, text) for name, text in found if text)

    def explained(self, result: Result) -> Result:
        """``result`` with its logs and, where it failed on the phone, what they tell of the cause."""
        logs = self.logs()
        if result.failure is None or result.exit_code not in _EXPLAINED:
            return replace(result, logs=logs)
        try:
            findings = self._findings(result, logs)
        except UsageError as error:  # a file of rules that is wrong takes nothing from the result
            failure = replace(result.failure, hints=(*result.failure.hints, error.message))
            return replace(result, logs=logs, failure=failure)
        hints = (*map(_in_words, findings[:_MOST_HINTS]), *result.failure.hints)
        failure = replace(result.failure, hints=hints)
        return replace(result, logs=logs, findings=findings, failure=failure)

    def _findings(self, result: Result, logs: Sequence[LogFile]) -> tuple[Finding, ...]:
        read = [log for log in logs if log.name != STATUS]
        if not read:
            return ()
        from heapprof_cli import diagnosis  # reads the catalogue, which a run that goes well never needs

        model = result.models[0] if result.models else None
        status = self._read_status()
        heap_file = result.verdict.value if result.verdict is not Verdict.ERROR else None
        run = diagnosis.RunFacts(
            soc=result.device.soc if result.device else None,
            htp_arch=result.device.htp_arch if result.device else None,
            # A stand-in's build is no QNN's: it is neither older nor newer than a model's.
            qnn_build=None if result.simulated else result.qnn_build,
            model_soc=model.soc if model else None,
            model_htp_arch=model.htp_arch if model else None,
            model_qnn_build=model.qnn_build if model else None,
            exit_status=self._shell.status if self._shell else None,
            signal=status.signal_name if status else None,
            timed_out=result.exit_code is ExitCode.TIMEOUT,
            heap_file=heap_file,
        )
        return diagnosis.explain_files([(log.name, _blocks(log)) for log in read], run).findings

    def _read_status(self) -> RunnerStatus | None:
        return parse_status(self._status)


def _in_words(finding: Finding) -> str:
    return f"{finding.cause.rstrip('.')} ({finding.certainty.value}): {finding.fix}"


def _blocks(log: LogFile) -> Callable[[], Iterator[bytes]]:
    """What opens a log as blocks of bytes, which is how the explanation reads."""
    return lambda: iter([log.text.encode("utf-8", "replace")])
