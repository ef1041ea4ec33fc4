"""Lines that come again and again: the first ones are looked at, then only what could still tell something new."""

from __future__ import annotations

from collections.abc import Sequence
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


class _Seen:
    """How often a form came, the ends of its lines (where codes stand that may differ), and the line that waits."""

    __slots__ = ("data", "ids", "number", "tails", "times", "waiting")

    def __init__(self) -> None:
        self.times = 0
        self.tails: set[bytes] = set()
        self.waiting = 0  # lines that the one that waits stands for
        self.number, self.data = 0, b""
        self.ids: tuple[str, ...] = ()


class Repeats:
    """Thins out candidates of the same form (the same line but for its numbers).

    After _LOOKS of them, a further one passes when its end is new, or as the last one before any other line passes:
    then what happened just before that line is still known, and so is what came last.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, _Seen] = {}
        self._waiting: list[_Seen] = []

    def pass_on(self, form: bytes, number: int, data: bytes, ids: tuple[str, ...]) -> Sequence[Candidate]:
        """What is to be looked at now that this line came. Called for millions of lines: it does little."""
        seen = self._seen.get(form)
        if seen is None:
            if len(self._seen) >= _MOST_FORMS:
                self._seen.clear()
            seen = self._seen[form] = _Seen()
        seen.times += 1
        if seen.times > _LOOKS:
            tail = data[-_TAIL:]
            if tail in seen.tails or len(seen.tails) >= _MOST_TAILS:
                seen.number, seen.data, seen.ids = number, data, ids
                seen.waiting += 1
                if seen.waiting == 1:
                    self._waiting.append(seen)
                    if len(self._waiting) > _MOST_WAITING:
                        return self.rest()
                return ()
            seen.tails.add(tail)
        return [*self.rest(), Candidate(number, data, ids)]

    def rest(self) -> Sequence[Candidate]:
        """Those that wait, by their order in the log."""
        if not self._waiting:
            return ()
        waiting = [Candidate(seen.number, seen.data, seen.ids, seen.waiting) for seen in self._waiting]
        for seen in self._waiting:
            seen.waiting = 0
        self._waiting.clear()
        return sorted(waiting)
