"""Keeping every result in the history; what goes wrong with that is told and takes nothing from the result."""

from __future__ import annotations

from collections.abc import Callable

from heapprof_cli import environment
from heapprof_cli.errors import HeapprofError
from heapprof_cli.records import Result
from heapprof_cli.text import clean


def record(result: Result, warn: Callable[[str], None]) -> None:
    """Keep ``result``; ``warn`` is told where that can't be, and where a damaged history was put aside."""
    from heapprof_cli import history
    from heapprof_cli.render.json_result import result_fields

    try:
        _, aside = history.record(history.place(environment.snapshot()), result_fields(result))
    except HeapprofError as error:
        warn("; ".join((error.message, *error.hints)))
        return
    if aside is not None:
        warn(
            f"the history was damaged or of a newer heapprof: it lies at {clean(str(aside), 300)}, a new one was begun"
        )
