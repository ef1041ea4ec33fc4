"""A series that scatters: is it a line, a level, or levels with steps between them?

Slopes are Theil-Sen's (the median over pairs of values: Theil 1950, Sen 1968), levels medians; which of the models
holds is decided by the Bayesian information criterion for Laplace errors, and how sure the slope is by resampling
blocks of residuals with a fixed seed, so that neighbours that hang together widen the interval.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from heapprof_cli.analysis.verdicts import in_bytes
from heapprof_cli.records import Growth

_MOST_POINTS = 120
_LEAST_VALUES = 6
_LEAST_SEGMENT = 3
_RESAMPLES = 400
_SEED = 20240229
_OUTSIDE = 0.005  # on each side of the interval
# In standard deviations of the scatter: a growth over the whole series, and a step, that are worth the name.
_LEAST_RISE = 5.0
_LEAST_RISE_OF_FEW = 20.0  # over the number of points, added to that
_LEAST_STEP = 4.0
_ERROR_TO_DEVIATION = 1.2533  # of a normal distribution: mean absolute error to standard deviation


@dataclass(frozen=True)
class _Model:
    """Levels between ``cuts`` (numbers of the points that begin a new level), and one slope for all."""

    cuts: tuple[int, ...]
    slope: float
    levels: tuple[float, ...]
    residuals: tuple[float, ...]
    cost: float


def judge_robustly(values: Sequence[int]) -> Growth:
    """Judge four or more values that no exact pattern explains."""
    count = len(values) - 1
    if len(values) < _LEAST_VALUES:
        sentence = (
            f"goes up and down by {in_bytes(max(values) - min(values))}: {count} cycles are too few; measure 8 or more"
        )
        return Growth("noisy", None, None, None, sentence, "robust", count, too_few=True)
    block, points = _points(values)
    best = min(_models(points), key=lambda model: model.cost)
    sloped = best if best.slope else _fit(points, best.cuts, sloped=True)
    low, high = _interval(sloped)
    interval = (round(low / block, 3), round(high / block, 3))
    slope = round(sloped.slope / block, 3)
    one_time = round(best.levels[-1] - best.levels[0])
    outliers = _outliers(best.residuals)
    around = f"{in_bytes(interval[0])} to {interval[1]:.1f}"
    usual = _deviation(best)
    # What a step took back, a slope beside it has not added; where that is half of it, it is no growth.
    rise = best.slope * len(best.residuals)
    rise = 0.0 if rise < -2 * one_time else rise + min(one_time, 0)
    if best.slope > 0 and low > 0 and rise > _least_rise(len(points)) * usual:
        cost = f", besides {in_bytes(one_time)} once" if best.cuts else ""
        sentence = f"grows by {in_bytes(slope)} a cycle ({around}) over {count} cycles{cost}, above the scatter"
        return Growth("leak", one_time, slope, interval, sentence, "robust", count, outliers=outliers)
    if best.slope > 0:
        sentence = f"may grow by {in_bytes(slope)} a cycle, but the scatter allows {around}; measure more cycles"
        return Growth("noisy", None, slope, interval, sentence, "robust", count, outliers=outliers)
    if best.cuts and one_time > _LEAST_STEP * usual:
        sentence = f"{in_bytes(one_time)} were added by steps; between them nothing but scatter ({around} a cycle)"
        return Growth("one_time_cost", one_time, slope, interval, sentence, "robust", count, outliers=outliers)
    scatter = max(best.residuals) - min(best.residuals)
    if high / block * count > scatter:
        sentence = f"scatters by {in_bytes(round(scatter))}; that allows {around} a cycle: measure more cycles"
        return Growth("noisy", None, slope, interval, sentence, "robust", count, outliers=outliers)
    sentence = f"scatters by {in_bytes(round(scatter))} without a trend ({around} a cycle)"
    return Growth("stable", min(one_time, 0), slope, interval, sentence, "robust", count, outliers=outliers)


def _least_rise(points: int) -> float:
    """How many standard deviations a growth must reach; with few points a chance alignment reaches more."""
    return _LEAST_RISE + _LEAST_RISE_OF_FEW / points


def _free(model: _Model) -> int:
    """How many residuals are free: a level, a slope and a step's place each take one for themselves."""
    taken = 1 + len(model.cuts) + sum(1 for cut in model.cuts if cut > 1) + (1 if model.slope else 0)
    return max(len(model.residuals) - taken, 1)


def _deviation(model: _Model) -> float:
    """The scatter around a model as a standard deviation."""
    return _ERROR_TO_DEVIATION * math.fsum(map(abs, model.residuals)) / _free(model)


def _points(values: Sequence[int]) -> tuple[int, list[float]]:
    """How many values a point stands for, and the points: medians of blocks where there are many values.

    They count from the first value: a shift must change nothing, also not by rounding.
    """
    block = -(-len(values) // _MOST_POINTS)
    moved = [value - values[0] for value in values]
    whole = len(moved) // block * block
    return block, [float(statistics.median(moved[i : i + block])) for i in range(0, whole, block)]


def _models(points: list[float]) -> list[_Model]:
    places = _likely_cuts(points)
    # The first value may be a before: then the one-time cost lies between it and the second.
    places = sorted({1, *places})
    cuts = [(), *((place,) for place in places), *itertools.combinations(places, 2)]
    fitting = [chosen for chosen in cuts if _long_enough(chosen, len(points))]
    return [_fit(points, chosen, sloped=sloped) for chosen in fitting for sloped in (False, True)]


def _long_enough(cuts: tuple[int, ...], count: int) -> bool:
    edges = (0, *cuts, count)
    return all(end - start >= _LEAST_SEGMENT for start, end in itertools.pairwise(edges) if end > 1)


def _likely_cuts(points: list[float]) -> list[int]:
    """The places where the medians of what is before and after lie farthest apart; at most four, not neighbours."""
    width = 5
    heights = [
        (abs(statistics.median(points[i : i + width]) - statistics.median(points[max(i - width, 0) : i])), i)
        for i in range(_LEAST_SEGMENT, len(points) - _LEAST_SEGMENT + 1)
    ]
    chosen: list[int] = []
    for height, place in sorted(heights, key=lambda entry: (-entry[0], entry[1])):
        # The medians are equally far apart at some places around a step: the largest single step among them is it.
        near = [p for h, p in heights if abs(p - place) <= 2 and h >= 0.8 * height]
        steepest = max(near, key=lambda p: abs(points[p] - points[p - 1]))
        if all(abs(steepest - other) >= _LEAST_SEGMENT for other in chosen):
            chosen.append(steepest)
        if len(chosen) == 4:
            break
    return chosen


def _fit(points: list[float], cuts: tuple[int, ...], *, sloped: bool) -> _Model:
    edges = list(itertools.pairwise((0, *cuts, len(points))))
    slope = _theil_sen(points, edges) if sloped else 0.0
    levels, residuals = [], []
    for start, end in edges:
        flat = [points[i] - slope * i for i in range(start, end)]
        level = statistics.median(flat)
        levels.append(level)
        residuals += [value - level for value in flat]
    count = len(points)
    # Relative, so that bytes or mebibytes make no difference; without it one exact fit would beat everything.
    ordered = sorted(points)
    floor = 0.002 * (ordered[-1 - len(points) // 10] - ordered[len(points) // 10]) + 1e-9
    error = statistics.fmean(map(abs, residuals)) + floor
    # A step has a place and a size; the place is the best of many, which is worth another half.
    parameters = 1 + 2.5 * len(cuts) + (1 if sloped else 0)
    cost = 2 * count * math.log(error) + parameters * math.log(count)
    return _Model(cuts, slope, tuple(levels), tuple(residuals), cost)


def _theil_sen(points: list[float], edges: list[tuple[int, int]]) -> float:
    slopes = [
        (points[j] - points[i]) / (j - i) for start, end in edges for i in range(start, end) for j in range(i + 1, end)
    ]
    return statistics.median(slopes)


def _interval(model: _Model) -> tuple[float, float]:
    """99 % of the slopes that residuals in another order would have given, around the slope that was found."""
    chance = random.Random(_SEED)
    residuals = model.residuals
    count = len(residuals)
    length = max(2, round(count ** (1 / 3)))
    pairs = _distant_pairs(list(itertools.pairwise((0, *model.cuts, count))))
    found = []
    for _ in range(_RESAMPLES):
        drawn: list[float] = []
        while len(drawn) < count:
            start = chance.randrange(count - length + 1)
            drawn += residuals[start : start + length]
        found.append(statistics.median([(drawn[j] - drawn[i]) / (j - i) for i, j in pairs]))
    found.sort()
    outside = round(_OUTSIDE * _RESAMPLES)
    # A fit is nearer to its points than the truth is.
    wider = math.sqrt(count / _free(model))
    return model.slope + wider * found[outside], model.slope + wider * found[-1 - outside]


def _distant_pairs(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each point with that half a segment further on (Theil's incomplete method): quick, and no point twice."""
    pairs = []
    for start, end in edges:
        half = (end - start + 1) // 2
        pairs += [(i, i + half) for i in range(start, end - half)]
    return pairs


def _outliers(residuals: Sequence[float]) -> int:
    """How many residuals lie beyond six times the usual scatter."""
    usual = statistics.median([abs(value) for value in residuals])
    return sum(1 for value in residuals if abs(value) > 6 * 1.4826 * usual) if usual else 0
