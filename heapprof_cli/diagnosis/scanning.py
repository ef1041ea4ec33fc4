"""Finds the few lines of a big log that may matter, at the speed of a plain text search.

Blocks are *squeezed* first: lower case, without digits. What is left of a line is its *form*, which it shares with all
lines that differ in numbers only, so that nearly every line of an ordinary log is judged by one look into a table. New
forms are searched all at once for *gates*: literals of which every telling line holds one. The few that hold one are
searched for the words of rules, after their hexadecimal numbers have lost their letters, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from heapprof_cli.diagnosis.repeats import Candidate, Repeats

LINE_LIMIT = 4096
_KNOWN_BYTES = 8 << 20
# Bytes of different lines with gates that are searched for words in one log: seconds, and far beyond honest logs.
_MOST_WORK = 4 << 20
_HEXADECIMAL = re.compile(rb"x[a-f]+")
_GRAM = 3
_FIRST_GATES = 2
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


class _Telling(NamedTuple):
    """What a form that holds a gate stands for: itself without hexadecimal letters, and for whom it counts."""

    plain: bytes
    ids: tuple[str, ...]


_NOT_LOOKED_AT = _Telling(b"", ())


def squeezed(data: bytes) -> bytes:
    """``data`` in lower case and without digits."""
    return data.translate(_LOWER, _DIGITS)


def _plain(form: bytes) -> bytes:
    return _HEXADECIMAL.sub(b"x", form)


class _Words:
    """Which of many words a text holds: only those are searched whose rarest three bytes it has."""

    def __init__(self, wanted: tuple[Wanted, ...]) -> None:
        by_word: dict[bytes, list[int]] = {}
        for index, entry in enumerate(wanted):
            for word in entry.words:
                by_word.setdefault(word, []).append(index)
        common = Counter(gram for word in by_word for gram in _grams(word))
        self._short = {word: indexes for word, indexes in by_word.items() if len(word) < _GRAM}
        self._by_gram: dict[bytes, list[tuple[bytes, list[int]]]] = {}
        for word, indexes in by_word.items():
            if len(word) >= _GRAM:
                rarest = min(sorted(_grams(word)), key=common.__getitem__)
                self._by_gram.setdefault(rarest, []).append((word, indexes))
        self._all = frozenset(self._by_gram)

    def indexes_in(self, plain: bytes) -> list[int]:
        """Who has a word in ``plain``, in order."""
        found = {index for word, indexes in self._short.items() if word in plain for index in indexes}
        for gram in self._all.intersection(_grams(plain)):
            for word, indexes in self._by_gram[gram]:
                if word in plain:
                    found.update(indexes)
        return sorted(found)


def _grams(text: bytes) -> set[bytes]:
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}


def _holding(forms: Iterable[bytes], gates: Iterable[bytes]) -> set[bytes]:
    """Those of ``forms`` that hold one of ``gates``, searched all at once."""
    text = b"\n".join(forms)
    starts: set[int] = set()
    find, rfind = text.find, text.rfind
    for gate in gates:
        position = find(gate)
        while position >= 0:
            starts.add(rfind(b"\n", 0, position) + 1)
            end = find(b"\n", position)
            position = find(gate, end) if end >= 0 else -1
    ends = ((start, find(b"\n", start)) for start in starts)
    return {text[start:end] if end >= 0 else text[start:] for start, end in ends}


class Scanner:
    """Goes through blocks of a log for what is ``wanted``.

    ``lines`` counts those that it has seen, ``passed_over`` those with gates that came after the work was too much.
    """

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self._wanted = tuple(
            entry._replace(words=tuple(map(_plain, entry.words)), also=tuple(map(_plain, entry.also)))
            for entry in wanted
        )
        self._words = _Words(self._wanted)
        base = [gate.encode() for gate in _GATES]
        own = {word for entry in self._wanted if entry.own_gates for word in entry.words}
        self._gates = [*base, *(word for word in sorted(own) if not any(gate in word for gate in base))]
        self._known: dict[bytes, _Telling | None] = {}
        self._by_plain: dict[bytes, _Telling | None] = {}
        self._known_bytes = 0
        self._work = 0
        self._repeats = Repeats()
        self.lines = 0
        self.passed_over = 0

    def candidates(self, blocks: Iterable[bytes]) -> Iterator[Candidate]:
        """The lines of ``blocks`` that may matter. What lies beyond LINE_LIMIT of a line is passed over."""
        rest = b""
        self.lines = 0
        self._repeats = Repeats()
        for block in blocks:
            data = rest + block if rest else block
            end = data.rfind(b"\n") + 1
            if end:
                yield from self._whole_lines(data[:end])
            rest = data[end:] if end else data
            rest = rest[:LINE_LIMIT]  # of a line without an end only its head counts
        if rest:
            yield from self._whole_lines(rest + b"\n")
        yield from self._repeats.rest()

    def _whole_lines(self, data: bytes) -> Iterator[Candidate]:
        forms = squeezed(data).split(b"\n")[:-1]
        if max(map(len, forms)) > LINE_LIMIT:
            forms = [form[:LINE_LIMIT] for form in forms]
        self._learn(forms)
        known = self._known
        telling = [(index, told) for index, form in enumerate(forms) if (told := known[form])]
        if telling:
            lines, pass_on = data.split(b"\n"), self._repeats.pass_on
            for index, told in telling:
                if told is _NOT_LOOKED_AT:
                    self.passed_over += 1
                    continue
                yield from pass_on(told.plain, self.lines + index + 1, lines[index][:LINE_LIMIT], told.ids)
        self.lines += len(forms)

    def _learn(self, forms: Iterable[bytes]) -> None:
        """Make all of ``forms`` known."""
        if self._known_bytes > _KNOWN_BYTES:
            self._known, self._by_plain, self._known_bytes = {}, {}, 0
        new = list(set(forms).difference(self._known))
        self._known_bytes += sum(map(len, new)) + 100 * len(new)
        self._known.update(dict.fromkeys(new))
        # Most lines with a gate have one of the first: where those are many, the others need not be asked about them.
        first = _holding(new, self._gates[:_FIRST_GATES])
        left = list(set(new).difference(first)) if len(first) * 4 > len(new) else new
        for form in first.union(_holding(left, self._gates[_FIRST_GATES:])):
            self._known[form] = self._told_by(_plain(form))

    def _told_by(self, plain: bytes) -> _Telling | None:
        if plain in self._by_plain:
            return self._by_plain[plain]
        self._work += len(plain)
        if self._work > _MOST_WORK:
            return _NOT_LOOKED_AT
        self._known_bytes += len(plain)
        entries = [
            entry
            for entry in (self._wanted[index] for index in self._words.indexes_in(plain))
            if not entry.also or any(word in plain for word in entry.also)
        ]
        counts = any(entry.alone for entry in entries)
        told = self._by_plain[plain] = _Telling(plain, tuple(entry.id for entry in entries)) if counts else None
        return told
