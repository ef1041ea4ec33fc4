"""Judges 2,000 simulated series and writes the confusion table into docs/growth.md.

Nothing here was measured: the series are made from fixed seeds, so that everyone gets the same table.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.analysis.growth import Growth, judge_series

PAGE_FILE = Path(__file__).resolve().parent.parent / "docs" / "growth.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
SERIES = 2000
VERDICTS = ("leak", "one_time_cost", "stable", "noisy")
# A leak counts as above the noise where it adds this many standard deviations over the series.
ABOVE_NOISE = 10.0


@dataclass(frozen=True)
class Series:
    """A made series with what is true of it; ``ratio`` is its growth over the noise's standard deviation."""

    kind: str
    truth: str
    values: tuple[int, ...]
    ratio: float = math.inf
    one_time: int | None = None
    per_cycle: float | None = None

    @property
    def counts_for_recall(self) -> bool:
        return self.truth == "leak" and self.ratio >= ABOVE_NOISE


def _size(chance: random.Random, low: int = 1, high: int = 1 << 20) -> int:
    """A size between ``low`` and ``high``, every magnitude as likely."""
    return round(math.exp(chance.uniform(math.log(low), math.log(high))))


def _base(chance: random.Random) -> int:
    return chance.randrange(500_000, 40_000_000)


def _noise(chance: random.Random, count: int, deviation: float) -> list[float]:
    """White, wandering (each value hangs on the one before), or in whole pages; of about one standard deviation."""
    form = chance.choice(("white", "wandering", "pages"))
    if form == "wandering":
        return _wander(chance, count, deviation, 0.3)
    found = [chance.gauss(0, deviation) for _ in range(count)]
    if form == "pages" and deviation > 4096:
        found = [4096 * round(value / 4096) for value in found]
    return found


def _wander(chance: random.Random, count: int, deviation: float, memory: float) -> list[float]:
    value, found = chance.gauss(0, deviation), []
    for _ in range(count):
        found.append(value)
        value = memory * value + chance.gauss(0, deviation * math.sqrt(1 - memory**2))
    return found


def _whole(values: list[float]) -> tuple[int, ...]:
    return tuple(max(round(value), 0) for value in values)


def constant(chance: random.Random) -> Series:
    count = chance.randrange(4, 80)
    return Series("constant", "stable", (_base(chance),) * count, one_time=0, per_cycle=0)


def one_time(chance: random.Random) -> Series:
    """Added in the first one to three cycles, or once late."""
    base, count = _base(chance), chance.randrange(12, 80)
    settling = chance.randrange(1, 4)
    sizes = [_size(chance) for _ in range(settling)]
    if chance.random() < 0.5:
        added = [sum(sizes[:number]) for number in range(settling)] + [sum(sizes)] * (count - settling)
        return Series("one-time cost", "one_time_cost", tuple(base + a for a in added), one_time=sum(sizes))
    late = chance.randrange(2, count)
    values = tuple(base + (sizes[0] if number >= late else 0) for number in range(count))
    return Series("one late step", "one_time_cost", values, one_time=sizes[0])


def exact_leak(chance: random.Random) -> Series:
    """From four cycles on; the first value is the before of the first cycle, with a one-time cost or without."""
    base, cycles, leak = _base(chance), chance.randrange(4, 80), _size(chance)
    once = _size(chance) if chance.random() < 0.5 else 0
    values = (base, *(base + once + leak * number for number in range(1, cycles + 1)))
    return Series("exact leak", "leak", values, one_time=once, per_cycle=leak)


def recurring_leak(chance: random.Random) -> Series:
    period, leak, base = chance.randrange(2, 7), _size(chance), _base(chance)
    count = period * chance.randrange(4, 12) + chance.randrange(period)
    values = tuple(base + leak * (number // period) for number in range(count))
    return Series("leak every k-th cycle", "leak", values, per_cycle=leak / period)


def noisy_leak(chance: random.Random) -> Series:
    base, count, leak = _base(chance), chance.randrange(12, 80), _size(chance)
    ratio = math.exp(chance.uniform(math.log(3), math.log(300)))
    noise = _noise(chance, count, max(leak * count / ratio, 0.7))
    once = _size(chance) if chance.random() < 0.3 else 0
    values = [base + (once if number else 0) + leak * number + noise[number] for number in range(count)]
    return Series("leak with noise", "leak", _whole(values), min(ratio, leak * count / 0.7), per_cycle=leak)


def noise(chance: random.Random) -> Series:
    base, count = _base(chance), chance.randrange(4, 80)
    values = [base + value for value in _noise(chance, count, _size(chance, 2, 200_000))]
    return Series("noise", "stable", _whole(values))


def drift(chance: random.Random) -> Series:
    """It wanders and comes back, as the DSP's other users come and go: no leak, though a part may look like one."""
    base, count, size = _base(chance), chance.randrange(24, 80), _size(chance, 2, 200_000)
    wander, white = _wander(chance, count, size, chance.uniform(0.3, 0.7)), _noise(chance, count, size / 4)
    values = [base + a + b for a, b in zip(wander, white, strict=True)]
    return Series("wandering drift with noise", "stable", _whole(values))


def noisy_step(chance: random.Random) -> Series:
    base, count, step = _base(chance), chance.randrange(16, 80), _size(chance, 64)
    noise = _noise(chance, count, step / chance.uniform(6, 60))
    at = chance.randrange(1, count - 3)
    values = [base + (step if number >= at else 0) + noise[number] for number in range(count)]
    return Series("step with noise", "one_time_cost", _whole(values), one_time=step)


def outliers(chance: random.Random) -> Series:
    """A constant, one step or a leak, exact or with noise, and up to a tenth of the values far off."""
    base, count, leak = _base(chance), chance.randrange(20, 80), _size(chance)
    truth = chance.choice(("stable", "one_time_cost", "leak"))
    deviation = chance.choice((0.0, leak * count / 40))
    noise = _noise(chance, count, deviation)
    at = chance.randrange(4, count - 4)
    per_cycle = leak if truth == "leak" else 0
    step = leak * count if truth == "one_time_cost" else 0
    values = [base + per_cycle * n + (step if n >= at else 0) + noise[n] for n in range(count)]
    for place in chance.sample(range(1, count - 1), chance.randrange(1, count // 10 + 1)):
        values[place] += chance.choice((1, 1, -1)) * leak * count * chance.uniform(0.3, 0.5) + 1
    return Series(f"outliers, {truth}", truth, _whole(values), 40 if deviation else math.inf, per_cycle=per_cycle)


def counter_reset(chance: random.Random) -> Series:
    """The counter begins anew near zero once, in a constant or a leak, exact or with noise."""
    count, at, leak = chance.randrange(30, 80), chance.randrange(10, 20), _size(chance)
    base = max(_base(chance), 4 * leak * count)
    truth = chance.choice(("stable", "leak"))
    deviation = chance.choice((0.0, leak * (count - at) / 40))
    noise = _noise(chance, count, deviation)
    per_cycle = leak if truth == "leak" else 0
    low = int(3 * deviation)
    values = [(base if n < at else low) + per_cycle * (n if n < at else n - at) + noise[n] for n in range(count)]
    return Series(f"counter reset, {truth}", truth, _whole(values), 40 if deviation else math.inf, per_cycle=per_cycle)


MAKERS: tuple[Callable[[random.Random], Series], ...] = (
    constant, one_time, exact_leak, recurring_leak, noisy_leak, noise, drift, noisy_step, outliers, counter_reset,
)  # fmt: skip


def simulate(count: int = SERIES, seed: int = 7) -> Iterator[tuple[Series, Growth]]:
    """Every series with how it is judged; each has a seed of its own."""
    for number in range(count):
        series = MAKERS[number % len(MAKERS)](random.Random(f"{seed}/{number}"))
        yield series, judge_series(series.values)


@dataclass(frozen=True)
class Score:
    """How good the leak calls are; recall counts leaks above the noise."""

    called: int
    rightly: int
    leaks: int
    found: int

    @property
    def precision(self) -> float:
        return self.rightly / self.called

    @property
    def recall(self) -> float:
        return self.found / self.leaks


def score(judged: list[tuple[Series, Growth]]) -> Score:
    called = [series for series, growth in judged if growth.verdict == "leak"]
    leaks = [growth for series, growth in judged if series.counts_for_recall]
    rightly = sum(1 for series in called if series.truth == "leak")
    return Score(len(called), rightly, len(leaks), sum(1 for growth in leaks if growth.verdict == "leak"))


def table(judged: list[tuple[Series, Growth]]) -> str:
    """Markdown: what was made against what was said, and the score of the leak calls."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for series, growth in judged:
        weak = " (below the noise)" if series.truth == "leak" and not series.counts_for_recall else ""
        counts.setdefault((series.kind + weak, series.truth), Counter())[growth.verdict] += 1
    lines = ["| made | true | " + " | ".join(f"said {v}" for v in VERDICTS) + " |", "|---|---|" + "---:|" * 4]
    lines += [
        f"| {kind} | {truth} | " + " | ".join(str(said[verdict]) for verdict in VERDICTS) + " |"
        for (kind, truth), said in sorted(counts.items(), key=lambda entry: (VERDICTS.index(entry[0][1]), entry[0]))
    ]
    result = score(judged)
    lines += [
        "",
        f"Of {result.called} leak calls {result.rightly} are right: precision {result.precision:.2%}. "
        f"Of {result.leaks} leaks above the noise {result.found} are found: recall {result.recall:.2%}.",
    ]
    return "\n".join(lines) + "\n"


def with_table(page: str, text: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{text}{END}{after}"


def main() -> None:
    text = table(list(simulate()))
    PAGE_FILE.write_text(with_table(PAGE_FILE.read_text("utf-8"), text), "utf-8")
    print(text)


if __name__ == "__main__":
    main()
