"""Limits on a measurement, and which of them it breaks by how much."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from heapprof_cli.analysis.verdicts import in_bytes
from heapprof_cli.errors import UsageError
from heapprof_cli.records import Breach
from heapprof_cli.settings import check_size
from heapprof_cli.text import clean, readable_bytes

_PERCENT = re.compile(r"\s*([0-9]{1,7}(?:\.[0-9]{1,6})?)\s*%\s*", re.ASCII)


@dataclass(frozen=True)
class GrowthLimit:
    """How far a value may lie above its baseline: ``bytes``, or ``percent`` of the baseline where that is given."""

    bytes: int = 0
    percent: Fraction | None = None

    def allowed(self, baseline: int | float) -> int | float:
        """The growth in bytes that is allowed above ``baseline``; a whole number for a whole baseline."""
        if self.percent is None:
            return self.bytes
        exact = Fraction(max(baseline, 0)) * self.percent / 100
        return int(exact) if isinstance(baseline, int) else float(exact)

    def __str__(self) -> str:
        return in_bytes(self.bytes) if self.percent is None else f"{float(self.percent):g} %"


@dataclass(frozen=True)
class Limits:
    """The limits of a gate; None is no limit. ``max_growth`` needs a baseline."""

    max_difference: int | None = None
    max_growth: GrowthLimit | None = None
    max_leak_per_cycle: int | None = None


def parse_growth(text: str, option: str = "--max-growth") -> GrowthLimit:
    """``4096``, ``4 KiB`` or ``5%``. Raises UsageError."""
    match = _PERCENT.fullmatch(text)
    if match is not None:
        return GrowthLimit(percent=Fraction(match[1]))
    if "%" in text:
        raise UsageError(f"{option}: {clean(text, 60)!r} is no percentage", hints=("for example 5% or 2.5%",))
    return GrowthLimit(check_size(text, option))


def check(
    limits: Limits, *, difference: int, leak_per_cycle: int | float | None = None, baseline: int | None = None
) -> tuple[Breach, ...]:
    """Every limit that a measurement breaks.

    ``leak_per_cycle`` is None where no leak was found (or judged), ``baseline`` the baseline's difference. Limits
    whose value is unknown are not broken: that a baseline or cycles are missing is for the caller to tell.
    """
    found = []
    if limits.max_difference is not None and difference > limits.max_difference:
        found.append(_breach("max_difference", "the difference", limits.max_difference, difference))
    if limits.max_growth is not None and baseline is not None:
        breach = growth_breach(limits.max_growth, "the difference", baseline, difference)
        found += [breach] if breach else []
    allowed = limits.max_leak_per_cycle
    if allowed is not None and leak_per_cycle is not None and leak_per_cycle > allowed:
        found.append(_breach("max_leak_per_cycle", "the leak per cycle", allowed, leak_per_cycle))
    return tuple(found)


def growth_breach(limit: GrowthLimit, what: str, baseline: int | float, actual: int | float) -> Breach | None:
    """The breach of ``limit`` by a value that grew from ``baseline`` to ``actual``, or None."""
    allowed, growth = limit.allowed(baseline), actual - baseline
    if growth <= allowed:
        return None
    percent = f" ({growth / baseline:+.1%})" if baseline > 0 else ""
    share = f", which is {in_bytes(allowed)}" if limit.percent is not None else ""
    sentence = (
        f"{what} is {in_bytes(actual)}, {in_bytes(growth)}{percent} above the baseline's {in_bytes(baseline)}; "
        f"--max-growth allows {limit}{share}: over by {in_bytes(growth - allowed)}"
    )
    return Breach("max_growth", allowed, growth, sentence)


def _breach(limit: str, what: str, allowed: int, actual: int | float) -> Breach:
    option = "--" + limit.replace("_", "-")
    sentence = (
        f"{what} is {in_bytes(actual)} ({readable_bytes(round(actual))}); {option} allows {in_bytes(allowed)}: "
        f"over by {in_bytes(actual - allowed)}"
    )
    return Breach(limit, allowed, actual, sentence)
