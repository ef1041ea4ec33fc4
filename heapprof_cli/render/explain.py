"""An explanation, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from heapprof_cli.diagnosis import Explanation, Line
from heapprof_cli.render.findings import finding_fields
from heapprof_cli.text import plural

_SHOWN_LINES = 6


def explanation_json(explanation: Explanation) -> str:
    """``{"schema_version": 1, "findings": [...], "unknown_errors": [...]}``; see docs/diagnosis.md."""
    fields = {
        "schema_version": 1,
        "findings": [finding_fields(finding) for finding in explanation.findings],
        "unknown_errors": [_unknown(line) for line in explanation.unknown_errors],
        "unknown_error_count": explanation.unknown_count,
        "lines_read": explanation.lines_read,
        "lines_passed_over": explanation.passed_over,
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _unknown(line: Line) -> dict[str, object]:
    fields: dict[str, object] = {"line": line.number, "text": line.text}
    return fields if line.file is None else {**fields, "file": line.file}


def explanation_text(explanation: Explanation) -> str:
    """For people: each finding with its lines, cause and fix."""
    return "".join(f"{line}\n" for line in _lines(explanation))


def _lines(explanation: Explanation) -> Iterator[str]:
    if not explanation.findings:
        yield f"nothing known in {plural(explanation.lines_read, 'line')}"
    for number, finding in enumerate(explanation.findings, start=1):
        if number > 1:
            yield ""
        yield f"{number}. {finding.cause}"
        yield f"   {finding.certainty.value}, {finding.stage} ({finding.id})"
        for line in finding.lines[:_SHOWN_LINES]:
            yield f"   {_place(line):>6} | {line.text}"
        if len(finding.lines) > _SHOWN_LINES:
            yield f"   {'':>6} | ... and {plural(len(finding.lines) - _SHOWN_LINES, 'line')} more"
        yield f"   fix: {finding.fix}"
        if finding.tells_apart:
            yield f"   to be sure: {finding.tells_apart}"
    if explanation.unknown_errors:
        yield ""
        yield f"{plural(explanation.unknown_count, 'error line')} that no rule knows:"
        for line in explanation.unknown_errors[:_SHOWN_LINES]:
            yield f"   {_place(line):>6} | {line.text}"
    if explanation.passed_over:
        yield ""
        yield (
            f"{plural(explanation.passed_over, 'line')} not looked at: no honest log asks for so much work; "
            "explain the part around the failure alone"
        )


def _place(line: Line) -> str:
    return f"{line.file}:{line.number}" if line.file else str(line.number)
