"""The record that a judged series is told in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GrowthVerdict = Literal["leak", "one_time_cost", "stable", "noisy"]


@dataclass(frozen=True)
class Growth:
    """What a series of bytes over the cycles of one process came to.

    ``one_time_bytes`` is what stays without recurring, ``bytes_per_cycle`` what every further cycle adds (an integer
    where it is exact); None where unknown. ``interval`` holds 99 % of the resampled slopes; an exact finding has none.
    ``cycles`` counts the steps from value to value that were judged, ``too_few`` says that more of them are needed,
    ``outliers`` counts values that stood alone, ``resets`` the places where the counter began anew.
    """

    verdict: GrowthVerdict
    one_time_bytes: int | None
    bytes_per_cycle: int | float | None
    interval: tuple[float, float] | None
    sentence: str
    method: Literal["exact", "robust"]
    cycles: int
    too_few: bool = False
    outliers: int = 0
    resets: int = 0

    @property
    def leaks(self) -> bool:
        return self.verdict == "leak"


def in_bytes(count: int | float) -> str:
    """``1 byte``, ``4096 bytes``, ``12.5 bytes``."""
    shown = f"{count:.1f}".removesuffix(".0") if isinstance(count, float) else str(count)
    return f"{shown} byte" if shown in ("1", "-1") else f"{shown} bytes"
