"""2,000 simulated series with fixed seeds: how good the leak calls are, and that the documented table is current."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analysis.simulated import growth_table

table = growth_table()


@pytest.fixture(scope="module")
def judged() -> list[Any]:
    return list(table.simulate())


def test_every_kind_is_there(judged: list[Any]) -> None:
    assert len(judged) == 2000
    kinds = {series.kind for series, _ in judged}
    assert {"constant", "exact leak", "leak with noise", "one late step", "counter reset, leak"} <= kinds
    leaks = [series.per_cycle for series, _ in judged if series.truth == "leak"]
    assert min(leaks) <= 2
    assert max(leaks) > 900_000


def test_leak_calls_are_right_and_found(judged: list[Any]) -> None:
    score = table.score(judged)
    assert score.leaks > 500
    assert score.precision >= 0.99
    assert score.recall >= 0.97


@pytest.mark.parametrize("seed", [101, 102])
def test_the_method_was_not_fitted_to_its_seed(seed: int) -> None:
    score = table.score(list(table.simulate(1000, seed)))
    assert score.precision >= 0.985
    assert score.recall >= 0.97


def test_every_exact_leak_is_found_to_the_byte(judged: list[Any]) -> None:
    exact = [(series, growth) for series, growth in judged if series.kind in ("exact leak", "leak every k-th cycle")]
    assert len(exact) == 400
    for series, growth in exact:
        assert (growth.verdict, growth.method) == ("leak", "exact"), series
        assert growth.bytes_per_cycle == series.per_cycle
        if series.one_time is not None:
            assert growth.one_time_bytes == series.one_time


def test_one_time_costs_are_told_to_the_byte(judged: list[Any]) -> None:
    exact = [(s, g) for s, g in judged if s.kind in ("one-time cost", "one late step")]
    assert all((g.verdict, g.one_time_bytes) == ("one_time_cost", s.one_time) for s, g in exact)


def test_slopes_of_scattering_leaks_are_near_the_truth(judged: list[Any]) -> None:
    found = [(s, g) for s, g in judged if s.kind == "leak with noise" and s.ratio >= 30 and g.method == "robust"]
    near = [1 for s, g in found if abs(g.bytes_per_cycle - s.per_cycle) <= 0.15 * s.per_cycle + 0.2]
    inside = [1 for s, g in found if g.interval[0] - 0.05 <= s.per_cycle <= g.interval[1] + 0.05]
    assert len(found) > 50
    assert len(near) >= 0.97 * len(found)
    assert len(inside) >= 0.9 * len(found)


def test_the_documented_table_is_current(judged: list[Any]) -> None:
    page = table.PAGE_FILE.read_text("utf-8")
    assert table.with_table(page, table.table(judged)) == page, "run `python scripts/growth_table.py`"
