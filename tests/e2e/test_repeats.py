"""``--runs`` and ``--cycles`` end to end: every reading is there, and tied to its process and cycle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import OnPhone, litter


def test_cycles_of_several_runs(on_phone: OnPhone, standin: Callable[..., Path], model: Path) -> None:
    libs = standin(before=1000, leak_per_cycle=64)
    done = on_phone.run("--format", "json", "--qnn-libs", libs, "--runs", "2", "--cycles", "3", model)
    assert done.code == 0, done.stderr
    samples = [(s["run"], s["cycle"], s["before_bytes"], s["after_bytes"]) for s in done.json["samples"]]
    one_run = [(1, 1000, 1064), (2, 1064, 1128), (3, 1128, 1192)]
    assert samples == [(run, *cycle) for run in (1, 2) for cycle in one_run]
    assert (done.json["before_bytes"], done.json["difference_bytes"]) == (1000, 192)
    assert [s["name"] for s in done.json["stages"]].count("run") == 2
    freed = [(p["run"], p["cycle"]) for p in done.json["memory"] if p["checkpoint"] == "after_free"]
    assert freed == [(run, cycle) for run in (1, 2) for cycle in (1, 2, 3)]
    assert all(point["rss_bytes"] > 0 for point in done.json["memory"])
    assert litter(on_phone.phone) == []


@pytest.mark.parametrize(
    ("behaviour", "verdict", "one_time", "per_cycle"),
    [
        ({"leak_per_cycle": 1}, "leak", 0, 1),
        ({"leak_per_cycle": 4096, "one_time": 70_000}, "leak", 70_000, 4096),
        ({"one_time": 70_000}, "one_time_cost", 70_000, 0),
        ({}, "stable", 0, 0),
    ],
)
def test_a_leak_is_told_from_a_one_time_cost(
    on_phone: OnPhone,
    standin: Callable[..., Path],
    model: Path,
    behaviour: dict[str, int],
    verdict: str,
    one_time: int,
    per_cycle: int,
) -> None:
    libs = standin(before=1000, **behaviour)
    done = on_phone.run("--format", "json", "--qnn-libs", libs, "--cycles", "5", "--runs", "2", model)
    assert done.code == 0, done.stderr
    growth = done.json["growth"]
    assert (growth["verdict"], growth["one_time_bytes"], growth["bytes_per_cycle"] or 0) == (
        verdict, one_time, per_cycle,
    )  # fmt: skip
    assert set(growth["memory"]) >= {"rss_bytes", "pss_bytes"}
    assert done.json["noise"]["largest_bytes"] == done.json["difference_bytes"]


def test_a_later_run_that_fails_fails_the_measurement(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path
) -> None:
    libs = standin(before=1000, crash_stage="create", crash_at=2)
    done = on_phone.run("--format", "json", "--qnn-libs", libs, "--cycles", "3", model)
    assert (done.code, done.json["verdict"]) == (5, "error")
    assert done.json["difference_bytes"] is None
    assert litter(on_phone.phone) == []


def test_a_cycle_without_its_event_is_incomplete(on_phone: OnPhone, standin: Callable[..., Path], model: Path) -> None:
    done = on_phone.run("--format", "json", "--qnn-libs", standin(before=1000, events="before"), "--cycles", "3", model)
    assert (done.code, done.json["verdict"], done.json["difference_bytes"]) == (3, "incomplete", None)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--runs", "0"), "1<=x<=1000"),
        (("--cycles", "10001"), "1<=x<=10000"),
        (("--cycles", "3", "--warm-up-cycles", "3"), "leaves none of 3 cycles"),
    ],
)
def test_impossible_numbers_are_usage_errors(
    heapprof: Callable[..., object], model: Path, flags: tuple[str, ...], words: str
) -> None:
    done = heapprof("run", *flags, model)
    assert done.code == 2  # type: ignore[attr-defined]
    assert words in done.stderr  # type: ignore[attr-defined]
