"""Baselines and comparisons with them, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from heapprof_cli.analysis.baselines import Entry
from heapprof_cli.analysis.comparing import Comparison
from heapprof_cli.analysis.measured import Key
from heapprof_cli.text import plural

_HEADINGS = ("model", "by", "SoC", "mode", "QNN build", "difference", "leak per cycle", "made")
_WIDEST = 60


def entries_json(entries: Sequence[Entry]) -> str:
    """``{"schema_version": 1, "baselines": [...]}``, each as it stands in the file."""
    content = {"schema_version": 1, "baselines": [entry.fields() for entry in entries]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def entries_text(entries: Sequence[Entry]) -> str:
    """A line for each baseline, in columns. Bytes are bytes."""
    if not entries:
        return "no baselines\n"
    rows = [_HEADINGS, *map(_row, entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def _row(entry: Entry) -> tuple[str, ...]:
    names = " + ".join(entry.key.names)
    leak = "-" if entry.leak_per_cycle is None else f"{entry.leak_per_cycle:g}"
    return (
        names if len(names) <= _WIDEST else names[: _WIDEST - 1] + "…",
        entry.match,
        entry.key.soc or "-",
        entry.key.perf_mode + (" (simulated)" if entry.key.simulated else ""),
        entry.key.qnn_build or "-",
        str(entry.difference_bytes),
        leak,
        entry.made,
    )


def comparisons_json(told: Sequence[tuple[str, Comparison]], exit_code: int) -> str:
    """``{"schema_version": 1, "exit_code": 0, "comparisons": [...]}``; ``told`` are results' names with them."""
    content = {
        "schema_version": 1,
        "exit_code": exit_code,
        "comparisons": [{"result": name, **comparison_fields(comparison)} for name, comparison in told],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def comparison_fields(comparison: Comparison) -> dict[str, object]:
    """One comparison; ``baseline`` is the entry that was used, or that comes nearest, or null."""
    measured = comparison.measured
    return {
        "outcome": comparison.outcome,
        "sentence": comparison.sentence,
        "key": _key(measured.key),
        "difference_bytes": measured.difference_bytes,
        "leak_bytes_per_cycle": measured.leak_per_cycle,
        "differing": [{"key": d.key, "baseline": d.baseline, "here": d.here} for d in comparison.differing],
        "breaches": [
            {"limit": b.limit, "allowed_bytes": b.allowed, "actual_bytes": b.actual, "sentence": b.sentence}
            for b in comparison.breaches
        ],
        "baseline": comparison.entry.fields() if comparison.entry else None,
    }


def _key(key: Key) -> dict[str, object]:
    return {
        "model": [{"name": name, "sha256": sha256} for name, sha256 in key.models],
        "soc": key.soc,
        "perf_mode": key.perf_mode,
        "qnn_build": key.qnn_build,
        "simulated": key.simulated,
    }


def comparisons_text(told: Sequence[tuple[str, Comparison]]) -> str:
    """A line for each comparison, and with several a last one that counts them."""
    lines = [f"{name}: {comparison.outcome.replace('_', ' ')}: {comparison.sentence}" for name, comparison in told]
    if len(told) > 1:
        outcomes = [comparison.outcome for _, comparison in told]
        counts = (f"{outcomes.count(outcome)} {outcome.replace('_', ' ')}" for outcome in dict.fromkeys(outcomes))
        lines.append(f"{plural(len(told), 'result')}: {', '.join(counts)}")
    return "".join(f"{line}\n" for line in lines)
