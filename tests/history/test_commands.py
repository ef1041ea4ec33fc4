"""`history`, its export and import, and `compare`, as commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heapprof_cli.history import opened, record
from heapprof_cli.render.history import sparkline
from tests.conftest import Ended, OnPhone
from tests.history.made_results import result

Call = Callable[..., Ended]


@pytest.fixture
def history(heapprof: Call, tmp_path: Path) -> Call:
    return lambda *words, **variables: heapprof(*words, HEAPPROF_HISTORY=str(tmp_path / "h.db"), **variables)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "h.db"


def test_a_run_is_kept_and_told(on_phone: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "h.db")
    done = [
        on_phone.run("--format", "json", "--qnn-libs", standin(**behaviour), model, HEAPPROF_HISTORY=place)
        for behaviour in ({}, {"after": 928212 + 4096}, {"fail_stage": "create"})
    ]
    assert on_phone.run("--no-history", model, HEAPPROF_HISTORY=place).code == 0
    listed = on_phone.heapprof("history", "--format", "json", HEAPPROF_HISTORY=place).json
    assert listed["total"] == 3
    assert [(each["difference_bytes"], each["verdict"]) for each in listed["results"]] == [
        (0, "ok"), (4096, "ok"), (None, "error"),
    ]  # fmt: skip
    assert all(each["simulated"] and each["soc"] == "SM8850" for each in listed["results"])
    shown = on_phone.heapprof("history", "show", str(listed["results"][1]["id"]), HEAPPROF_HISTORY=place)
    assert shown.json == done[1].json
    text = on_phone.heapprof("history", HEAPPROF_HISTORY=place).stdout
    assert "▁█" in text and "4096" in text and "(simulated)" in text
    assert on_phone.phone.serial not in text + shown.stdout


def test_a_history_that_can_t_be_written_is_a_warning(on_phone: OnPhone, model: Path) -> None:
    done = on_phone.run("--format", "json", model, HEAPPROF_HISTORY="/proc/no/history.db")
    assert (done.code, done.json["difference_bytes"]) == (0, 0)
    assert "history" in done.stderr and "warning" in done.stderr


def test_a_damaged_one_is_told(on_phone: OnPhone, model: Path, tmp_path: Path) -> None:
    (tmp_path / "h.db").write_bytes(b"x" * 5000)
    done = on_phone.run(model, HEAPPROF_HISTORY=str(tmp_path / "h.db"))
    assert done.code == 0
    (aside,) = tmp_path.glob("h.db.aside-*")
    assert aside.name in done.stderr and aside.read_bytes() == b"x" * 5000


def test_an_empty_one(history: Call) -> None:
    assert history("history").stdout == "no results\n"
    assert history("history", "--format", "json").json == {"schema_version": 1, "total": 0, "results": []}
    done = history("history", "show", "3")
    assert done.code == 2 and "no result 3" in done.stderr
    assert history("history", "--since", "never").code == 2


def test_export_and_import_keep_everything(history: Call, place: Path, tmp_path: Path) -> None:
    documents = [result(n, difference=n * 10, note="line\nbreak \u2028 ü") for n in range(1200)]
    with opened(place) as store:
        store.add_all(documents)
    file = tmp_path / "all.jsonl"
    assert history("history", "export", "-o", file).code == 0
    assert [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]] == documents
    some = history("history", "export", "--until", "2026-01-01T00:00:04").stdout.splitlines()
    assert [json.loads(line) for line in some] == documents[:5]
    place.unlink()
    assert history("history", "import", file, file).stdout == "1200 results added, 1200 known already\n"
    assert history("history", "--format", "json", "--limit", "1").json["total"] == 1200


def test_import_of_one_result_and_of_nonsense(history: Call, tmp_path: Path) -> None:
    one = tmp_path / "one.json"
    one.write_text(json.dumps(result(), indent=2))
    assert history("history", "import", one).stdout == "1 result added, 0 known already\n"
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(result(1)) + "\n\n{\n")
    done = history("history", "import", bad)
    assert done.code == 2 and "bad.jsonl, line 3" in done.stderr
    for content in ("[1]", '{"schema_version": 9, "verdict": "ok"}', "x"):
        bad.write_text(content)
        done = history("history", "import", bad)
        assert done.code == 2 and "bad.jsonl" in done.stderr and "Traceback" not in done.stderr
    assert history("history", "import", tmp_path / "none").code == 2
    assert history("history", "--format", "json").json["total"] == 1


def test_foreign_text_is_harmless(history: Call, place: Path) -> None:
    name = "\x1b[31mred\x07[bold]" + "x" * 5000
    record(place, result(model=[{"name": name, "sha256": "0" * 64}]))
    text = history("history").stdout
    assert "\x1b" not in text and "\x07" not in text
    assert max(map(len, text.splitlines())) < 200


def compare(history: Call, tmp_path: Path, base: dict[str, Any], new: dict[str, Any], *flags: str) -> Ended:
    for name, document in (("base", base), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    return history("compare", tmp_path / "base.json", tmp_path / "new.json", *flags)


@pytest.mark.parametrize(
    ("difference", "flags", "code", "outcome"),
    [
        (1000, (), 0, "within"),
        (900, (), 0, "improved"),
        (1001, (), 1, "exceeded"),
        (1050, ("--max-growth", "5%"), 0, "within"),
        (1051, ("--max-growth", "5%"), 1, "exceeded"),
        (2024, ("--max-growth", "1 KiB"), 0, "within"),
    ],
)
def test_compare_is_a_gate(
    history: Call, tmp_path: Path, difference: int, flags: tuple[str, ...], code: int, outcome: str
) -> None:
    sides = result(difference=1000), result(9, difference=difference)
    done = compare(history, tmp_path, *sides, *flags, "--format", "json")
    assert (done.code, done.json["exit_code"], done.json["outcome"]) == (code, code, outcome)
    assert done.json["change_bytes"] == {"before": 0, "after": difference - 1000, "difference": difference - 1000}
    text = compare(history, tmp_path, *sides, *flags).stdout
    assert f"{outcome}: " in text and str(928212 + difference) in text and "the baseline" not in text


def test_what_can_t_be_compared_says_in_what(history: Call, tmp_path: Path) -> None:
    other = result(device={"alias": "b", "soc": "SM8650"}, difference=10**6)
    done = compare(history, tmp_path, result(), other)
    assert done.code == 0
    assert "incomparable: " in done.stdout and "SM8650" in done.stdout
    assert compare(history, tmp_path, result(), other, "--require-comparable").code == 8
    assert compare(history, tmp_path, result(), result(model=[{"name": "z", "sha256": "1" * 64}])).code == 0
    broken = compare(history, tmp_path, result(), result(verdict="error"))
    assert broken.code == 2 and "its verdict is error" in broken.stderr


def test_compare_by_ids(history: Call, place: Path, tmp_path: Path) -> None:
    record(place, result())
    record(place, result(1, difference=7))
    done = history("compare", "1", "2", "--format", "json")
    assert (done.code, done.json["change_bytes"]["difference"]) == (1, 7)
    assert history("compare", "1", "3").code == 2
    assert history("compare", "1", "9" * 30).code == 2
    (tmp_path / "2").write_text(json.dumps(result(5, difference=0)))
    assert history("compare", "1", "2").code == 0, "a file of that name counts first"


def test_sparklines() -> None:
    assert sparkline([5, 5]) == "▁▁"
    assert sparkline([0, 7, 14]) == "▁▄█"
    assert sparkline([2**64, 0]) == "█▁"
