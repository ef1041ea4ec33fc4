"""Results as text, and the files that they go to."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TextIO

import click

from heapprof_cli import user_files
from heapprof_cli.cli.streams import note, printable
from heapprof_cli.errors import UsageError
from heapprof_cli.records import Failure, Result
from heapprof_cli.text import clean

FORMATS = ("table", "json", "csv", "markdown", "junit", "github")
_ENDINGS = {".json": "json", ".txt": "table", ".csv": "csv", ".md": "markdown", ".xml": "junit"}
_PLAIN_WIDTH = 110


class OutputFile(click.types.StringParamType):
    """The text of ``-o``, which :func:`parse_output` reads; a settings file needs to know where its path begins."""

    name = "file"

    @staticmethod
    def split_path(text: str) -> tuple[str, str]:
        """What comes before the path, and the path."""
        kind, separator, rest = text.partition(":")
        return (kind + separator, rest) if separator and "/" not in kind else ("", text)


def print_failure(failure: Failure, logs: Path | None = None) -> None:
    """What went wrong, what to do next, and in which folder its logs lie, on stderr."""
    note(f"heapprof: {failure.message}")
    for hint in failure.hints:
        note(f"  hint: {hint}")
    if logs is not None:
        note(f"  logs: {clean(str(logs), 1000)}")


def parse_output(text: str) -> tuple[str, Path]:
    """``[FORMAT:]FILE``; without a format it follows the file's ending (.json, .txt, .csv, .md, .xml).

    Raises UsageError for a format that there is not, and for a file that can't be written: before a
    measurement, not after it.
    """
    before, rest = OutputFile.split_path(text)
    kind = before.removesuffix(":") if before else _ENDINGS.get(Path(text).suffix.lower(), "")
    if kind not in FORMATS:
        raise UsageError(
            f"-o {clean(text, 300)!r}: which format?",
            hints=(f"name it: FORMAT:FILE with one of {', '.join(FORMATS)}; {', '.join(_ENDINGS)} need none",),
        )
    path = Path(rest)
    if not rest or not may_be_written(path):
        raise UsageError(f"-o {clean(text, 300)!r}: can't write such a file", hints=("check the folder",))
    return kind, path


def may_be_written(path: Path) -> bool:
    """Whether a file may be put there, as far as can be told before."""
    try:
        return not path.is_dir() and path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)
    except OSError:  # a name that is too long
        return False


def render(result: Result, form: str, *, show_serial: bool, color: str = "never", stream: TextIO | None = None) -> str:
    """``result`` as text in the format ``form``, with its last line's end."""
    if form == "json":
        from heapprof_cli.render.json_result import result_json

        return result_json(result, show_serial=show_serial)
    if form != "table":
        return _plain(result, form)
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


def _plain(result: Result, form: str) -> str:
    if form == "csv":
        from heapprof_cli.render.csv_result import result_csv

        return result_csv(result)
    if form == "markdown":
        from heapprof_cli.render.markdown import result_markdown

        return result_markdown(result)
    if form == "junit":
        from heapprof_cli.render.junit import result_junit

        return result_junit(result)
    from heapprof_cli.render.github import result_github

    return result_github(result)


def add_step_summary(result: Result, path: Path) -> None:
    """Append the result to GitHub's page of a workflow run. Raises OSError."""
    from heapprof_cli.render.markdown import result_markdown

    with path.open("a", encoding="utf-8") as file:
        file.write(printable(result_markdown(result)) + "\n")


def write_file(text: str, path: Path) -> None:
    """Put ``text`` into the file at once: an earlier result is replaced whole or not at all. Raises OSError."""
    write_bytes(printable(text).encode(), path)


def write_bytes(content: bytes, path: Path) -> None:
    """The same of any content."""
    if path.exists() and not path.is_file():  # a device or a pipe can't be replaced
        # A pipe that nobody reads is an error, not something to wait for.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb") as file:
            os.set_blocking(file.fileno(), True)
            file.write(content)
        return
    mask = os.umask(0)
    os.umask(mask)
    user_files.replace_whole(path, content, 0o666 & ~mask)
