"""What the cycles and runs of a measurement say together: a leak, a one-time cost, or noise."""

from __future__ import annotations

from collections.abc import Sequence

from heapprof_cli.analysis.growth import judge_runs, judge_samples, judge_series
from heapprof_cli.records import Growth, HeapReading, MemoryPoint, RunNoise, Sample
from heapprof_cli.settings import RunSettings

# From the runner's ledger; judged like the DSP heap.
MEMORY_SERIES = ("rss_bytes", "pss_bytes", "dma_buf_bytes")
_GRAVITY = {"stable": 0, "one_time_cost": 1, "noisy": 2, "leak": 3}


def heap_growth(settings: RunSettings, samples: Sequence[Sample]) -> Growth | None:
    """The gravest judgement over the runs' cycles; None for single cycles."""
    if settings.cycles == 1 or not samples:
        return None
    return _gravest(judge_samples(samples, settings.warm_up_cycles))


def memory_growth(settings: RunSettings, points: Sequence[MemoryPoint]) -> dict[str, Growth]:
    """For each series of the ledger that is complete, the gravest judgement over the runs."""
    if settings.cycles == 1:
        return {}
    found: dict[str, Growth] = {}
    for name in MEMORY_SERIES:
        series = [_series(points, run, name) for run in range(1, settings.runs + 1)]
        if all(len(values) == settings.cycles + 1 for values in series):
            found[name] = _gravest([judge_series(values, settings.warm_up_cycles) for values in series])
    return found


def run_noise(settings: RunSettings, samples: Sequence[Sample]) -> RunNoise | None:
    """How the difference of whole runs scatters; None for a single run."""
    if settings.runs == 1:
        return None
    whole = [
        _whole([sample for sample in samples if sample.run == run])
        for run in sorted({sample.run for sample in samples})
    ]
    return judge_runs(whole) if whole else None


def _whole(samples: Sequence[Sample]) -> HeapReading:
    """A run's own reading: before its first cycle, after its last."""
    return HeapReading(samples[0].reading.before_bytes, samples[-1].reading.after_bytes)


def _series(points: Sequence[MemoryPoint], run: int, name: str) -> list[int]:
    """The run's values before the first cycle and after each; shorter where one is unknown."""
    wanted = [
        point
        for point in points
        if point.run == run
        and (point.checkpoint == "after_free" or (point.checkpoint == "before_create" and point.cycle == 1))
    ]
    return [value for value in (getattr(point, name) for point in wanted) if value is not None]


def _gravest(growths: Sequence[Growth]) -> Growth:
    return max(growths, key=lambda growth: (_GRAVITY[growth.verdict], growth.bytes_per_cycle or 0))
