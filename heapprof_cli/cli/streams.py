"""Writing to stdout and stderr, which may be closed, full, or read by nobody any more."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TextIO

import click

from heapprof_cli.errors import UsageError

_NOBODY_READS = (errno.EPIPE, errno.ESHUTDOWN, errno.ECONNRESET)


def tell(text: str, *, end: str = "\n") -> None:
    """Write a result to stdout, whole. A reader that went away is no error: the exit code tells all the same.

    Raises UsageError when stdout can't take it (a full disk, say).
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(printable(text) + end)
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        _abandon(sys.stdout)
        if getattr(error, "errno", None) not in _NOBODY_READS:
            raise UsageError(f"can't write the result to stdout: {error}", stage="output") from error


def note(text: str, *, dim: bool = False, color: str | None = None) -> None:
    """Write a line to stderr; where that can't be, nothing is lost but words."""
    with contextlib.suppress(OSError, ValueError):
        click.secho(printable(text), err=True, dim=dim or None, fg=color)


def flush() -> None:
    """Leave nothing for the interpreter's own last flush to stumble over."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _abandon(stream)


def printable(text: str) -> str:
    """``text`` without what no output can encode: lone surrogates of undecodable file names."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _abandon(stream: TextIO) -> None:
    """What the stream still holds goes nowhere: else it would be tried again at the end, and end us with 120."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
