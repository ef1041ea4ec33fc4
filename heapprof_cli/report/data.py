"""What a report shows, out of results as JSON objects. Nothing in them is trusted: they may come from anywhere.

Sizes are integers in bytes; a value that is missing or none is None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from heapprof_cli.history import Summary, summary_of
from heapprof_cli.text import clean, readable_bytes

T = TypeVar("T")
LEAST_CYCLES = 4
_MOST_FIGURES = 12
_MOST_SAMPLES = 10_000
_MOST = 2**64
_VALID = ("ok", "over_limit")


@dataclass(frozen=True)
class Run:
    """One result of the table."""

    number: int
    summary: Summary
    document: Mapping[str, object]

    @property
    def good(self) -> bool:
        """Whether its difference is a valid number: one that a limit rejects is, an implausible one is not."""
        return self.summary.difference_bytes is not None and self.summary.verdict in _VALID


@dataclass(frozen=True)
class Cycles:
    """The heap after every cycle of a run, with what growth was found in it."""

    values: tuple[int, ...]
    verdict: str
    sentence: str
    bytes_per_cycle: float | None


@dataclass(frozen=True)
class Point:
    """A checkpoint of the memory ledger."""

    label: str
    rss: int | None
    pss: int | None
    private_dirty: int | None
    dma_buf: int | None


@dataclass(frozen=True)
class Series:
    """Runs that can be compared: of the same models, SoC, performance mode and kind of heap, the oldest first."""

    models: str
    soc: str
    perf_mode: str
    simulated: bool
    runs: list[Run] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.models} on {self.soc}, {self.perf_mode}{' (simulated)' if self.simulated else ''}"

    @property
    def slug(self) -> str:
        """A name for files and anchors; no two series share it."""
        letters = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in self.name)[:60]
        return f"{letters.lower()}-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}"

    @property
    def newest(self) -> Run:
        """The newest with a number, if there is one."""
        return next((run for run in reversed(self.runs) if run.good), self.runs[-1])

    @property
    def limit(self) -> int | None:
        """The newest run's --max-difference."""
        return _count(_mapping(self.newest.document.get("settings")).get("max_difference_bytes"))

    @property
    def baseline(self) -> int | None:
        """The newest run's baseline, where it was compared with one."""
        baseline = _mapping(self.newest.document.get("baseline"))
        return _count(baseline.get("difference_bytes"))

    def words(self) -> str:
        """The course in a sentence, for those who don't see the plot."""
        values = [run.summary.difference_bytes or 0 for run in self.runs if run.good]
        if not values:
            return f"{len(self.runs)} runs, none with a valid number"
        low, high, last = (readable_bytes(value) for value in (min(values), max(values), values[-1]))
        return f"{len(values)} of {len(self.runs)} runs with a valid number: from {low} to {high}, the newest {last}"


@dataclass(frozen=True)
class Report:
    """All of it. ``cycles`` and ``memory`` are of the newest run of a series that has any."""

    runs: tuple[Run, ...]
    series: tuple[Series, ...]
    cycles: tuple[tuple[Series, Run, Cycles], ...]
    memory: tuple[tuple[Series, Run, tuple[Point, ...]], ...]
    left_out: int

    @property
    def any_simulated(self) -> bool:
        return any(run.summary.simulated for run in self.runs)


def report_of(documents: Iterable[Mapping[str, object]]) -> Report:
    """Put results together. Raises UsageError for what is no result."""
    runs = [Run(n, summary_of(document, f"result {n}"), document) for n, document in enumerate(documents, start=1)]
    runs.sort(key=lambda run: (run.summary.started_at, run.number))
    found: dict[tuple[str, str, str, bool], Series] = {}
    for run in runs:
        one = run.summary
        key = (one.models, one.soc or "unknown SoC", one.perf_mode or "unknown mode", one.simulated)
        found.setdefault(key, Series(*key)).runs.append(run)
    newest_first = sorted(found.values(), key=lambda series: series.newest.summary.started_at, reverse=True)
    drawn = [series for series in newest_first if any(run.good for run in series.runs)]
    return Report(
        runs=tuple(runs),
        series=tuple(drawn[:_MOST_FIGURES]),
        cycles=tuple(_newest_with(drawn, cycles_of))[:_MOST_FIGURES],
        memory=tuple(_newest_with(drawn, memory_of))[:_MOST_FIGURES],
        left_out=max(0, len(drawn) - _MOST_FIGURES),
    )


def _newest_with(
    all_series: Iterable[Series], look: Callable[[Mapping[str, object]], T | None]
) -> Iterator[tuple[Series, Run, T]]:
    """(series, run, what ``look`` finds) of the newest run in which it finds something."""
    for series in all_series:
        for run in reversed(series.runs[-20:]):
            found = look(run.document)
            if found:
                yield series, run, found
                break


def cycles_of(document: Mapping[str, object]) -> Cycles | None:
    """The cycles of a result's first run, where they are enough to judge."""
    samples = document.get("samples")
    if not isinstance(samples, list):
        return None
    first = [_mapping(sample) for sample in samples[:_MOST_SAMPLES] if _mapping(sample).get("run") == 1]
    values = [value for sample in first if (value := _count(sample.get("after_bytes"))) is not None]
    growth = _mapping(document.get("growth"))
    if len(values) < LEAST_CYCLES or not growth:
        return None
    before = _count(first[0].get("before_bytes"))
    slope = growth.get("bytes_per_cycle")
    return Cycles(
        values=(*((before,) if before is not None else ()), *values),
        verdict=_text(growth.get("verdict")),
        sentence=_text(growth.get("sentence")),
        bytes_per_cycle=float(slope) if isinstance(slope, (int, float)) and growth.get("verdict") == "leak" else None,
    )


def memory_of(document: Mapping[str, object]) -> tuple[Point, ...]:
    """The memory ledger of a result's first run."""
    points = document.get("memory")
    if not isinstance(points, list):
        return ()
    found = []
    for point in map(_mapping, points[:_MOST_SAMPLES]):
        if point.get("run") == 1:
            cycle = _count(point.get("cycle"))
            place = _text(point.get("checkpoint")).replace("_", " ")
            keys = ("rss_bytes", "pss_bytes", "private_dirty_bytes", "dma_buf_bytes")
            found.append(Point(f"{cycle}: {place}" if cycle else place, *(_count(point.get(key)) for key in keys)))
    return tuple(found) if any(point.rss is not None for point in found) else ()


def facts(run: Run) -> list[tuple[str, str]]:
    """Where a run's number comes from, as labels and values."""
    document = run.document
    device, runner, repository = (_mapping(document.get(key)) for key in ("device", "runner", "repository"))
    conditions = _mapping(document.get("conditions"))
    found = [
        ("verdict", f"{run.summary.verdict}: {_text(document.get('summary'))}"),
        ("measured", run.summary.started_at),
        ("phone", _joined(device, "model", "alias", "android")),
        ("fingerprint", _text(device.get("fingerprint"))),
        ("kernel", _text(device.get("kernel"))),
        ("QNN build", run.summary.qnn_build or ""),
        ("runner", _joined(runner, "kind", "target", "version")),
        ("heapprof", _text(document.get("heapprof_version"))),
        ("commit", _text(repository.get("commit")) + (" (changed since)" if repository.get("dirty") is True else "")),
        ("before the run", _conditions(conditions.get("before"))),
        ("after the run", _conditions(conditions.get("after"))),
        ("settings", _settings(document)),
    ]
    for artifact in _list(document.get("artifacts")):
        one = _mapping(artifact)
        build = f", {_text(one.get('qnn_build'))}" if one.get("qnn_build") else ""
        found.append((_text(one.get("name")) or "artifact", f"{_text(one.get('sha256'))[:16]}…{build}"))
    found += [("warning", _text(warning)) for warning in _list(document.get("warnings"))]
    return [(label, value) for label, value in found if value]


def _conditions(value: object) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_shown(each)}" for name, each in _mapping(value).items() if each)


def _settings(document: Mapping[str, object]) -> str:
    """Those that somebody set, with who did; the rest are defaults."""
    settings, origins = _mapping(document.get("settings")), _mapping(document.get("settings_origins"))
    told = [
        f"{clean(str(name), 60)} {_shown(settings.get(name, 'set'))} ({_text(origin)})"
        for name, origin in origins.items()
        if origin != "default"
    ]
    return ", ".join(told)


def _joined(fields: Mapping[str, object], *names: str) -> str:
    return ", ".join(text for name in names if (text := _text(fields.get(name))))


def _shown(value: object) -> str:
    return clean(str(value), 120)


def _list(value: object) -> Sequence[object]:
    return value[:200] if isinstance(value, list) else ()


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return clean(value, 300) if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST else None
