"""Baseline files: saved, merged, compared; and files that are not what they should be."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from heapprof_cli.analysis import baselines
from heapprof_cli.analysis.comparing import Comparison, compare
from heapprof_cli.analysis.json_fields import Fields
from heapprof_cli.analysis.limits import GrowthLimit, parse_growth
from heapprof_cli.analysis.measured import measured_now, read_measured
from heapprof_cli.errors import ExitCode, UsageError
from heapprof_cli.records import Verdict
from tests.analysis.results import result

MADE = "2026-01-02T03:04:05Z"


def save(path: Path, *results: dict[str, Any], match: baselines.Match = "name", made: str = MADE) -> baselines.Saved:
    return baselines.save(path, [measured_now(one) for one in results], match, made, "0.1.0")


def against(path: Path, now: dict[str, Any], limit: GrowthLimit | None = None) -> Comparison:
    return compare(measured_now(now), baselines.read(path), limit)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "baselines.json"
    save(path, result(after=[1000, 1010, 1020, 1030, 1040]))
    return path


@pytest.mark.parametrize(
    ("now", "limit", "outcome", "code", "words"),
    [
        ({"after": [1000, 1010, 1020, 1030, 1040]}, None, "within", 0, "1040 bytes, as in the baseline"),
        ({"difference": 1040}, None, "within", 0, "as in the baseline"),
        ({"difference": 1041}, None, "exceeded", 1, "1 byte (+0.1%) above"),
        ({"difference": 1050}, "1%", "within", 0, "10 bytes more than in the baseline"),
        ({"difference": 1051}, "1%", "exceeded", 1, "allows 1 %, which is 10 bytes: over by 1 byte"),
        ({"difference": 900}, None, "improved", 0, "140 bytes less"),
        ({"after": [1000, 1000, 1000, 1000, 1040]}, None, "within", 0, "1040"),
        ({"after": [960, 980, 1000, 1020, 1040]}, None, "exceeded", 1, "the leak per cycle is 20 bytes"),
        ({"after": [1000, 1005, 1010, 1015, 1020]}, None, "improved", 0, "5 bytes less than in the baseline"),
        ({"soc": "SM8750"}, None, "incomparable", 8, "SoC: SM8850 there, SM8750 here"),
        ({"simulated": False, "mode": "default"}, None, "incomparable", 8, "heap: simulated there, real here"),
        ({"build": "v2.47.0"}, None, "incomparable", 8, "QNN build: v2.51.0 there, v2.47.0 here"),
        ({"sha256": "cd" * 32, "difference": 1040}, None, "within", 0, "1040 bytes"),
        ({"name": "other.bin"}, None, "no_baseline", 8, "no baseline of other.bin"),
    ],
)
def test_outcomes(file: Path, now: dict[str, Any], limit: str | None, outcome: str, code: int, words: str) -> None:
    found = against(file, result(**now), parse_growth(limit) if limit else None)
    assert found.outcome == outcome
    assert words in found.sentence
    assert found.exit_code(require_baseline=True) == code
    assert found.exit_code(require_baseline=False) == (code if code != 8 else 0)


def test_every_differing_key_is_named(file: Path) -> None:
    found = against(file, result(soc="SM8750", build="v2.47.0", mode="default", simulated=False))
    assert [one.key for one in found.differing] == ["SoC", "performance mode", "QNN build", "heap"]


def test_by_hash_another_file_is_incomparable(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    save(path, result(), match="sha256")
    assert against(path, result(name="renamed.bin")).outcome == "within"
    found = against(path, result(sha256="cd" * 32, soc="SM8750"))
    assert (found.outcome, [one.key for one in found.differing]) == ("incomparable", ["model hash", "SoC"])


def test_the_hash_counts_before_the_name(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    save(path, result(100))
    save(path, result(700), match="sha256")
    found = against(path, result(700))
    assert (found.outcome, found.entry.match if found.entry else "") == ("within", "sha256")


def test_a_leak_that_the_baseline_can_t_know_is_told(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    save(path, result(1040))
    assert "not compared" in against(path, result(after=[1000, 1010, 1020, 1030, 1040])).sentence


def test_saving_merges_and_leaves_what_is_the_same(file: Path) -> None:
    before = file.read_bytes()
    again = save(file, result(after=[1000, 1010, 1020, 1030, 1040]), made="2027-01-01T00:00:00Z")
    assert (again, file.read_bytes()) == (baselines.Saved(0, 0, 1), before)
    assert save(file, result(5, soc="SM8750"), result(900)) == baselines.Saved(1, 1, 0)
    assert [entry.key.soc for entry in baselines.read(file)] == ["SM8750", "SM8850"]


def test_the_order_of_saving_makes_no_difference(tmp_path: Path) -> None:
    one, two = tmp_path / "1.json", tmp_path / "2.json"
    results = [result(n, soc=soc, name=name) for n, soc in enumerate(("SM8850", "SM8750")) for name in ("b", "a")]
    for each in results:
        save(one, each)
    save(two, *reversed(results))
    assert one.read_bytes() == two.read_bytes()
    assert baselines.text_of(baselines.read(one)).encode() == one.read_bytes()


def test_the_median_of_several_results_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    save(path, result(10), result(30), result(500))
    (entry,) = baselines.read(path)
    assert (entry.difference_bytes, entry.runs) == (30, 3)


def test_saving_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    threads = [threading.Thread(target=save, args=(path, result(name=f"{n}.bin"))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(baselines.read(path)) == 12
    assert os.listdir(tmp_path) == ["b.json"]


def test_a_failed_save_leaves_the_file_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def fail(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UsageError, match="No space left"):
        save(file, result(1))
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


def test_a_link_stays_a_link_and_the_mode_stays(file: Path) -> None:
    link = file.parent / "link.json"
    link.symlink_to(file)
    file.chmod(0o640)
    save(link, result(77))
    assert link.is_symlink()
    assert baselines.read(file)[0].difference_bytes == 77
    assert file.stat().st_mode & 0o777 == 0o640


def changed(file: Path, **fields: object) -> str:
    content = json.loads(file.read_text("utf-8"))
    content["entries"][0] |= fields
    return json.dumps(content)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"soc": 5}, "entry 1: 'soc' must be a text, but is 5"),
        ({"simulated": "yes"}, "entry 1: 'simulated' must be true or false"),
        ({"difference_bytes": -1}, "entry 1: 'difference_bytes' must be a whole number"),
        ({"difference_bytes": 1.5}, "'difference_bytes'"),
        ({"difference_bytes": True}, "'difference_bytes'"),
        ({"before_bytes": 2**64}, "'before_bytes'"),
        ({"leak_bytes_per_cycle": float("nan")}, "'leak_bytes_per_cycle'"),
        ({"leak_bytes_per_cycle": 10**400}, "'leak_bytes_per_cycle'"),
        ({"match": "vibes"}, "one of name, sha256"),
        ({"model": []}, "names no model"),
        ({"model": ["x"]}, "entry 1, model 1: an object was expected"),
        ({"model": [{"name": "x"}]}, "'sha256' must be a text, but is missing or null"),
        ({"perf_mode": {"a": [1]}}, "'perf_mode' must be a text, but is an object"),
    ],
)
def test_a_wrong_field_is_told_with_its_place(file: Path, fields: dict[str, object], words: str) -> None:
    file.write_text(changed(file, **fields), "utf-8")
    with pytest.raises(UsageError) as caught:
        baselines.read(file)
    assert words in caught.value.message
    assert str(file) in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON"),
        ("[]", "an object was expected"),
        ("{}", "holds no baselines"),
        ("[" * 100_000, "is no JSON"),
        ('{"kind": "heapprof-baselines", "schema_version": 2, "entries": [], "more": 1}', "newer heapprof (schema 2"),
        ('{"kind": "heapprof-baselines", "schema_version": "1", "entries": []}', "'schema_version'"),
        ('{"kind": "heapprof-baselines", "schema_version": 1, "entries": {}}', "'entries' must be a list"),
        ('{"kind": "heapprof-baselines", "schema_version": 1, "entries": [7]}', "entry 1: an object"),
    ],
)
def test_what_is_no_baseline_file(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    for attempt in (lambda: baselines.read(path), lambda: save(path, result())):
        with pytest.raises(UsageError) as caught:
            attempt()
        assert words in caught.value.message
        assert caught.value.exit_code == ExitCode.USAGE
    assert path.read_text("utf-8") == text


def test_a_merge_conflict_and_a_doubled_entry_are_told(file: Path) -> None:
    text = file.read_text("utf-8")
    file.write_text(f"<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n", "utf-8")
    with pytest.raises(UsageError) as caught:
        baselines.read(file)
    assert "merge conflict" in caught.value.hints[0]
    content = json.loads(text)
    file.write_text(json.dumps({**content, "entries": content["entries"] * 2}), "utf-8")
    with pytest.raises(UsageError, match="entries 1 and 2 have the same key"):
        baselines.read(file)


def test_names_are_made_safe(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    save(path, result(name="\x1b[31m<b>evil\u202e\ud800\n" + "x" * 5000))
    (entry,) = baselines.read(path)
    assert not set("\x1b\u202e\ud800\n") & set(entry.key.names[0])
    assert len(entry.key.names[0]) <= 301


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "an object was expected"),
        ({}, "no result of heapprof"),
        ({**result(), "schema_version": 2}, "schema 2 is not known"),
        (result(verdict=Verdict.IMPLAUSIBLE), "its verdict is implausible"),
        ({**result(), "model": []}, "names no model"),
        ({**result(), "device": None}, "here, device: an object was expected"),
        ({**result(), "samples": [{"run": 0}]}, "here, sample 1: 'before_bytes'"),
        ({**result(), "after_bytes": None}, "'after_bytes' must be a whole number"),
    ],
)
def test_what_is_no_result(value: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_measured(value, "here")
    assert words in caught.value.message


def test_fields_refuse_what_is_no_object() -> None:
    with pytest.raises(UsageError, match="place: an object was expected"):
        Fields([], "place")
