"""What a settings file says, whatever its format: tables of entries, each with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

LARGEST_FILE = 1024 * 1024
DEEPEST = 8  # a section with a list is 3 deep


@dataclass(frozen=True)
class Place:
    """A place in a file; line and column count from 1. ``file`` is the name as it is shown."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Scalar:
    """One value as it is written, to be read as on a command line; None where the file leaves it empty (null)."""

    text: str | None
    place: Place


@dataclass(frozen=True)
class Items:
    """A list of values."""

    values: tuple[Value, ...]
    place: Place


@dataclass(frozen=True)
class Entry:
    """A key with its value."""

    key: str
    place: Place
    value: Value


@dataclass(frozen=True)
class Table:
    """Entries in the order of the file; no key twice."""

    entries: tuple[Entry, ...]
    place: Place


Value = Scalar | Items | Table


@dataclass(frozen=True)
class SettingsFile:
    """A settings file that was read. Relative paths in it are relative to ``folder``."""

    path: Path
    table: Table

    @property
    def folder(self) -> Path:
        """Where the file lies, absolute."""
        return self.path.absolute().parent


def wrong(place: Place, problem: str, *hints: str) -> UsageError:
    """The error for ``problem`` at ``place``."""
    return UsageError(f"{place}: {problem}", hints=hints)


def check_text(text: str, place: Place) -> str:
    """``text`` if no file name or option could choke on it. Raises UsageError."""
    if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in text):
        raise wrong(place, f"{clean(text, 60)!r}: a value may not hold control characters or several lines")
    return text
