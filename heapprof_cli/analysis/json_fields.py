"""Reading JSON that others wrote: bounded, checked, and every fault told with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NoReturn

from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean, decode

MOST_BYTES = 64 * 1024 * 1024
_LONGEST_TEXT = 300
_MOST = 2**64 - 1


def load(source: Path | BinaryIO, shown: str) -> object:
    """The JSON value in a file (or a stream). Raises UsageError for what can't be read, or is larger than 64 MiB."""
    try:
        if isinstance(source, Path):
            with source.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        else:
            data = source.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"can't read {shown}: {clean(reason, 200)}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{shown} is larger than {MOST_BYTES // 1024**2} MiB: no such file of heapprof's")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        conflict = "<<<<<<<" in decode(data) and ">>>>>>>" in decode(data)
        hints = ("it holds the marks of a merge conflict: resolve it first",) if conflict else ()
        raise UsageError(f"{shown} is no JSON: {clean(str(error), 200)}", hints=hints) from error


class Fields:
    """The fields of one JSON object; ``place`` begins every message. All methods raise UsageError."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, Mapping):
            raise UsageError(f"{place}: an object was expected")
        self._fields: Mapping[object, object] = value
        self.place = place

    def _wrong(self, name: str, expected: str) -> NoReturn:
        found = self._fields.get(name)
        kinds = {list: "a list", dict: "an object", type(None): "missing or null"}
        shown = kinds.get(type(found)) or clean(repr(found), 60)
        raise UsageError(f"{self.place}: '{name}' must be {expected}, but is {shown}")

    def value(self, name: str) -> object:
        return self._fields.get(name)

    def text(self, name: str) -> str:
        found = self._fields.get(name)
        if not isinstance(found, str) or not found.strip():
            self._wrong(name, "a text")
        return clean(found, _LONGEST_TEXT)

    def text_or_none(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        found = self._fields.get(name)
        if not isinstance(found, bool):
            self._wrong(name, "true or false")
        return found

    def count(self, name: str, *, least: int = 0, most: int = _MOST) -> int:
        found = self._fields.get(name)
        if type(found) is not int or not least <= found <= most:
            self._wrong(name, f"a whole number from {least} to {most}")
        return found

    def number_or_none(self, name: str) -> int | float | None:
        """A number of zero or more, or null."""
        found = self._fields.get(name)
        if found is None:
            return None
        if type(found) not in (int, float) or not isinstance(found, (int, float)):
            self._wrong(name, "a number or null")
        if not 0 <= found <= _MOST:  # also no NaN
            self._wrong(name, "a number of zero or more")
        return found

    def items(self, name: str) -> list[object]:
        found = self._fields.get(name)
        if not isinstance(found, list):
            self._wrong(name, "a list")
        return found
