"""Measuring and telling the result: what ``run`` and ``demo`` have in common."""

from __future__ import annotations

import sys
from typing import Any

import click

from heapprof_cli.cli.output import parse_output, print_failure, render, write_outputs
from heapprof_cli.cli.progress import StderrReporter
from heapprof_cli.settings import RunSettings


def measure_and_tell(settings: RunSettings, values: dict[str, Any]) -> int:
    """Measure, write the result to stdout and to the files asked for; the exit code."""
    from heapprof_cli.session import measure

    outputs = tuple(parse_output(text) for text in values["outputs"])
    reporter = StderrReporter(-1 if values["quiet"] else values["verbose"])
    try:
        result = measure(settings, reporter)
    finally:
        reporter.close()
    show_serial = values["show_serial"]
    text = render(result, values["form"], show_serial=show_serial, color=values["color"], stream=sys.stdout)
    click.echo(text, nl=False, color=values["color"] != "never")
    if result.failure is not None:
        print_failure(result.failure)
    write_outputs(result, outputs, show_serial=show_serial)
    return int(result.exit_code)
