"""The report as text: everything in it is escaped, it loads nothing, it shows what the results say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from heapprof_cli.errors import UsageError
from heapprof_cli.history import opened
from heapprof_cli.report import plots
from heapprof_cli.report.data import cycles_of, facts, memory_of, report_of
from heapprof_cli.report.page import page
from tests.conftest import Ended
from tests.history.made_results import result
from tests.report.made_history import HOSTILE, many


class Page(HTMLParser):
    """Its elements with their attributes, its text, and every id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def count(self, tag: str) -> int:
        return sum(1 for name, _ in self.elements if name == tag)


def made(documents: list[dict[str, Any]], title: str = "DSP heap") -> Page:
    return Page(page(report_of(documents), title))


def test_one_run() -> None:
    found = made([result(difference=4096)])
    text = " ".join(found.texts)
    assert "1 result," in text and "4096" in text and "a.bin on SM8850, default" in text
    assert (found.count("figure"), found.count("svg")) == (1, 1)
    assert "Simulated" not in text


def test_all_that_a_run_tells() -> None:
    found = made(many(40))
    text = " ".join(found.texts)
    assert found.count("figure") == 21, "a trend, cycles and memory for each of seven models"
    assert "grows by exactly 512 bytes" in text and "baseline 4.0 KiB" in text and "limit 7.8 KiB" in text
    assert "Simulated heap numbers" in text and "(simulated)" in text
    assert sum(1 for tag, _ in found.elements if tag == "tr") == 41
    assert len(found.ids) == len(set(found.ids)), "no id twice"
    for tag, attributes in found.elements:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true"
        if attributes.get("role") == "img":
            assert attributes.get("aria-label")


def test_it_loads_nothing() -> None:
    text = page(report_of(many(20)), "x")
    found = Page(text)
    for tag, attributes in found.elements:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base", "form")
        assert "src" not in attributes and not any(name.startswith("on") for name in attributes)
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    (policy,) = [a["content"] for t, a in found.elements if t == "meta" and a.get("http-equiv")]
    assert policy is not None and policy.startswith("default-src 'none'")
    assert not re.search(r"@import|url\((?!#)", text)


def hostile(value: object) -> object:
    """Every text of a result that is free becomes hostile."""
    if isinstance(value, dict):
        return {key: hostile(each) for key, each in value.items() if key != "schema_version"} | (
            {"schema_version": 1} if "schema_version" in value else {}
        )
    if isinstance(value, list):
        return [hostile(each) for each in value]
    return (
        f"{HOSTILE}\"'><img src=x onerror=alert(2)>{{{{7*7}}}}</style></script>$x$" if isinstance(value, str) else value
    )


def test_hostile_texts_stay_texts() -> None:
    document = hostile(many(8)[-1])
    assert isinstance(document, dict)
    document |= {"artifacts": [{"name": HOSTILE, "sha256": HOSTILE}], "warnings": [HOSTILE], "summary": HOSTILE}
    document |= {"device": {"alias": HOSTILE, "soc": HOSTILE, "model": HOSTILE, "fingerprint": HOSTILE}}
    document |= {"settings_origins": {HOSTILE: HOSTILE}, "conditions": {"before": {HOSTILE: HOSTILE}}}
    whole = page(report_of([document, *many(3, HOSTILE)]), HOSTILE)
    found = Page(whole)
    assert (found.count("script"), found.count("img"), found.count("style")) == (1, 0, 2 + found.count("svg"))
    assert HOSTILE not in whole and "&lt;script&gt;alert(1)&lt;/script&gt;" in whole
    assert "{{7*7}}" in "".join(found.texts) and "49{{" not in whole
    assert not any("onerror" in attributes for _, attributes in found.elements)


@pytest.mark.parametrize(
    "changes",
    [
        {"samples": "x", "memory": 7, "growth": [], "device": "phone", "settings": None, "model": {}},
        {"samples": [1, None, {"run": 1}] * 9, "memory": [None, {"run": 1}], "growth": {"verdict": 9}},
        {"difference_bytes": True, "before_bytes": -5, "after_bytes": 1e300},
        {"difference_bytes": -(2**64), "started_at": "yesterday"},
        {"difference_bytes": 2**64, "started_at": "2026-99-99T00:00:00Z", "artifacts": {"a": 1}, "warnings": "w"},
        {"baseline": {"difference_bytes": "4"}, "settings": {"max_difference_bytes": 10**30}, "repository": 4},
        {"settings_origins": {"a": ["b"]}, "conditions": {"before": [1]}, "device": {"soc": 5, "alias": {}}},
    ],
)
def test_odd_values_break_nothing(changes: dict[str, Any]) -> None:
    found = made([result(1, **changes), result(2)])
    assert found.count("tr") == 3


def test_what_is_no_result_is_refused() -> None:
    with pytest.raises(UsageError, match="result 2"):
        report_of([result(), {"schema_version": 1}])


def test_series_and_their_numbers() -> None:
    report = report_of(many(60, models=20))
    assert (len(report.series), report.left_out) == (12, 8)
    series = report.series[0]
    values = [run.summary.difference_bytes for run in series.runs if run.good]
    assert f"{len(values)} of {len(series.runs)} runs with a valid number" in series.words()
    assert (series.limit, series.baseline) == (8000, 4096)
    assert len({each.slug for each in report.series}) == 12
    implausible = report_of([result(1, verdict="implausible", difference=-5), result(2, difference=3)])
    assert "1 of 2 runs" in implausible.series[0].words() and implausible.series[0].newest.summary.difference_bytes == 3


def test_cycles_memory_and_facts() -> None:
    document = many(8)[-1]
    found = cycles_of(document)
    assert found is not None
    assert found.values == tuple(928212 + 512 * n for n in range(13)) and found.bytes_per_cycle == 512
    assert cycles_of(result()) is None
    points = memory_of(document)
    assert [point.label for point in points][:3] == ["start", "1: before create", "1: after create"]
    assert points[2].dma_buf == 2 * 65536
    document |= {
        "repository": {"commit": "ab" * 20, "dirty": True},
        "settings_origins": {"runs": "flag", "soc": "default"},
    }
    told = dict(facts(report_of([document]).runs[0]))
    assert told["commit"] == "ab" * 20 + " (changed since)"
    assert told["settings"].startswith("runs ") and "soc" not in told["settings"]


def test_plots_are_files_without_markup() -> None:
    (series,) = report_of(
        [result(n, difference=n * 100, model=[{"name": "$x$ <b>&", "sha256": "0" * 64}]) for n in range(9)]
    ).series
    svg = plots.file_bytes(plots.trend(series), f"of {series.name}", "svg")
    texts = "".join(ET.fromstring(svg).itertext())
    assert "$x$ <b>&" in texts
    assert plots.file_bytes(plots.trend(series), series.name, "png").startswith(b"\x89PNG")
    assert svg == plots.file_bytes(plots.trend(series), f"of {series.name}", "svg"), "the same results, the same file"


def test_5000_runs_are_less_than_8_mb() -> None:
    whole = page(report_of(many(5000)), "x")
    assert len(whole.encode()) < 8_000_000
    assert Page(whole).count("tr") == 5001


def test_the_command(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    place = tmp_path / "h.db"
    with opened(place) as store:
        store.add_all(many(30))
    place_is = {"HEAPPROF_HISTORY": str(place)}
    done = heapprof("report", "-o", tmp_path / "r.html", "--plots", tmp_path / "plots", "--title", "Weekly", **place_is)
    assert done.code == 0, done.stderr
    whole = (tmp_path / "r.html").read_text("utf-8")
    assert "<h1>Weekly</h1>" in whole and "30 results" in whole
    assert len(list((tmp_path / "plots").glob("*.png"))) == len(list((tmp_path / "plots").glob("*.svg"))) == 21
    some = heapprof("report", "-o", tmp_path / "s.html", "--model", "model 3*", "--limit", "2", **place_is)
    assert some.code == 0 and "2 results" in some.stderr
    exported = heapprof("history", "export", "--model", "model 3*", **place_is).stdout
    (tmp_path / "some.jsonl").write_text(exported)
    (tmp_path / "one.json").write_text(json.dumps(result(), indent=1))
    files = heapprof("report", "-o", tmp_path / "f.html", tmp_path / "some.jsonl", tmp_path / "one.json")
    assert files.code == 0 and "a.bin on SM8850" in (tmp_path / "f.html").read_text("utf-8")


def test_the_command_s_refusals(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    assert "no result" in heapprof("report", HEAPPROF_HISTORY=str(tmp_path / "none.db")).stderr
    (tmp_path / "one.json").write_text(json.dumps(result()))
    for words in (
        ["-o", "no/r.html", "one.json"],
        ["--model", "x", "one.json"],
        ["gone.json"],
        ["--plots", "one.json", "one.json"],
    ):
        done = heapprof("report", *words)
        assert done.code == 2 and "Traceback" not in done.stderr, words
    script = (
        "import sys; sys.modules['jinja2'] = None; from heapprof_cli.cli.main import run; sys.exit(run(['report']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install 'heapprof-cli[report]'" in done.stderr
