"""Finds the few lines of a big log that may matter, at the speed of a plain text search.

A *gate* is a literal that is searched in whole blocks; only lines that hold one are looked at. Every word of a
rule contains a gate or is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

LINE_LIMIT = 4096
_BASE = (
    "rror", "fail", "unable", "denied", "mismatch", "not support", "unsupport", "not found", "no such", "invalid",
    "cannot", "exceed", "fatal", "crash", "timed out", "skel", "unknown",
)  # fmt: skip


class Candidate(NamedTuple):
    """A line with one or more gates in it: its number from 1, its bytes (at most LINE_LIMIT), the gates."""

    number: int
    data: bytes
    gates: frozenset[str]


def gates_for(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The gates that are needed for ``words`` (in lower case), each with the words that contain it."""
    gates: dict[str, list[str]] = {gate: [] for gate in _BASE}
    for word in sorted(set(words), key=lambda word: (len(word), word)):
        holder = next((gate for gate in gates if gate in word), word)
        gates.setdefault(holder, []).append(word)
    return {gate: tuple(found) for gate, found in gates.items() if found}


class Scanner:
    """Goes through blocks of a log; ``lines`` counts those that it has seen."""

    def __init__(self, gates: Iterable[str]) -> None:
        self._gates = [(gate, gate.encode()) for gate in gates]
        self.lines = 0

    def candidates(self, blocks: Iterable[bytes]) -> Iterator[Candidate]:
        """The lines of ``blocks`` that hold a gate. What lies beyond LINE_LIMIT of a line is passed over."""
        rest = b""
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
        lowered = data.lower()
        found: dict[int, list[str]] = {}
        for name, gate in self._gates:
            position = lowered.find(gate)
            while position >= 0:
                start = lowered.rfind(b"\n", 0, position) + 1
                if position - start < LINE_LIMIT:
                    found.setdefault(start, []).append(name)
                end = lowered.find(b"\n", position)
                position = lowered.find(gate, end)
        counted_to, number = 0, self.lines + 1
        for start in sorted(found):
            number += data.count(b"\n", counted_to, start)
            counted_to = start
            end = data.find(b"\n", start, start + LINE_LIMIT)
            yield Candidate(number, data[start : end if end >= 0 else start + LINE_LIMIT], frozenset(found[start]))
        self.lines += data.count(b"\n")
