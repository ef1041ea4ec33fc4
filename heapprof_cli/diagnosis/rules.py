"""The rules of the catalogue, as records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from heapprof_cli.log_findings import Certainty


@dataclass(frozen=True)
class Condition:
    """What must hold beside the rule's lines; empty fields ask for nothing.

    ``seen``/``absent``: rules or signals found, or not found, anywhere in the log; ``run``: facts of the run.
    """

    seen: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    run: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Cause:
    """What the lines of a rule may mean. ``likely_if`` makes it the first of its rule's causes."""

    id: str
    stage: str
    certainty: Certainty
    cause: str
    fix: str
    tells_apart: str | None = None
    likely_if: Condition | None = None


ROLES = ("cause", "effect", "aside", "signal", "harmless", "error")


@dataclass(frozen=True)
class Rule:
    """Lines that mean something.

    ``role``: a *cause* tells why, an *effect* is mostly the tail of a chain (4000, 1008, 14001), an *aside* is weaker
    still; a *signal* is only remembered, *harmless* lines count for nothing, *error* is what unknown errors look like.
    ``words``: literals in lower case, one of which every matching line holds, and one of ``also`` where that is given.
    ``sequence``: patterns that must come in
    this order within ``within`` lines. ``context``: must be found in the whole line, prefix included.
    ``explained_by``: stages or ids of findings that this one is only a consequence of. ``before``: what must have been
    seen earlier.
    """

    id: str
    role: str
    words: tuple[str, ...]
    also: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    causes: tuple[Cause, ...] = ()
    sequence: tuple[re.Pattern[str], ...] = ()
    within: int = 200
    context: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    before: tuple[str, ...] = ()
    condition: Condition = Condition()
    explained_by: frozenset[str] = frozenset()
    examples: tuple[tuple[str, ...], ...] = ()
    sources: tuple[str, ...] = ()
    origin: str = "built in"

    @property
    def stages(self) -> frozenset[str]:
        """The stages of all its causes."""
        return frozenset(cause.stage for cause in self.causes)
