"""Does a process that creates and frees again and again keep what it took? See docs/growth.md."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from heapprof_cli.analysis.exact import judge_exactly
from heapprof_cli.analysis.robust import judge_robustly
from heapprof_cli.analysis.verdicts import in_bytes
from heapprof_cli.records import Growth, HeapReading, RunNoise, Sample
from heapprof_cli.text import plural

__all__ = ["Growth", "RunNoise", "judge_runs", "judge_samples", "judge_series"]

# Steps from value to value: below this nothing is called a leak, and a plateau proves nothing.
LEAST_STEPS = 3
_NEAR_ZERO = 0.1
_BACK_AGAIN = 0.5
# The worst of several stretches tells the story.
_GRAVITY = {"leak": 3, "noisy": 2, "one_time_cost": 1, "stable": 0}


def judge_series(values: Sequence[int], warm_up: int = 0) -> Growth:
    """Judge ``values``, bytes after successive cycles of one process (DSP heap after, RSS, PSS, DMA-BUF).

    The first value is only what the next is compared with: it may be the "before" of the first cycle, whose one-time
    cost then shows as the first step, or the value after the first cycle. What ``warm_up`` first steps add counts as
    one-time cost and is never a leak. A drop to near zero that lasts splits the series: each stretch is judged for
    itself. Four values in equal steps suffice for an exact leak.
    """
    kept = list(values[max(warm_up, 0) :])
    early = kept[0] - values[0] if kept else 0
    stretches = _split(kept)
    judged = [_judge_stretch(stretch) for stretch in stretches] or [_too_few(0, None)]
    told = [growth for growth in judged if not growth.too_few] or judged
    worst = max(told, key=lambda growth: (_GRAVITY[growth.verdict], growth.cycles))
    if warm_up > 0 and early > 0:
        worst = _with_warm_up(worst, early, min(warm_up, max(len(values) - 1, 0)))
    if len(judged) > 1:
        note = f"the counter began anew {plural(len(judged) - 1, 'time')}: told of {plural(worst.cycles, 'cycle')}; "
        worst = replace(worst, sentence=note + worst.sentence, resets=len(judged) - 1)
    return worst


def judge_samples(samples: Sequence[Sample], warm_up: int = 0) -> tuple[Growth, ...]:
    """One judgement for each run (process) in ``samples``: its first before, then every after, in order of cycles."""
    runs: dict[int, list[Sample]] = {}
    for sample in samples:
        runs.setdefault(sample.run, []).append(sample)
    found = []
    for run in sorted(runs):
        cycles = sorted(runs[run], key=lambda sample: sample.cycle)
        series = [cycles[0].reading.before_bytes, *(sample.reading.after_bytes for sample in cycles)]
        found.append(judge_series(series, warm_up))
    return tuple(found)


def judge_runs(readings: Sequence[HeapReading]) -> RunNoise:
    """The noise of the difference over fresh processes. Raises ValueError for no readings.

    The median is the lower of two in the middle: a value that was measured.
    """
    if not readings:
        raise ValueError("no readings to judge")
    found = [reading.difference_bytes for reading in readings]
    median, low, high = statistics.median_low(found), min(found), max(found)
    if len(found) == 1:
        sentence = f"one run: the difference is {in_bytes(median)}; more runs would tell its noise"
    elif low == high:
        sentence = f"the difference is {in_bytes(median)} in each of {len(found)} runs"
    else:
        sentence = (
            f"the difference scatters by {in_bytes(high - low)} over {len(found)} runs "
            f"(from {low} to {high}, median {median})"
        )
    return RunNoise(len(found), median, low, high, sentence)


def _judge_stretch(values: Sequence[int]) -> Growth:
    steps = len(values) - 1
    if steps < LEAST_STEPS:
        return _too_few(max(steps, 0), values[-1] - values[0] if values else None)
    return judge_exactly(values) or judge_robustly(values)


def _too_few(steps: int, change: int | None) -> Growth:
    advice = f"{plural(steps, 'cycle')} to compare: too few to tell a leak from a one-time cost; measure 4 or more"
    if steps and change == 0:
        return Growth("stable", 0, None, None, f"nothing was added, but {advice}", "exact", steps, too_few=True)
    return Growth("noisy", None, None, None, advice, "exact", steps, too_few=True)


def _with_warm_up(growth: Growth, early: int, steps: int) -> Growth:
    note = f"; warming up ({plural(steps, 'cycle')}) added {in_bytes(early)} before"
    one_time = early + (growth.one_time_bytes or 0)
    verdict = "one_time_cost" if growth.verdict == "stable" and one_time > 0 else growth.verdict
    return replace(growth, verdict=verdict, one_time_bytes=one_time, sentence=growth.sentence + note)


def _split(values: list[int]) -> list[list[int]]:
    """The stretches between counter resets: a fall below a tenth that the next value does not undo."""
    stretches: list[list[int]] = []
    start = 0
    for i in range(1, len(values)):
        level = values[i - 1]
        if not 0 <= values[i] < _NEAR_ZERO * level:
            continue
        returns = i + 1 < len(values) and values[i + 1] >= _BACK_AGAIN * level
        if not returns:
            stretches.append(values[start:i])
            start = i
    return [*stretches, values[start:]] if values else []
