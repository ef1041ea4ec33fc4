"""Lines against rules: what was hit where, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from heapprof_cli.diagnosis.codes import one_form
from heapprof_cli.diagnosis.prefixes import message_of
from heapprof_cli.diagnosis.repeats import Candidate
from heapprof_cli.diagnosis.rules import Rule
from heapprof_cli.diagnosis.scanning import Scanner, Wanted, squeezed
from heapprof_cli.log_findings import Line
from heapprof_cli.text import clean, decode

_MESSAGE_LIMIT = 2048
_SHOWN = 400
_MOST_LINES = 20
_MOST_UNKNOWN = 50
_CACHED = 4096
# Characters times rules that are searched in one explanation: some seconds, and far beyond what honest logs ask for.
_MOST_WORK = 8_000_000
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


@dataclass
class Hits:
    """Where a rule was found: its first lines."""

    lines: list[Line] = field(default_factory=list)

    def add(self, *lines: Line) -> None:
        for line in lines:
            if len(self.lines) < _MOST_LINES and line not in self.lines:
                self.lines.append(line)


@dataclass(frozen=True)
class _Meaning:
    """What a message matches, wherever it stands; sequences by the step that it would be."""

    rules: tuple[Rule, ...] = ()
    steps: tuple[tuple[Rule, int], ...] = ()
    error: bool = False


class Matcher:
    """Takes candidate lines of one file after the other, and remembers what the rules found."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self.scanner = Scanner(_wanted(rule) for rule in rules.values() if rule.words)
        self._progress: dict[str, list[Line]] = {}
        self._cache: dict[tuple[str, str], _Meaning] = {}
        self.hits: dict[str, Hits] = {}
        self.unknown: list[Line] = []
        self.unknown_count = 0
        self.passed_over = 0
        self._work = 0

    def start_file(self) -> None:
        """Sequences don't go from one file into the next."""
        self._progress.clear()

    def take(self, candidate: Candidate, file: str | None) -> None:
        """Look at a line that the scanner found."""
        text = decode(candidate.data)
        if _CONTROLS.search(text):
            text = clean(text, _MESSAGE_LIMIT * 2)
        message = message_of(text)[:_MESSAGE_LIMIT]
        meaning = self._meaning(text, message, candidate.ids)
        if meaning is None:
            self.passed_over += candidate.times
            return
        if not (meaning.rules or meaning.steps or meaning.error):
            return
        line = Line(candidate.number, clean(text, _SHOWN), file)
        known = False
        for rule in meaning.rules:
            if all(name in self.hits for name in rule.before):
                self.hits.setdefault(rule.id, Hits()).add(line)
                known = known or rule.role != "signal"
        for rule, step in meaning.steps:
            known = self._step(rule, step, line) or known
        if meaning.error and not known:
            self.unknown_count += candidate.times
            if len(self.unknown) < _MOST_UNKNOWN:
                self.unknown.append(line)

    def _step(self, rule: Rule, step: int, line: Line) -> bool:
        """Go on in a sequence if the line is its next step; whether the line belongs to the sequence."""
        so_far = self._progress.get(rule.id, [])
        if so_far and line.number - so_far[-1].number > rule.within:
            so_far = []
        if step != len(so_far) and step != 0:
            return False
        so_far = [*so_far, line] if step == len(so_far) else [line]
        if len(so_far) == len(rule.sequence) and all(name in self.hits for name in rule.before):
            self.hits.setdefault(rule.id, Hits()).add(*so_far)
            so_far = []
        self._progress[rule.id] = so_far
        return False

    def _meaning(self, text: str, message: str, ids: tuple[str, ...]) -> _Meaning | None:
        """What the line tells, or None when so much was looked at that no more will be."""
        prefix = text[: len(text) - len(message)] if text.endswith(message) else text
        key = (message, re.sub(r"\d+", "", prefix))
        found = self._cache.get(key)
        if found is None:
            self._work += len(message) * len(ids)
            if self._work > _MOST_WORK:
                return None
            if len(self._cache) >= _CACHED:
                self._cache.clear()
            found = self._cache[key] = self._read(text, one_form(message), ids)
        return found

    def _read(self, text: str, message: str, ids: tuple[str, ...]) -> _Meaning:
        rules = [self._rules[name] for name in ids]
        matching = [rule for rule in rules if _matches(rule, text, message)]
        if any(rule.role == "harmless" for rule in matching):
            return _Meaning(tuple(rule for rule in matching if rule.role == "signal"))
        steps = [
            (rule, step)
            for rule in rules
            for step, pattern in enumerate(rule.sequence)
            if pattern.search(message) and _fits(rule, text, message)
        ]
        error = any(rule.role == "error" for rule in matching)
        return _Meaning(tuple(rule for rule in matching if rule.role != "error"), tuple(steps), error)


def _wanted(rule: Rule) -> Wanted:
    words, also = (tuple(squeezed(word.encode()) for word in some) for some in (rule.words, rule.also))
    return Wanted(rule.id, words, also, own_gates=rule.origin == "user", alone=rule.role != "harmless")


def _matches(rule: Rule, text: str, message: str) -> bool:
    return any(pattern.search(message) for pattern in rule.patterns) and _fits(rule, text, message)


def _fits(rule: Rule, text: str, message: str) -> bool:
    if rule.context is not None and not rule.context.search(text):
        return False
    return rule.unless is None or not rule.unless.search(message)
