"""What the doctor found, as lines and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from heapprof_cli.preflight import Finding

SCHEMA_VERSION = 1


def findings_json(findings: Sequence[Finding], exit_code: int) -> str:
    """``{"schema_version": 1, "exit_code": .., "checks": [{"id", "severity", "what", "fix"}]}``."""
    checks = [{"id": f.id, "severity": f.severity.value, "what": f.what, "fix": f.fix} for f in findings]
    fields = {"schema_version": SCHEMA_VERSION, "exit_code": exit_code, "checks": checks}
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def findings_text(findings: Sequence[Finding]) -> str:
    """A line for each check, with its fix below it."""
    return "".join(f"{line}\n" for finding in findings for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.severity.value:<8} {finding.id:<16} {finding.what}"
    if finding.fix:
        yield f"{'':<25} fix: {finding.fix}"
