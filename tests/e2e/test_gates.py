"""Limits and baselines end to end: pass, fail, improved, incomparable and absent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import MODELS, Ended, OnPhone


@pytest.fixture
def measure(on_phone: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path) -> Callable[..., Ended]:
    """Measure ``model`` with a stand-in that leaks ``leak`` bytes a cycle."""

    def call(leak: int, *flags: str | Path, **options: str) -> Ended:
        libs = standin(before=1000, leak_per_cycle=leak)
        return on_phone.run("--format", "json", "--qnn-libs", libs, *flags, model, cwd=tmp_path, **options)

    return call


@pytest.mark.parametrize(
    ("leak", "flags", "broken", "words"),
    [
        (4096, ("--max-difference", "4 KiB"), None, ""),
        (4097, ("--max-difference", "4 KiB"), "max_difference", "over by 1 byte"),
        (100, ("--max-difference", "0"), "max_difference", "over by 100 bytes"),
        (100, ("--cycles", "4", "--max-leak-per-cycle", "100"), None, ""),
        (101, ("--cycles", "4", "--max-leak-per-cycle", "100"), "max_leak_per_cycle", "over by 1 byte"),
    ],
)
def test_limits(
    measure: Callable[..., Ended], leak: int, flags: tuple[str, ...], broken: str | None, words: str
) -> None:
    done = measure(leak, *flags)
    if broken is None:
        assert (done.code, done.json["verdict"], done.json["breaches"], done.json["error"]) == (0, "ok", [], None)
        return
    assert (done.code, done.json["verdict"], done.json["exit_code"]) == (1, "over_limit", 1)
    assert [breach["limit"] for breach in done.json["breaches"]] == [broken]
    assert done.json["error"]["code"] == "over_limit"
    assert words in done.json["summary"] and words in done.stderr
    assert f"--{broken.replace('_', '-')}" in done.stderr
    assert done.json["difference_bytes"] is not None


def test_the_greatest_difference_of_several_runs_counts(measure: Callable[..., Ended]) -> None:
    done = measure(5, "--runs", "3", "--max-difference", "4")
    assert (done.code, done.json["noise"]["runs"]) == (1, 3)


@pytest.mark.parametrize(
    ("leak", "flags", "code", "outcome"),
    [
        (1000, (), 0, "within"),
        (1001, (), 1, "exceeded"),
        (1050, ("--max-growth", "5%"), 0, "within"),
        (1051, ("--max-growth", "5%"), 1, "exceeded"),
        (1064, ("--max-growth", "64"), 0, "within"),
        (900, ("--max-growth", "64"), 0, "improved"),
        (1000, ("--perf-mode", "burst"), 0, "incomparable"),
        (1000, ("--perf-mode", "burst", "--require-baseline"), 8, "incomparable"),
    ],
)
def test_a_baseline(
    measure: Callable[..., Ended],
    heapprof: Callable[..., Ended],
    tmp_path: Path,
    leak: int,
    flags: tuple[str, ...],
    code: int,
    outcome: str,
) -> None:
    assert measure(1000, "-o", "first.json").code == 0
    assert heapprof("baseline", "save", "first.json", "-o", "base.json", cwd=tmp_path).code == 0
    done = measure(leak, "--baseline", "base.json", *flags)
    assert (done.code, done.json["baseline"]["outcome"]) == (code, outcome), done.stderr
    assert done.json["baseline"]["difference_bytes"] == 1000
    if outcome == "incomparable":
        assert done.json["baseline"]["differing"] == [
            {"key": "performance mode", "baseline": "default", "here": "burst"}
        ]
        assert done.json["verdict"] == "ok"
    if code == 8:
        assert done.json["error"]["code"] == "no_baseline" and "performance mode" in done.stderr


def test_a_baseline_of_another_soc_is_incomparable(
    on_phone: OnPhone, heapprof: Callable[..., Ended], tmp_path: Path
) -> None:
    other = MODELS / "good" / "conv_sm8650_v75_qnn2.51.bin"
    done = heapprof("demo", "--format", "json", "-o", "first.json", other, cwd=tmp_path)
    assert (done.code, done.json["device"]["soc"]) == (0, "SM8650"), done.stderr
    assert heapprof("baseline", "save", "first.json", "-o", "base.json", cwd=tmp_path).code == 0
    done = on_phone.run("--format", "json", "--baseline", tmp_path / "base.json", "--skip", "model-soc", other)
    assert done.json["baseline"]["outcome"] == "incomparable", done.stderr
    assert {"key": "SoC", "baseline": "SM8650", "here": "SM8850"} in done.json["baseline"]["differing"]


def test_no_baseline_is_a_result_of_its_own(measure: Callable[..., Ended], tmp_path: Path) -> None:
    done = measure(0, "--baseline", "absent.json")
    assert (done.code, done.json["baseline"]["outcome"]) == (0, "no_baseline")
    assert "no baseline file yet" in done.json["baseline"]["sentence"]
    done = measure(0, "--baseline", "absent.json", "--require-baseline")
    assert (done.code, done.json["exit_code"], done.json["error"]["code"]) == (8, 8, "no_baseline")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--max-growth", "5%"), "--max-growth needs a baseline"),
        (("--require-baseline",), "--require-baseline needs a baseline"),
        (("--max-leak-per-cycle", "1"), "needs at least 4 cycles"),
        (("--max-difference", "much"), "'much' is no size"),
        (("--baseline", "bad.json"), "bad.json"),
        (("--baseline", "base.json", "--max-growth", "x%"), "no percentage"),
    ],
)
def test_gates_that_make_no_sense_are_usage_errors(
    heapprof: Callable[..., Ended], model: Path, tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({"kind": "other"}))
    done = heapprof("run", "--format", "json", *flags, model, cwd=tmp_path)
    assert done.code == 2
    assert words in done.stderr and words in done.json["error"]["message"]
