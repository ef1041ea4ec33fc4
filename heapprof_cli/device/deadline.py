"""A limit on a whole step, not on each receive: a phone that dribbles must not hold us for ever."""

from __future__ import annotations

import time
from dataclasses import dataclass


class DeadlinePassed(Exception):
    """The step's total time is used up."""


@dataclass(frozen=True)
class Deadline:
    """A point in time on the monotonic clock; ``math.inf`` seconds means no limit."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left. Raises DeadlinePassed when there are none."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        return left
