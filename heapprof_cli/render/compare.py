"""Two results side by side, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from heapprof_cli.analysis.comparing import Comparison
from heapprof_cli.analysis.measured import Measured
from heapprof_cli.analysis.verdicts import in_bytes
from heapprof_cli.render.baselines import comparison_fields
from heapprof_cli.text import clean, readable_bytes

Side = tuple[str, object, Measured]
_WIDEST = 40


@dataclass(frozen=True)
class Sides:
    """What was compared: each side's name, JSON object and measurement; what came of it, and the exit code."""

    base: Side
    new: Side
    comparison: Comparison
    exit_code: int


def comparison_json(sides: Sides) -> str:
    """``{"schema_version": 1, "exit_code": 0, "outcome": ..., "base": {...}, "new": {...}, "change_bytes": {...}}``."""
    before, after = sides.base[2], sides.new[2]
    content = {
        "schema_version": 1,
        "exit_code": sides.exit_code,
        **{key: value for key, value in comparison_fields(sides.comparison).items() if key not in ("baseline", "key")},
        "base": _side(sides.base),
        "new": _side(sides.new),
        "change_bytes": {
            "before": after.before_bytes - before.before_bytes,
            "after": after.after_bytes - before.after_bytes,
            "difference": after.difference_bytes - before.difference_bytes,
        },
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _side(side: Side) -> dict[str, object]:
    name, document, one = side
    return {
        "name": clean(name, 300),
        "model": [{"name": model, "sha256": sha256} for model, sha256 in one.key.models],
        "phone": _field(document, "device", "alias"),
        "started_at": _field(document, "started_at"),
        "soc": one.key.soc,
        "perf_mode": one.key.perf_mode,
        "qnn_build": one.key.qnn_build,
        "simulated": one.key.simulated,
        "before_bytes": one.before_bytes,
        "after_bytes": one.after_bytes,
        "difference_bytes": one.difference_bytes,
        "leak_bytes_per_cycle": one.leak_per_cycle,
    }


def comparison_text(sides: Sides) -> str:
    """Rows of both values, those that differ marked with *; then the outcome in words."""
    rows = [("", _name(sides.base), _name(sides.new), ""), *_rows(sides)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    outcome = f"{sides.comparison.outcome.replace('_', ' ')}: {sides.comparison.sentence}"
    return "".join(f"{line}\n" for line in (*lines, "", outcome.replace("the baseline", "BASE")))


def _name(side: Side) -> str:
    """A path's end tells more than its beginning."""
    name = clean(side[0], 300)
    return name if len(name) <= _WIDEST else f"…{name[-_WIDEST:]}"


def _rows(sides: Sides) -> Iterator[tuple[str, str, str, str]]:
    (_, there, before), (_, here, after) = sides.base, sides.new
    yield _row("model", " + ".join(before.key.names), " + ".join(after.key.names))
    yield _row("model hash", *(" + ".join(sha[:12] for sha in one.key.hashes) for one in (before, after)))
    for name, value in before.key.conditions().items():
        yield _row(name, value, after.key.conditions()[name])
    yield _row("phone", *(str(_field(document, "device", "alias") or "unknown") for document in (there, here)))
    yield _row("measured", *(str(_field(document, "started_at") or "unknown") for document in (there, here)))
    for label, old, new in (
        ("before_context_created", before.before_bytes, after.before_bytes),
        ("after_context_freed", before.after_bytes, after.after_bytes),
        ("difference", before.difference_bytes, after.difference_bytes),
    ):
        change = new - old
        told = f"{'+' if change > 0 else ''}{in_bytes(change)} ({readable_bytes(change)})" if change else ""
        yield label, str(old), str(new), told
    if before.leak_per_cycle is not None or after.leak_per_cycle is not None:
        yield _row("leak per cycle", _leak(before), _leak(after))


def _row(label: str, old: str, new: str) -> tuple[str, str, str, str]:
    return label, clean(old, _WIDEST), clean(new, _WIDEST), "" if old == new else "*"


def _leak(one: Measured) -> str:
    return "not known" if one.leak_per_cycle is None else f"{one.leak_per_cycle:g}"


def _field(document: object, *names: str) -> str | None:
    """A text somewhere in a result, safe to show."""
    for name in names:
        document = document.get(name) if isinstance(document, Mapping) else None
    return clean(document, 100) if isinstance(document, str) else None
