"""Where the keys of a TOML text stand: tomllib tells values, but no places."""

from __future__ import annotations

import bisect
import re

Path = tuple[str, ...]
Position = tuple[int, int]

_DEEPEST = 16  # places of deeper keys are not kept: no setting is so deep
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^\s,#\[\]{}\"']+(?: [0-9][^\s,#\]}]*)?")  # a date and its time may be parted by a space


def key_places(text: str) -> dict[Path, tuple[Position, Position]]:
    """Line and column (from 1) of every key and of its value, by the key's whole path; a table's value is its header.

    ``text`` must be valid TOML. Keys inside arrays are left out.
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._found: dict[Path, tuple[Position, Position]] = {}

    def scan(self) -> dict[Path, tuple[Position, Position]]:
        header: Path = ()
        while True:
            self._skip(_BLANK)
            if self._at >= len(self._text):
                return self._found
            if self._text[self._at] == "[":
                header = self._header()
            else:
                self._pair(header, keep=True)

    def _position(self, at: int) -> Position:
        line = bisect.bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise AssertionError(f"not the TOML that was parsed, at {self._position(self._at)}")
        self._at = match.end()
        return match[0]

    def _header(self) -> Path:
        start = self._at
        while self._text[self._at] == "[":
            self._at += 1
        path = self._key()
        while self._text[self._at : self._at + 1] == "]":
            self._at += 1
        self._note(path, start, start)
        return path

    def _key(self) -> Path:
        """A key such as ``tool."heapprof".soc``, and the blanks around it."""
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            quoted = self._text[self._at] in "\"'"
            word = self._skip(_STRING if quoted else _BARE_KEY)
            parts.append(word[1:-1] if quoted else word)
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return tuple(parts)
            self._at += 1

    def _pair(self, outer: Path, *, keep: bool) -> None:
        start = self._at
        path = (*outer, *self._key())
        self._at += 1  # =
        self._skip(_SPACE)
        if keep:
            self._note(path, start, self._at)
        self._value(path, keep=keep)

    def _note(self, path: Path, key: int, value: int) -> None:
        """A dotted key makes the tables on its way, too; the first place of each counts."""
        places = self._position(key), self._position(value)
        for length in range(1, min(len(path), _DEEPEST) + 1):
            self._found.setdefault(path[:length], places)

    def _value(self, path: Path, *, keep: bool) -> None:
        first = self._text[self._at]
        if first in "\"'":
            self._skip(_STRING)
        elif first in "[{":
            self._nested("]" if first == "[" else "}", path, keep=keep and first == "{")
        else:
            self._skip(_PLAIN)

    def _nested(self, end: str, path: Path, *, keep: bool) -> None:
        self._at += 1
        while True:
            self._skip(_BLANK)
            if self._text[self._at] == ",":
                self._at += 1
            elif self._text[self._at] == end:
                self._at += 1
                return
            elif end == "}":
                self._pair(path, keep=keep)
            else:
                self._value(path, keep=False)
