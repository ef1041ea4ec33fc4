"""Settings in TOML: the table [tool.heapprof] of a pyproject.toml."""

from __future__ import annotations

import datetime
import re
import sys
from typing import Any

from heapprof_cli.config_file.nodes import DEEPEST, Entry, Items, Place, Scalar, Table, Value, check_text, wrong
from heapprof_cli.config_file.toml_places import Path as KeyPath
from heapprof_cli.config_file.toml_places import key_places
from heapprof_cli.text import clean

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_WHERE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)\s*$")
_TABLE = ("tool", "heapprof")


def read_toml(text: str, file: str) -> Table | None:
    """The table in ``text``, or None without one. Raises UsageError with line and column."""
    try:
        return _table(tomllib.loads(text), text, file)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(str(error), text, file) from error
    except (RecursionError, ValueError) as error:  # an integer of too many digits is a ValueError
        raise wrong(Place(file, 1), "no TOML that can be read: nested too deeply, or a number too long") from error


def _table(content: dict[str, Any], text: str, file: str) -> Table | None:
    tool = content.get("tool")
    if not isinstance(tool, dict) or "heapprof" not in tool:
        return None
    reader = _Reader(key_places(text), file)
    table = reader.value(tool["heapprof"], _TABLE, reader.place(_TABLE, Place(file, 1))[0], 1)
    if not isinstance(table, Table):
        raise wrong(table.place, "tool.heapprof is no table", "the form is [tool.heapprof] with a line per option")
    return table


def _syntax(message: str, text: str, file: str) -> Exception:
    found = _WHERE.search(message)
    if found and found[1]:
        place = Place(file, int(found[1]), int(found[2]))
    else:  # at the end of the text
        place = Place(file, text.count("\n") + 1, len(text) - text.rfind("\n"))
    return wrong(place, f"no TOML: {clean(_WHERE.sub('', message), 200)}")


class _Reader:
    def __init__(self, places: dict[KeyPath, tuple[tuple[int, int], tuple[int, int]]], file: str) -> None:
        self._places = places
        self._file = file

    def value(self, value: Any, path: KeyPath, place: Place, depth: int) -> Value:
        if depth > DEEPEST:
            raise wrong(place, f"nested deeper than {DEEPEST} levels")
        if isinstance(value, dict):
            return Table(tuple(self._entry(key, each, path, place, depth) for key, each in value.items()), place)
        if isinstance(value, list):
            return Items(tuple(self.value(each, (), place, depth + 1) for each in value), place)
        if isinstance(value, bool):
            return Scalar(str(value).lower(), place)
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return Scalar(value.isoformat(), place)
        return Scalar(check_text(str(value), place), place)

    def _entry(self, key: str, value: Any, path: KeyPath, outer: Place, depth: int) -> Entry:
        at_key, at_value = self.place((*path, key) if path else (), outer)
        return Entry(key, at_key, self.value(value, (*path, key) if path else (), at_value, depth + 1))

    def place(self, path: KeyPath, outer: Place) -> tuple[Place, Place]:
        found = self._places.get(path)
        if found is None:  # inside an array: its own place is near enough
            return outer, outer
        (line, column), (value_line, value_column) = found
        return Place(self._file, line, column), Place(self._file, value_line, value_column)
