"""Verdicts on series a person can check, and what must hold for every series."""

from __future__ import annotations

import random
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapprof_cli.analysis.growth import Growth, judge_runs, judge_samples, judge_series
from heapprof_cli.records import HeapReading, Sample

BASE = 928212
HIGH = 1_000_000


def on(*offsets: int) -> list[int]:
    return [BASE + offset for offset in offsets]


@pytest.mark.parametrize(
    ("offsets", "per_cycle", "one_time"),
    [
        ((0, 1, 2, 3), 1, 0),
        ((0, 4096, 8192, 12288, 16384), 4096, 0),
        ((0, 9001, 9002, 9003, 9004), 1, 9000),
        ((0, 9000, 9100, 9200), 100, 8900),
        ((0, 5, 10, 15, 115, 120, 125, 130, 135, 140), 5, 95),
        ((0, 7, 14, 21, 900, 35, 42, 49, 56), 7, 0),
        ((0, 0, 0, 0, 0, 3, 6, 9), 3, 0),
        ((0, 0, 7, 7, 14, 14, 21), 3.5, 0),
        ((0, 50, 50, 50, 56, 56, 56, 62, 62, 62, 68), 2, 44),
        ((0, 4, 2, 6, 4, 8, 6, 10, 8, 12, 10, 14, 12), 1, 0),
    ],
)
def test_exact_leaks(offsets: tuple[int, ...], per_cycle: float, one_time: int) -> None:
    found = judge_series(on(*offsets))
    assert (found.verdict, found.method, found.bytes_per_cycle, found.interval) == ("leak", "exact", per_cycle, None)
    assert found.one_time_bytes == one_time
    assert "grows" in found.sentence


@pytest.mark.parametrize(
    ("offsets", "verdict", "one_time", "words"),
    [
        ((0, 0, 0, 0), "stable", 0, "the same 928212 bytes in all 3 cycles"),
        ((0, 70, 70, 70, 70), "one_time_cost", 70, "70 bytes were added once, in cycle 1 of 4"),
        ((0, 0, 0, 0, 0, 70), "one_time_cost", 70, "more cycles tell whether it recurs"),
        ((0, 0, 70, 70), "one_time_cost", 70, "in cycle 2 of 3"),
        ((0, 50, 80, 90, 90, 90, 90), "one_time_cost", 90, "once"),
        ((0, 10, 20, 20, 20, 20), "one_time_cost", 20, "in cycles 1 to 2 of 5, and stayed in the 3"),
        ((0, 90, 80, 70, 70, 70, 70, 70), "one_time_cost", 70, "in cycles 1 to 3 of 7"),
        ((0, 5, 10, 15, 20, 20, 20, 20), "one_time_cost", 20, "4 steps, and nothing in the last 3"),
        ((0, -70, -70, -70), "stable", -70, "fell by 70 bytes"),
        ((0, -1, -2, -3), "stable", 0, "falls by 1 byte a cycle"),
        ((0, 0, 900, 0, 0, 0, 0), "stable", 0, "1 value stood alone"),
        ((0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0), "stable", 0, "up and down"),
    ],
)
def test_no_leaks(offsets: tuple[int, ...], verdict: str, one_time: int, words: str) -> None:
    found = judge_series(on(*offsets))
    assert (found.verdict, found.method, found.one_time_bytes) == (verdict, "exact", one_time)
    assert words in found.sentence


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ((0, 7, 7, 14, 14), "rose 2 times"),
        ((0, 7, 14, 14), "too few cycles"),
        ((0, 9, 2, 7), "too few"),
        ((0, 1000, 1500, 1750, 1875, 1938, 1969, 1985, 1993, 1997, 1999), "neither settled nor steady"),
        ((0, 9), "too few"),
    ],
)
def test_what_can_t_be_told_yet_is_said(offsets: tuple[int, ...], words: str) -> None:
    found = judge_series(on(*offsets))
    assert found.verdict == "noisy"
    assert words in found.sentence
    assert "measure" in found.sentence


@pytest.mark.parametrize("values", [[], [5], [5, 5], [5, 5, 5]])
def test_too_few_values(values: list[int]) -> None:
    found = judge_series(values)
    assert found.too_few
    assert not found.leaks
    assert "too few" in found.sentence


def test_a_leak_of_less_than_a_page_shows_as_pages() -> None:
    found = judge_series([BASE + leaked // 4096 * 4096 for leaked in range(0, 30_000, 300)])
    assert (found.verdict, found.method) == ("leak", "exact")
    assert found.bytes_per_cycle == pytest.approx(300, rel=0.02)


def test_a_warm_up_is_a_one_time_cost() -> None:
    values = on(0, 400, 700, 900, 900, 900, 900)
    found = judge_series(values, warm_up=3)
    assert (found.verdict, found.one_time_bytes, found.bytes_per_cycle) == ("one_time_cost", 900, 0)
    assert "warming up (3 cycles) added 900 bytes" in found.sentence
    leak = judge_series([*values, *on(910, 920, 930, 940, 950)], warm_up=6)
    assert (leak.verdict, leak.one_time_bytes, leak.bytes_per_cycle) == ("leak", 900, 10)
    assert judge_series(values, warm_up=50).too_few


def test_a_counter_that_begins_anew_splits_the_series() -> None:
    found = judge_series([10_000, 10_010, 10_020, 10_030, 3, 13, 23, 33, 43])
    assert (found.verdict, found.bytes_per_cycle, found.resets) == ("leak", 10, 1)
    assert "began anew 1 time" in found.sentence
    quiet = judge_series([10_000] * 6 + [30] * 6)
    assert (quiet.verdict, quiet.resets) == ("stable", 1)
    dropped = judge_series([10_000, 10_000, 10_000, 0, 10_000, 10_000, 10_000])
    assert (dropped.verdict, dropped.resets, dropped.outliers) == ("stable", 0, 1)


@pytest.mark.parametrize("cycles", [6, 8, 12])
def test_few_values_that_only_scatter_are_hardly_ever_a_leak(cycles: int) -> None:
    chance = random.Random(cycles)
    white = [[round(chance.gauss(0, 3000)) for _ in range(cycles)] for _ in range(150)]
    pages = [[4096 * chance.randrange(3) for _ in range(cycles)] for _ in range(150)]
    once = [[-50_000, *values] for values in white]
    called = sum(judge_series([HIGH + value for value in values]).leaks for values in (*white, *pages, *once))
    assert called <= 4


def test_samples_are_judged_run_by_run() -> None:
    def sample(run: int, cycle: int, leak: int) -> Sample:
        return Sample(run, cycle, HeapReading(BASE + leak * (cycle - 1), BASE + leak * cycle))

    samples = [sample(run, cycle, leak) for run, leak in ((1, 8), (2, 0)) for cycle in (4, 3, 2, 1)]
    first, second = judge_samples(samples)
    assert (first.verdict, first.bytes_per_cycle, first.cycles) == ("leak", 8, 4)
    assert second.verdict == "stable"
    assert judge_samples([]) == ()


def test_runs_tell_noise() -> None:
    readings = [HeapReading(BASE, BASE + difference) for difference in (0, 4096, 8192, 4096)]
    noise = judge_runs(readings)
    assert (noise.runs, noise.median, noise.spread) == (4, 4096, 8192)
    assert "scatters by 8192 bytes over 4 runs" in noise.sentence
    assert judge_runs(readings[:1]).spread == 0
    with pytest.raises(ValueError, match="no readings"):
        judge_runs([])


# HIGH lies far above them, so that no value looks like a counter that began anew.
offsets = st.lists(st.integers(0, 50_000), min_size=4, max_size=30)


def essence(growth: Growth) -> tuple[object, ...]:
    return growth.verdict, growth.one_time_bytes, growth.bytes_per_cycle, growth.interval, growth.method


@settings(max_examples=60, deadline=None)
@given(offsets, st.integers(0, 10**12))
def test_a_shift_changes_nothing(series: list[int], shift: int) -> None:
    low = [HIGH + value for value in series]
    assert essence(judge_series(low)) == essence(judge_series([value + shift for value in low]))


@settings(max_examples=60, deadline=None)
@given(offsets, st.sampled_from([2, 16, 1024]))
def test_scaling_scales(series: list[int], factor: int) -> None:
    small = judge_series([HIGH + value for value in series])
    large = judge_series([factor * (HIGH + value) for value in series])
    assert (large.verdict, large.method) == (small.verdict, small.method)
    if small.method == "exact" and small.bytes_per_cycle is not None:
        assert large.bytes_per_cycle == pytest.approx(factor * small.bytes_per_cycle)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**10), st.integers(0, 10**9), st.integers(1, 10**9), st.integers(4, 60), st.integers(1, 10**6))
def test_every_exact_leak_is_found_and_more_leak_stays_one(base: int, once: int, leak: int, n: int, more: int) -> None:
    for each in (leak, leak + more):
        found = judge_series([base, *(base + once + each * cycle for cycle in range(1, n + 1))])
        assert essence(found) == ("leak", once, each, None, "exact")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**10), st.lists(st.integers(0, 10**6), min_size=1, max_size=3), st.integers(8, 40))
def test_settling_is_never_a_leak(base: int, early: list[int], rest: int) -> None:
    values = [base + sum(early[:n]) for n in range(len(early))] + [base + sum(early)] * rest
    assert judge_series(values).verdict == ("one_time_cost" if sum(early) else "stable")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2**64), max_size=40), st.integers(0, 5))
def test_any_series_gets_a_verdict_and_a_sentence(values: list[int], warm_up: int) -> None:
    found = judge_series(values, warm_up)
    assert found.verdict in ("leak", "one_time_cost", "stable", "noisy")
    assert re.search(r"\d", found.sentence)
    assert found.interval is None or found.interval[0] <= found.interval[1]
    assert found == judge_series(values, warm_up)


def test_analysis_needs_nothing_heavy() -> None:
    modules = "growth", "baselines", "comparing", "limits"
    code = "import sys\n" + "".join(f"import heapprof_cli.analysis.{name}\n" for name in modules)
    code += "print([m for m in ('numpy', 'scipy', 'rich', 'adbutils') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
