"""Where text goes: results to stdout or files, everything else to stderr."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TextIO

import click

from heapprof_cli.errors import UsageError
from heapprof_cli.records import Failure, Result
from heapprof_cli.text import clean

FORMATS = ("table", "json")
_PLAIN_WIDTH = 110


def print_failure(failure: Failure) -> None:
    """What went wrong and what to do next, on stderr."""
    click.echo(f"heapprof: {failure.message}", err=True)
    for hint in failure.hints:
        click.echo(f"  hint: {hint}", err=True)


def parse_output(text: str) -> tuple[str, Path]:
    """``[FORMAT:]FILE``; without a format it follows the file's ending. Raises UsageError."""
    kind, separator, rest = text.partition(":")
    if separator and kind in FORMATS:
        return kind, Path(rest)
    return ("json" if text.endswith(".json") else "table"), Path(text)


def render(result: Result, form: str, *, show_serial: bool, color: str = "never", stream: TextIO | None = None) -> str:
    """``result`` as text in the format ``form``."""
    if form == "json":
        from heapprof_cli.render.json_result import result_json

        return result_json(result, show_serial=show_serial)
    from rich.console import Console

    from heapprof_cli.render.table import print_table

    terminal = stream is not None and stream.isatty()
    buffer = io.StringIO()
    colored = color == "always" or (color == "auto" and terminal)
    console = Console(
        file=buffer,
        force_terminal=colored,
        no_color=not colored,
        color_system="auto" if colored and terminal else "standard" if colored else None,
        width=None if terminal else _PLAIN_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
    )
    print_table(result, console)
    return buffer.getvalue()


def write_outputs(result: Result, outputs: tuple[tuple[str, Path], ...], *, show_serial: bool) -> None:
    """Write the result into each file of ``-o``. Raises UsageError when one can't be written."""
    for form, path in outputs:
        try:
            path.write_text(render(result, form, show_serial=show_serial), "utf-8")
        except OSError as error:
            raise UsageError(
                f"can't write {clean(str(path), 300)}: {error.strerror}", hints=("check the folder given to -o",)
            ) from error
