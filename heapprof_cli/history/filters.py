"""Which results are asked for, as a condition of SQL with its values apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

_AGO = re.compile(r"([0-9]{1,5})\s*([mhdwy])", re.ASCII)
_UNITS = {"m": 1 / 1440, "h": 1 / 24, "d": 1, "w": 7, "y": 365}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d)?)?Z?)?)?)?", re.ASCII)


@dataclass(frozen=True)
class Filters:
    """None asks for anything. Names may hold ``*`` and ``?`` and are compared whatever their case.

    ``since`` and ``until`` are beginnings of UTC times such as 2026-12-07T10:00:00Z; ``until`` is the last one taken.
    """

    model: str | None = None
    soc: str | None = None
    phone: str | None = None
    verdict: str | None = None
    since: str | None = None
    until: str | None = None

    def condition(self) -> tuple[str, list[str]]:
        """A WHERE clause ("" for all) and its values."""
        parts: list[str] = []
        values: list[str] = []
        for column, pattern in (("models", self.model), ("soc", self.soc), ("phone", self.phone)):
            if pattern is not None:
                parts.append(f"lower({column}) GLOB ?")
                values.append(_glob(pattern))
        if self.verdict is not None:
            parts.append("verdict = ?")
            values.append(self.verdict)
        if self.since is not None:
            parts.append("started_at >= ?")
            values.append(self.since)
        if self.until is not None:
            parts.append("started_at < ?")
            values.append(self.until + "\x7f")  # after every time that begins so
        return (f" WHERE {' AND '.join(parts)}" if parts else ""), values


def _glob(pattern: str) -> str:
    """SQLite's GLOB knows brackets, too, which stand for themselves here; a name without wildcards is the whole."""
    return pattern.lower().replace("[", "[[]")


def parse_time(text: str, option: str, now: datetime | None = None) -> str:
    """``2026``, ``2026-12-07``, ``2026-12-07T10:00`` (UTC), or ``90m``, ``12h``, ``7d``, ``2w``, ``1y`` ago.

    Raises UsageError.
    """
    ago = _AGO.fullmatch(text.strip().lower())
    if ago:
        moment = (now or datetime.now(timezone.utc)) - timedelta(days=int(ago[1]) * _UNITS[ago[2]])
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    found = text.strip().replace(" ", "T").removesuffix("Z")
    if not _DATE.fullmatch(found) or not _exists(found):
        raise UsageError(
            f"{option}: {clean(text, 60)!r} is no time", hints=("for example 2026-12-07, 2026-12-07T10:00, 12h or 7d",)
        )
    return found


def _exists(text: str) -> bool:
    day, _, clock = text.partition("T")
    whole = (day + "-01-01")[:10] if len(day) == 4 else (day + "-01")[:10]
    try:
        datetime.fromisoformat(f"{whole}T{(clock + ':00:00')[:8] if len(clock) == 2 else (clock + ':00')[:8]}"
                               if clock else whole)  # fmt: skip
    except ValueError:
        return False
    return True
