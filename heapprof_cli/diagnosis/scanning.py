"""Finds the few lines of a big log that may matter, at the speed of a plain text search.

Blocks are *squeezed* first: lower case, without digits. A *gate* is a literal that every telling line holds; gates are
searched in whole blocks. A line with a gate is looked up by its squeezed text, which it shares with all lines that
differ in numbers only, so that nearly every line of an ordinary log is judged by one look into a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

LINE_LIMIT = 4096
_CACHED = 8192
_LOWER = bytes(range(256)).lower()
_DIGITS = b"0123456789"
# What the lines of failures (and the signals that rules ask for) have in common; the longer, the quicker to search.
_GATES = (
    "err", "fail", "unable", "denied", "mismatch", "support", "not found", "no such", "invalid", "annot", "n't ",
    "exceed", "fatal", "abort", "timed out", "time limit", "sig", "unknown", "offline", "authoriz", "more than one",
    " elf", "undefined", "no snapdragon", "missing", "dsp", "memory usage", "unresolved", "no device", "no space",
    "file busy", "a directory", "bit instead", " fault", "illegal", "out of memory", "newer context", "broken",
    "profiling", "profile handle", "no permission", "refused", "connection reset", "malformed", "corrupt",
    "truncated", "skel", "lowmemory", "unexpected", "graph fin", "disconnected", "stale", "could not", "unrecognized",
)  # fmt: skip


class Wanted(NamedTuple):
    """What is looked for: lines that hold one of ``words`` and, where there are any, one of ``also`` (squeezed).

    ``own_gates``: its words count on lines without any gate, too. ``alone``: a line counts for it alone.
    """

    id: str
    words: tuple[bytes, ...]
    also: tuple[bytes, ...] = ()
    own_gates: bool = False
    alone: bool = True


class Candidate(NamedTuple):
    """A line that may be of what is looked for: its number from 1, its bytes (at most LINE_LIMIT), those ids."""

    number: int
    data: bytes
    ids: tuple[str, ...]


def squeezed(data: bytes) -> bytes:
    """``data`` in lower case and without digits."""
    return data.translate(_LOWER, _DIGITS)


class Scanner:
    """Goes through blocks of a log for what is ``wanted``; ``lines`` counts those that it has seen."""

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self._wanted = tuple(wanted)
        self._by_word: dict[bytes, list[int]] = {}
        for index, entry in enumerate(self._wanted):
            for word in entry.words:
                self._by_word.setdefault(word, []).append(index)
        base = [gate.encode() for gate in _GATES]
        own = {word for entry in self._wanted if entry.own_gates for word in entry.words}
        self._gates = [*base, *(word for word in sorted(own) if not any(gate in word for gate in base))]
        self._known: dict[bytes, tuple[str, ...]] = {}
        self.lines = 0

    def candidates(self, blocks: Iterable[bytes]) -> Iterator[Candidate]:
        """The lines of ``blocks`` that may matter. What lies beyond LINE_LIMIT of a line is passed over."""
        rest = b""
        self.lines = 0
        for block in blocks:
            data = rest + block if rest else block
            end = data.rfind(b"\n") + 1
            if end:
                yield from self._whole_lines(data[:end])
            rest = data[end:] if end else data
            rest = rest[:LINE_LIMIT]  # of a line without an end only its head counts
        if rest:
            yield from self._whole_lines(rest + b"\n")

    def _whole_lines(self, data: bytes) -> Iterator[Candidate]:
        thin = squeezed(data)
        before, number, at = 0, self.lines, 0
        for start in sorted(self._starts(thin)):
            end = thin.find(b"\n", start)
            ids = self._ids_for(thin[start : min(end, start + LINE_LIMIT)])
            if ids:
                skipped = thin.count(b"\n", before, start)
                number, before = number + skipped, start
                for _ in range(skipped):
                    at = data.find(b"\n", at) + 1
                stop = data.find(b"\n", at)
                yield Candidate(number + 1, data[at : min(stop, at + LINE_LIMIT)], ids)
        self.lines += data.count(b"\n")

    def _starts(self, thin: bytes) -> set[int]:
        """Where the lines with gates begin."""
        starts: set[int] = set()
        find, rfind = thin.find, thin.rfind
        for gate in self._gates:
            position = find(gate)
            while position >= 0:
                start = rfind(b"\n", 0, position) + 1
                if position - start < LINE_LIMIT:
                    starts.add(start)
                position = find(gate, find(b"\n", position))
        return starts

    def _ids_for(self, line: bytes) -> tuple[str, ...]:
        found = self._known.get(line)
        if found is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            indexes = {index for word, indexes in self._by_word.items() if word in line for index in indexes}
            entries = [
                entry
                for entry in (self._wanted[index] for index in sorted(indexes))
                if not entry.also or any(word in line for word in entry.also)
            ]
            telling = any(entry.alone for entry in entries)
            found = self._known[line] = tuple(entry.id for entry in entries) if telling else ()
        return found
