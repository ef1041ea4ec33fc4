"""Measuring and telling the result: what ``run`` and ``demo`` have in common."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

from heapprof_cli import environment
from heapprof_cli.cli.keeping import check_places, keep_logs, write_bundle
from heapprof_cli.cli.output import add_step_summary, parse_output, print_failure, render, write_file
from heapprof_cli.cli.progress import StderrReporter
from heapprof_cli.cli.recording import record
from heapprof_cli.cli.streams import note, tell
from heapprof_cli.errors import ExitCode
from heapprof_cli.records import Result
from heapprof_cli.settings import RunSettings
from heapprof_cli.text import clean

Outputs = tuple[tuple[str, Path], ...]


def wanted_outputs(values: dict[str, Any]) -> Outputs:
    """The files of ``-o``. Raises UsageError, before anything is measured."""
    return tuple(parse_output(text) for text in values["outputs"])


def measured(settings: RunSettings, values: dict[str, Any]) -> Result:
    """Measure, with progress on stderr. Raises UsageError, before anything is measured."""
    from heapprof_cli.session import measure

    check_places(settings, [path for _, path in wanted_outputs(values)])

    reporter = StderrReporter(-1 if values["quiet"] else values["verbose"])
    try:
        return measure(settings, reporter)
    finally:
        reporter.close()


def tell_result(result: Result, settings: RunSettings, outputs: Outputs, values: dict[str, Any]) -> int:
    """Write the result to the files asked for and, last and once, to stdout; the exit code.

    Call it when all else is done: from here on nothing may add a second object to stdout.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    code = int(result.exit_code)
    if result.failure is not None:
        print_failure(result.failure, keep_logs(result))
    show_serial = values["show_serial"]
    for form, path in outputs:
        try:
            write_file(render(result, form, show_serial=show_serial), path)
        except OSError as error:
            note(f"heapprof: can't write {clean(str(path), 300)}: {error.strerror}")
            code = code or int(ExitCode.USAGE)
    if not values["no_history"]:
        record(result, lambda text: note(f"heapprof: warning: {text}", color="yellow"))
    if settings.bundle is not None:
        try:
            write_bundle(result, settings)
        except OSError as error:
            note(f"heapprof: can't write the bundle {clean(str(settings.bundle), 300)}: {error.strerror}")
            code = code or int(ExitCode.USAGE)
    if "github" in (values["form"], *(form for form, _ in outputs)):
        summary_code = _step_summary(result)
        code = code or summary_code
    text = render(result, values["form"], show_serial=show_serial, color=values["color"], stream=sys.stdout)
    tell(text, end="")
    return code


def _step_summary(result: Result) -> int:
    """Add the result to the page that GitHub's runner names in GITHUB_STEP_SUMMARY, if any; the exit code."""
    page = environment.snapshot().get("GITHUB_STEP_SUMMARY")
    if not page:
        return 0
    try:
        add_step_summary(result, Path(page))
    except OSError as error:
        note(f"heapprof: can't add to GITHUB_STEP_SUMMARY: {error.strerror}")
        return int(ExitCode.USAGE)
    return 0
