"""`heapprof baseline` as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.results import result
from tests.conftest import Ended

Command = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {
        "good": result(1000), "worse": result(5000), "other": result(1000, soc="SM8750"), "new": result(name="new.bin"),
    }.items():  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return tmp_path


def test_save_check_list(heapprof: Command, folder: Path) -> None:
    saved = heapprof("baseline", "save", "good.json", "-o", "base.json")
    assert (saved.code, saved.stdout) == (0, "base.json: 1 added, 0 replaced, 0 unchanged\n")
    assert "simulated" in saved.stderr
    check = ("baseline", "check", "--baseline", "base.json")
    within = heapprof(*check, "good.json")
    assert (within.code, within.stderr) == (0, "")
    assert within.stdout == "good.json: within: the difference is 1000 bytes, as in the baseline\n"
    worse = heapprof(*check, "worse.json", "--max-growth", "5%")
    assert worse.code == 1
    assert "--max-growth allows 5 %, which is 50 bytes: over by 3950 bytes" in worse.stdout
    assert heapprof(*check, "worse.json", "--max_growth=4 KiB").code == 0
    assert heapprof(*check, "other.json").code == 0
    required = heapprof(*check, "other.json", "new.json", "--require-baseline", "--format", "json")
    assert (required.code, required.json["exit_code"]) == (8, 8)
    outcomes = [one["outcome"] for one in required.json["comparisons"]]
    assert outcomes == ["incomparable", "no_baseline"]
    assert required.json["comparisons"][0]["differing"] == [{"key": "SoC", "baseline": "SM8850", "here": "SM8750"}]
    both = heapprof(*check, "new.json", "worse.json", "--require-baseline")
    assert both.code == 1
    assert "2 results: 1 no baseline, 1 exceeded" in both.stdout
    listed = heapprof("baseline", "list", "base.json")
    assert "net.bin" in listed.stdout.splitlines()[1]
    (entry,) = heapprof("baseline", "list", "base.json", "--format", "json").json["baselines"]
    assert (entry["difference_bytes"], entry["soc"], entry["match"]) == (1000, "SM8850", "name")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["save", "good.json"], "-o"),
        (["save", "absent.json", "-o", "b.json"], "can't read absent.json: No such file"),
        (["save", ".", "-o", "b.json"], "Is a directory"),
        (["save", "good.json", "-o", "no/such/folder.json"], "can't write"),
        (["check", "good.json", "--baseline", "absent.json"], "can't read absent.json"),
        (["check", "good.json", "--baseline", "good.json"], "holds no baselines"),
        (["check", "good.json", "--baseline", "good.json", "--max-growth", "much"], "--max-growth"),
        (["list", "good.json"], "holds no baselines"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_usage_errors(heapprof: Command, folder: Path, arguments: list[str], words: str) -> None:
    done = heapprof("baseline", *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "b.json").exists()


def test_a_measurement_of_the_virtual_phone_becomes_a_baseline(heapprof: Command, tmp_path: Path) -> None:
    ran = heapprof("demo", "-q", "--format", "json")
    (tmp_path / "r.json").write_text(ran.stdout, "utf-8")
    assert heapprof("baseline", "save", "r.json", "-o", "b.json", "--by", "sha256").code == 0
    assert heapprof("baseline", "check", "r.json", "--baseline", "b.json", "--require-baseline").code == 0
    grown = heapprof("demo", "-q", "--format", "json", "--standin", "after=932308")
    (tmp_path / "g.json").write_text(grown.stdout, "utf-8")
    done = heapprof("baseline", "check", "g.json", "--baseline", "b.json")
    assert done.code == 1
    assert "4096 bytes above the baseline's 0 bytes" in done.stdout
