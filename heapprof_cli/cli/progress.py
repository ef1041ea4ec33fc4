"""Progress of a measurement on stderr: a line for each stage, a bar while files are sent, warnings, and the
runner's words with -v."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from heapprof_cli.cli.streams import note

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class StderrReporter:
    """``verbosity``: -1 says only warnings and failures, 0 the stages, 1 and more also the runner's lines."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity
        self._bar: tuple[Progress, TaskID] | None = None
        self._lock = threading.Lock()

    def stage(self, name: str, detail: str) -> None:
        self._end_bar()
        if self._verbosity >= 0:
            note(f"heapprof: {name}: {detail}", dim=True)

    def moved(self, count: int, total: int) -> None:
        """Bytes that were sent; shown as a bar, on a terminal only."""
        if self._verbosity < 0 or sys.stderr is None or not sys.stderr.isatty():
            return
        with self._lock:
            progress, task = self._bar or self._start_bar(total)
            progress.advance(task, count)

    def _start_bar(self, total: int) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns = (BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.start()
        self._bar = progress, progress.add_task("push", total=total)
        return self._bar

    def _end_bar(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar[0].stop()
                self._bar = None

    def runner_line(self, line: str) -> None:
        if self._verbosity >= 1:
            note(f"  | {line}", dim=True)

    def warn(self, text: str) -> None:
        self._end_bar()
        note(f"heapprof: warning: {text}", color="yellow")

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._end_bar()
