"""Progress of a measurement on stderr: a line for each stage, warnings, and the runner's words with -vv."""

from __future__ import annotations

import click


class StderrReporter:
    """``verbosity``: -1 says only warnings and failures, 0 the stages, 1 and 2 also the runner's lines."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity

    def stage(self, name: str, detail: str) -> None:
        if self._verbosity >= 0:
            click.secho(f"heapprof: {name}: {detail}", err=True, dim=True)

    def moved(self, count: int, total: int) -> None:
        """Bytes moved; the stage's line already told the total."""

    def runner_line(self, line: str) -> None:
        if self._verbosity >= 1:
            click.secho(f"  | {line}", err=True, dim=True)

    def warn(self, text: str) -> None:
        click.secho(f"heapprof: warning: {text}", err=True, fg="yellow")
