"""Lines that come again and again: the first ones are looked at, then only what could still tell something new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_LOOKS = 64
_TAIL = 12
_MOST_TAILS = 128
_MOST_FORMS = 8192
_MOST_WAITING = 64


class Candidate(NamedTuple):
    """A line that may be of what is looked for: its number from 1, bytes, those ids, how many lines it stands for."""

    number: int
    data: bytes
    ids: tuple[str, ...]
    times: int = 1


@dataclass
class _Seen:
    """How often a form came, and the ends of its lines: where codes stand that may differ."""

    times: int = 0
    tails: set[bytes] = field(default_factory=set)


class Repeats:
    """Thins out candidates of the same form (the same line but for its numbers).

    After _LOOKS of them, a further one passes when its end is new, or as the last one before any other line passes:
    then what happened just before that line is still known, and so is what came last.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, _Seen] = {}
        self._waiting: dict[bytes, Candidate] = {}

    def pass_on(self, form: bytes, candidate: Candidate) -> Iterator[Candidate]:
        """What is to be looked at now that ``candidate`` came."""
        seen = self._seen.get(form)
        if seen is None:
            if len(self._seen) >= _MOST_FORMS:
                self._seen.clear()
            seen = self._seen[form] = _Seen()
        seen.times += 1
        if seen.times > _LOOKS:
            tail = candidate.data[-_TAIL:]
            if tail in seen.tails or len(seen.tails) >= _MOST_TAILS:
                earlier = self._waiting.pop(form, None)
                self._waiting[form] = candidate._replace(times=earlier.times + 1) if earlier else candidate
                if len(self._waiting) > _MOST_WAITING:
                    yield from self.rest()
                return
            seen.tails.add(tail)
        yield from self.rest()
        yield candidate

    def rest(self) -> Iterator[Candidate]:
        """Those that wait, by their order in the log."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            yield from waiting.values()
