"""Limits: which is broken, by how much, in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapprof_cli.analysis.limits import GrowthLimit, Limits, check, parse_growth
from heapprof_cli.errors import UsageError


@pytest.mark.parametrize(
    ("text", "baseline", "allowed"),
    [("0", 900, 0), ("4 KiB", 900, 4096), ("5%", 1000, 50), (" 2.5 % ", 1000, 25), ("5%", 0, 0), ("0.1%", 999, 0)],
)
def test_growth_limits(text: str, baseline: int, allowed: int) -> None:
    assert parse_growth(text).allowed(baseline) == allowed


@pytest.mark.parametrize("text", ["", "%", "-5%", "5%%", "nan%", "5 percent", "1e3%", "4 QiB", "-1", "5٪", "٥%"])
def test_what_is_no_growth_limit(text: str) -> None:
    with pytest.raises(UsageError, match="--max-growth"):
        parse_growth(text)


def test_a_breach_names_its_limit_and_by_how_much() -> None:
    limits = Limits(max_difference=4096, max_growth=GrowthLimit(1000), max_leak_per_cycle=0)
    difference, growth, leak = check(limits, difference=5000, leak_per_cycle=12.5, baseline=2000)
    assert (difference.limit, difference.allowed, difference.actual, difference.over) == (
        "max_difference", 4096, 5000, 904,
    )  # fmt: skip
    assert difference.sentence == (
        "the difference is 5000 bytes (4.9 KiB); --max-difference allows 4096 bytes: over by 904 bytes"
    )
    assert (growth.limit, growth.allowed, growth.actual) == ("max_growth", 1000, 3000)
    assert "5000 bytes, 3000 bytes (+150.0%) above the baseline's 2000 bytes" in growth.sentence
    assert "--max-growth allows 1000 bytes: over by 2000 bytes" in growth.sentence
    assert "--max-leak-per-cycle allows 0 bytes: over by 12.5 bytes" in leak.sentence


def test_a_percentage_is_told_in_bytes_too() -> None:
    (breach,) = check(Limits(max_growth=parse_growth("5%")), difference=1060, baseline=1000)
    assert "allows 5 %, which is 50 bytes: over by 10 bytes" in breach.sentence


def test_what_is_unknown_or_unlimited_breaks_nothing() -> None:
    assert check(Limits(), difference=10**9, leak_per_cycle=10**9, baseline=0) == ()
    assert check(Limits(max_growth=GrowthLimit(0), max_leak_per_cycle=0), difference=10**9) == ()


@given(st.integers(0, 2**64), st.integers(0, 2**64), st.integers(0, 2**64))
def test_a_limit_is_broken_above_it_and_only_there(limit: int, difference: int, baseline: int) -> None:
    limits = Limits(max_difference=limit, max_growth=GrowthLimit(limit))
    broken = {breach.limit: breach for breach in check(limits, difference=difference, baseline=baseline)}
    assert ("max_difference" in broken) == (difference > limit)
    assert ("max_growth" in broken) == (difference - baseline > limit)
    assert all(breach.over > 0 for breach in broken.values())
