"""A result as a table for people: checkpoints, difference, verdict in words, and what it was measured on."""

from __future__ import annotations

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from heapprof_cli.heap_file import AFTER, BEFORE
from heapprof_cli.records import Result, Verdict
from heapprof_cli.render.facts import SIMULATED, judged, measured_on
from heapprof_cli.text import readable_bytes

_STYLES = {Verdict.OK: "bold green", Verdict.OVER_LIMIT: "bold yellow"}


def print_table(result: Result, console: Console) -> None:
    """Write the table of ``result`` to ``console``; nothing where there is no number to show."""
    if result.before_bytes is None:
        return
    console.print(Group(_title(result), _numbers(result), _verdict(result), _pairs(result)))


def _title(result: Result) -> Text:
    title = Text("DSP heap: ", style="bold")
    title.append(" + ".join(model.name for model in result.models) or "no model")
    if result.simulated:
        title.append(f"  [{SIMULATED}: stand-in HTP library, no DSP]", style="bold magenta")
    return title


def _numbers(result: Result) -> Table:
    table = Table(show_edge=True)
    table.add_column("checkpoint", no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("readable", justify="right", no_wrap=True)
    reading = result.reading
    rows: tuple[tuple[str, int | None], ...] = (
        (BEFORE, result.before_bytes),
        (AFTER, reading.after_bytes if reading else None),
        ("difference", reading.difference_bytes if reading else None),
    )
    for label, value in rows:
        if label == "difference":
            table.add_section()
        shown = ("-", "unknown") if value is None else (str(value), readable_bytes(value))
        table.add_row(Text(label), Text(shown[0]), Text(shown[1]))
    return table


def _verdict(result: Result) -> Text:
    text = Text(f"{result.verdict.value}: ", style=_STYLES.get(result.verdict, "bold red"))
    text.append(result.summary, style="not bold default")
    return text


def _pairs(result: Result) -> Table:
    table = Table.grid(padding=(0, 2))
    for label, value in (*judged(result), *measured_on(result)):
        table.add_row(Text(label, style="dim"), Text(value))
    return table
