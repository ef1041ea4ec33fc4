"""What an explanation of a log tells: causes, with the lines that they rest on."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Certainty(enum.Enum):
    """How sure a finding is. CERTAIN: the log says so in words; POSSIBLE: one of several causes."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return list(Certainty).index(self)


@dataclass(frozen=True)
class Line:
    """A line of a log, made safe to show; ``number`` counts from 1 within its file."""

    number: int
    text: str
    file: str | None = None


@dataclass(frozen=True)
class Finding:
    """A cause, the lines that tell of it (the first ones, at most 20), and what to do.

    ``tells_apart``: what would confirm it where the log allows several causes.
    """

    id: str
    stage: str
    certainty: Certainty
    cause: str
    fix: str
    lines: tuple[Line, ...] = ()
    tells_apart: str | None = None
    sources: tuple[str, ...] = ()
