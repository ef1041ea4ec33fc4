"""Integer reasoning over a series: equal steps, plateaus, late steps, steps that recur every k-th cycle.

No statistics: what is found here explains the values to the byte, but for values that stand alone.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from heapprof_cli.analysis.robust import judge_robustly
from heapprof_cli.analysis.verdicts import in_bytes
from heapprof_cli.records import Growth, GrowthVerdict
from heapprof_cli.text import plural

_LONGEST_PERIOD = 64


def judge_exactly(values: Sequence[int]) -> Growth | None:
    """What explains ``values`` (four or more) exactly; None where they scatter."""
    steps = [after - before for before, after in itertools.pairwise(values)]
    if not any(steps):
        count = len(steps)
        return Growth("stable", 0, 0, None, f"the same {in_bytes(values[0])} in all {count} cycles", "exact", count)
    found = _equal_steps(values, steps) or _recurring(steps)
    if found is None and min(steps) >= 0:
        found = _rises(values, steps)
    return found


@dataclass(frozen=True)
class _Jump:
    """``size`` bytes added (or, below zero, given back) from cycle ``first`` to cycle ``last``, 1-based."""

    first: int
    last: int
    size: int


@dataclass(frozen=True)
class _Line:
    """Values on a line of equal steps; ``jumps`` are where it moved for good."""

    jumps: tuple[_Jump, ...]
    outliers: int


def _follow(values: Sequence[int], step: int) -> _Line:
    """Follow the line with ``step``: what leaves it and returns is an outlier, what does not return a jump."""
    good, pending, outliers = 0, 0, 0
    jumps = []
    for i in range(1, len(values)):
        off = values[i] - values[good] - step * (i - good)
        if off == 0:
            outliers, pending, good = outliers + pending, 0, i
        elif i + 1 == len(values) or values[i + 1] - values[i] == step:
            jumps.append(_Jump(good + 1, i, off))
            good, pending = i, 0
        else:
            pending += 1
    return _Line(tuple(jumps), outliers)


def _equal_steps(values: Sequence[int], steps: list[int]) -> Growth | None:
    """One step in most cycles, with few jumps and outliers besides."""
    count = len(steps)
    step, times = Counter(steps).most_common(1)[0]
    line = _follow(values, step)
    if times < max(3, (count + 1) // 2) or line.outliers > len(values) // 5:
        return _single_step(values, steps) if step == 0 else None
    one_time = sum(jump.size for jump in line.jumps)
    aside = f"; {plural(line.outliers, 'value')} stood alone and did not count" if line.outliers else ""
    if step == 0:
        if len(line.jumps) > 1 or not all(_settled(jump, count) for jump in line.jumps):
            return None
        verdict, sentence = _after_jump(line.jumps[0] if line.jumps else None, count)
        return Growth(verdict, one_time, 0, None, sentence + aside, "exact", count, outliers=line.outliers)
    # A line that ended is no leak any more: its last two steps must not both be others.
    if len(line.jumps) > 1 + count // 8 or step not in steps[-2:] or (count < 6 and steps[-1] == 0):
        return None
    taken_back = -sum(jump.size for jump in line.jumps if jump.size < 0)
    if step > 0 and 2 * taken_back > step * count:
        return None
    cost = f", and {in_bytes(one_time)} once" if one_time else ""
    if step < 0:
        sentence = f"falls by {in_bytes(-step)} a cycle{cost}: nothing is kept{aside}"
        return Growth("stable", one_time, step, None, sentence, "exact", count, outliers=line.outliers)
    sentence = f"grows by exactly {in_bytes(step)} in {times} of {count} cycles{cost}{aside}"
    return Growth("leak", one_time, step, None, sentence, "exact", count, outliers=line.outliers)


def _single_step(values: Sequence[int], steps: list[int]) -> Growth | None:
    """A single step in a series too short for a majority of equal ones: ``x x y y``."""
    moves = [_Jump(number, number, step) for number, step in enumerate(steps, start=1) if step]
    if len(moves) != 1:
        return None
    verdict, sentence = _after_jump(moves[0], len(steps))
    return Growth(verdict, values[-1] - values[0], 0, None, sentence, "exact", len(steps))


def _settled(jump: _Jump, count: int) -> bool:
    """Whether a jump over several cycles was followed by as many quiet ones; one step needs none."""
    return jump.first == jump.last or count - jump.last >= max(2, jump.last - jump.first + 1)


def _after_jump(jump: _Jump | None, count: int) -> tuple[GrowthVerdict, str]:
    if jump is None:
        return "stable", f"comes back to the same value over {count} cycles"
    where = f"cycle {jump.first}" if jump.first == jump.last else f"cycles {jump.first} to {jump.last}"
    if jump.size <= 0:
        return "stable", f"fell by {in_bytes(-jump.size)} in {where} of {count} and stayed there"
    rest = count - jump.last
    kept = (
        f"and stayed in the {plural(rest, 'cycle')} after" if rest else "the last: more cycles tell whether it recurs"
    )
    return "one_time_cost", f"{in_bytes(jump.size)} were added once, in {where} of {count}, {kept}"


def _recurring(steps: list[int]) -> Growth | None:
    """Steps that repeat with a period of two or more cycles, after some cycles of settling."""
    count = len(steps)
    rising = min(steps) >= 0
    for period in range(2, min(count // 3, _LONGEST_PERIOD) + 1):
        start = count - period
        while start > 0 and steps[start - 1] == steps[start - 1 + period]:
            start -= 1
        length = count - start
        # A short pattern with falls in it may be chance.
        if length < (3 * period if rising else max(4 * period, 10)) or 3 * length < 2 * count:
            continue
        added = sum(steps[-period:])
        # What the pattern, carried back to the beginning, does not explain is the one-time cost.
        usual = [steps[number + -(-(start - number) // period) * period] for number in range(start)]
        return _told_recurring(added, period, sum(steps[:start]) - sum(usual), count)
    return None


def _told_recurring(added: int, period: int, one_time: int, count: int) -> Growth:
    if added > 0:
        each: int | float = added // period if added % period == 0 else added / period
        cost = f", and {in_bytes(one_time)} once" if one_time else ""
        sentence = f"grows by exactly {in_bytes(added)} every {period} cycles, over {count} cycles{cost}"
        return Growth("leak", one_time, each, None, sentence, "exact", count)
    if added < 0:
        sentence = f"falls by {in_bytes(-added)} every {period} cycles: nothing is kept"
        return Growth("stable", one_time, added / period, None, sentence, "exact", count)
    if one_time > 0:
        sentence = f"{in_bytes(one_time)} were added once; then it goes up and down by the same every {period} cycles"
        return Growth("one_time_cost", one_time, 0, None, sentence, "exact", count)
    return Growth("stable", one_time, 0, None, f"goes up and down by the same every {period} cycles", "exact", count)


def _rises(values: Sequence[int], steps: list[int]) -> Growth:
    """A series that never falls, with two or more rises: has it settled, does it recur, or does it go on?"""
    count, total = len(steps), values[-1] - values[0]
    at = [number for number, step in enumerate(steps) if step]
    sizes = {steps[number] for number in at}
    gaps = [after - before for before, after in itertools.pairwise(at)]
    quiet = count - 1 - at[-1]
    widest = max(gaps, default=1)
    if quiet >= max(2, 2 * widest, (at[-1] - at[0] + 1) // 2):
        sentence = f"{in_bytes(total)} were added in {plural(len(at), 'step')}, and nothing in the last {quiet} cycles"
        return Growth("one_time_cost", total, 0, None, sentence, "exact", count)
    if len(at) >= 3 and len(set(gaps)) == 1 and len(sizes) == 1 and quiet < widest:
        return _every(widest, steps[at[-1]], len(at), count)
    if len(at) >= 4 and len(sizes) == 1 and widest - min(gaps) <= max(1, widest // 10) and quiet <= widest:
        return _about_every(steps[at[-1]], len(at), at[-1] - at[0], count)
    if count == 3 and len(at) == 3 and steps[1] == steps[2]:
        one_time = max(steps[0] - steps[1], 0)
        cost = f", and {in_bytes(one_time)} once" if one_time else ""
        return Growth("leak", one_time, steps[1], None, f"grows in each of 3 cycles, by {in_bytes(steps[1])} in the "
                      f"last two{cost}", "exact", count)  # fmt: skip
    if len(at) < 3 or count < 6:
        return _unsettled(len(at), count, total, too_few=True)
    # The first step may hold the one-time cost.
    middle = count // 2
    early, late = sum(steps[1:middle]), sum(steps[middle:])
    late_rises = sum(1 for number in at if number >= middle)
    if late_rises < 2 or (4 * len(at) < count and len(at) < 6) or 4 * late < early:
        return _unsettled(len(at), count, total, too_few=False)
    found = judge_robustly(values)
    return found if found.leaks else _unsettled(len(at), count, total, too_few=found.too_few)


def _every(period: int, size: int, times: int, count: int) -> Growth:
    if period == 1:
        sentence = f"grows by exactly {in_bytes(size)} in each of the last {times} of {count} cycles"
        return Growth("leak", 0, size, None, sentence, "exact", count)
    each: int | float = size // period if size % period == 0 else size / period
    sentence = f"grows by exactly {in_bytes(size)} every {period} cycles, {times} times in {count} cycles"
    return Growth("leak", 0, each, None, sentence, "exact", count)


def _about_every(size: int, times: int, span: int, count: int) -> Growth:
    """A leak of fewer bytes than the heap grows by at a time: it shows as pages, at nearly equal distances."""
    gap, each = span / (times - 1), size * (times - 1) / span
    sentence = (
        f"grows by exactly {in_bytes(size)} about every {gap:.1f} cycles, {times} times in {count} cycles: "
        f"{in_bytes(each)} a cycle"
    )
    return Growth("leak", 0, each, None, sentence, "exact", count)


def _unsettled(rises: int, count: int, total: int, *, too_few: bool) -> Growth:
    what = f"rose {plural(rises, 'time')} in {count} cycles, by {in_bytes(total)} together"
    why = "too few cycles to tell a leak from one-time costs" if too_few else "neither settled nor steady"
    return Growth("noisy", None, None, None, f"{what}: {why}; measure more cycles", "exact", count, too_few=too_few)
