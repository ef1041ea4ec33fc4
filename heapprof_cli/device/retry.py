"""Repeating a step that may be repeated, when its failure is one that passes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from heapprof_cli.errors import HeapprofError

T = TypeVar("T")
ATTEMPTS = 3
_FIRST_PAUSE_SECONDS = 0.5


def retrying(step: Callable[[], T], before_retry: Callable[[HeapprofError, int], None], attempts: int = ATTEMPTS) -> T:
    """The result of ``step``, tried at most ``attempts`` times while it fails transiently.

    ``before_retry`` is told the error and the number of the next attempt, after a pause that doubles.
    Only for steps that give the same result when done twice: never for the measured run itself.
    """
    pause = _FIRST_PAUSE_SECONDS
    for attempt in range(2, attempts + 1):
        try:
            return step()
        except HeapprofError as error:
            if not error.transient:
                raise
            time.sleep(pause)
            pause *= 2
            before_retry(error, attempt)
    return step()
