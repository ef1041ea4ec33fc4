"""The history as text and as JSON; how a number went, as a line of small bars."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from heapprof_cli.history import Entry
from heapprof_cli.text import plural, readable_bytes

_BARS = "▁▂▃▄▅▆▇█"
_POINTS = 40
_WIDEST = 48
_HEADINGS = ("id", "when (UTC)", "model", "SoC", "phone", "mode", "difference", "result")
_RIGHT = {0, 6}


def history_json(entries: Sequence[Entry], total: int) -> str:
    """``{"schema_version": 1, "total": 3, "results": [...]}``; ``total`` counts those beyond the limit, too."""
    results = [{"id": entry.id, **asdict(entry.summary)} for entry in entries]
    return json.dumps({"schema_version": 1, "total": total, "results": results}, indent=2, ensure_ascii=False) + "\n"


def history_text(entries: Sequence[Entry], total: int) -> str:
    """A line for each result, the newest last, and one for each series of several with its course."""
    if not entries:
        return "no results\n"
    return "".join(f"{line}\n" for line in _lines(entries, total))


def sparkline(values: Sequence[int]) -> str:
    """The values as bars between their smallest and largest; equal ones are the lowest bar."""
    low, high = min(values), max(values)
    steps = len(_BARS) - 1
    return "".join(_BARS[(value - low) * steps // (high - low) if high > low else 0] for value in values)


def series(entries: Sequence[Entry]) -> dict[tuple[str, str, str, bool], list[Entry]]:
    """Those with a number, by what they are comparable in: models, SoC, performance mode, simulated."""
    found: dict[tuple[str, str, str, bool], list[Entry]] = {}
    for entry in entries:
        one = entry.summary
        if one.difference_bytes is not None:
            key = (one.models, one.soc or "unknown", one.perf_mode or "unknown", one.simulated)
            found.setdefault(key, []).append(entry)
    return found


def _lines(entries: Sequence[Entry], total: int) -> Iterator[str]:
    rows = [_HEADINGS, *map(_row, entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        cells = (
            cell.rjust(width) if column in _RIGHT else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
    several = {key: each for key, each in series(entries).items() if len(each) > 1}
    if several:
        yield ""
    for (models, soc, mode, simulated), each in several.items():
        values = [entry.summary.difference_bytes or 0 for entry in each]
        name = f"{_short(models)}, {soc}, {mode}{' (simulated)' if simulated else ''}"
        low, high = readable_bytes(min(values)), readable_bytes(max(values))
        yield f"{sparkline(values[-_POINTS:])}  {name}: {plural(len(values), 'result')}, {low} to {high}"
    if total > len(entries):
        yield f"{len(entries)} of {total} results; --limit shows more"


def _row(entry: Entry) -> tuple[str, ...]:
    one = entry.summary
    return (
        str(entry.id),
        one.started_at.replace("T", " ").removesuffix("Z"),
        _short(one.models),
        one.soc or "-",
        one.phone or "-",
        one.perf_mode or "-",
        "-" if one.difference_bytes is None else str(one.difference_bytes),
        one.verdict + (" (simulated)" if one.simulated else ""),
    )


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
