"""Public failure reports, each by its literal lines: stage and cause; logs of the same kinds in other words; good logs.

``reports.json`` holds the lines of every handed report that has any, with the stage and the cause that its own
discussion came to; ``rule`` is the catalogue's id of that cause. ``among`` is how far down the findings it may stand:
1, but where the report itself leaves two causes open.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from heapprof_cli.diagnosis import explain
from tests.diagnosis.clean import CLEAN_LOGS
from tests.diagnosis.ordinary import logcat
from tests.diagnosis.test_rules import PREFIXES

HERE = Path(__file__).parent
DATA = json.loads((HERE / "reports.json").read_text("utf-8"))
REPORTS: list[dict[str, Any]] = DATA["reports"]
HARMLESS: list[str] = DATA["harmless"]
UNSEEN: list[dict[str, Any]] = yaml.safe_load((HERE / "unseen.yaml").read_text("utf-8"))


def found(lines: list[str]) -> list[tuple[str, str]]:
    return [(finding.stage, finding.id) for finding in explain(lines).findings]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report["report"])
def test_a_report_s_cause_stands_first(report: dict[str, Any]) -> None:
    findings = found(report["lines"])
    if report["stage"] is None:  # a report of nothing but harmless lines
        assert findings == []
    else:
        assert (report["stage"], report["rule"]) in findings[: report["among"]], findings


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report["report"])
def test_it_is_found_among_much_else(report: dict[str, Any]) -> None:
    """In the middle of a phone's log, and between the lines of a run that went well."""
    noise = logcat(30_000, 5).splitlines()
    for around in (noise, CLEAN_LOGS["executorch verbose"]):
        half = len(around) // 2
        findings = found([*around[:half], *report["lines"], *around[half:]])
        assert findings == found(report["lines"])


@pytest.mark.parametrize("log", UNSEEN, ids=lambda log: log["lines"][0][:40])
def test_logs_of_the_same_kinds_in_other_words(log: dict[str, Any]) -> None:
    stages = [stage for stage, _ in found(log["lines"])]
    assert log["stage"] in stages[: log.get("among", 1)], stages


def test_the_handed_lines_are_all_here() -> None:
    assert len(REPORTS) == 69  # of 78; nine have no literal lines
    assert len({report["report"] for report in REPORTS}) == 69
    assert len(HARMLESS) == 26
    assert sum(report["among"] > 1 for report in REPORTS) <= 3


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_line_is_none(line: str, prefix: str) -> None:
    for text in (line, PREFIXES[prefix] + line):
        explanation = explain([text])
        assert (explanation.findings, explanation.unknown_errors) == ((), ()), text


def test_all_harmless_lines_together_are_none() -> None:
    assert found(HARMLESS) == []


@pytest.mark.parametrize("name", CLEAN_LOGS)
def test_a_clean_log_has_no_findings(name: str) -> None:
    explanation = explain(CLEAN_LOGS[name])
    assert [(each.id, each.lines) for each in explanation.findings] == []


def test_there_are_twenty_clean_logs_of_several_tools() -> None:
    assert len(CLEAN_LOGS) >= 20
    assert all(len(lines) >= 4 for lines in CLEAN_LOGS.values())
