"""Settings in YAML. It is read event by event: no tags, no anchors, bounded nesting, nothing is constructed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from heapprof_cli.config_file.nodes import DEEPEST, Entry, Items, Place, Scalar, Table, Value, check_text, wrong
from heapprof_cli.text import clean

_NULLS = ("", "~", "null", "Null", "NULL")
_FORM = "the form is `option: value`, for example `perf-mode: burst`"


def read_yaml(text: str, file: str) -> Table:
    """The table in ``text``; ``file`` names it in errors. Raises UsageError with line and column."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Reader(yaml.parse(text, Loader=loader), file).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1)
        raise wrong(place, f"no YAML: {clean(str(error.problem or error.context), 200)}", _FORM) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Place(file, before.count("\n") + 1, error.position - before.rfind("\n"))
        raise wrong(place, "YAML forbids this character", "take it out") from error
    except yaml.YAMLError as error:
        raise wrong(Place(file, 1), f"no YAML: {clean(str(error), 200)}", _FORM) from error


class _Reader:
    def __init__(self, events: Iterator[Any], file: str) -> None:
        self._events = events
        self._file = file

    def document(self) -> Table:
        """The one document: a mapping, or nothing at all."""
        next(self._events)  # the stream's start
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return Table((), Place(self._file, 1))
        root = self._value(next(self._events), 1)
        next(self._events)  # the document's end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise wrong(self._place(after), "a second YAML document", "leave one")
        if isinstance(root, Scalar) and root.text is None:
            return Table((), root.place)
        if not isinstance(root, Table):
            raise wrong(root.place, "not a mapping of options to values", _FORM)
        return root

    def _place(self, event: Any) -> Place:
        return Place(self._file, event.start_mark.line + 1, event.start_mark.column + 1)

    def _value(self, event: Any, depth: int) -> Value:
        place = self._place(event)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise wrong(place, "anchors and aliases are not read here", "write the value out")
        if event.tag is not None:
            raise wrong(place, f"tags such as {clean(event.tag, 60)} are not read here", "write the plain value")
        if depth > DEEPEST:
            raise wrong(place, f"nested deeper than {DEEPEST} levels", _FORM)
        if isinstance(event, yaml.ScalarEvent):
            empty = not event.style and event.value in _NULLS
            return Scalar(None if empty else check_text(event.value, place), place)
        if isinstance(event, yaml.SequenceStartEvent):
            return Items(tuple(self._items(depth)), place)
        return self._table(place, depth)

    def _items(self, depth: int) -> Iterator[Value]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._value(event, depth + 1)

    def _table(self, place: Place, depth: int) -> Table:
        entries: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._value(event, depth + 1)
            if not isinstance(key, Scalar) or key.text is None:
                raise wrong(key.place, "a key must be the name of an option", _FORM)
            if key.text in entries:
                first = entries[key.text].place.line
                raise wrong(key.place, f"'{clean(key.text, 60)}' is already set in line {first}", "leave one of them")
            entries[key.text] = Entry(key.text, key.place, self._value(next(self._events), depth + 1))
        return Table(tuple(entries.values()), place)
