"""A finding of a log as JSON, alike in an explanation and in a result."""

from __future__ import annotations

from heapprof_cli.log_findings import Finding


def finding_fields(finding: Finding) -> dict[str, object]:
    """Its fields; ``lines`` are numbers within ``files``, where more than one file was read."""
    fields: dict[str, object] = {
        "id": finding.id,
        "stage": finding.stage,
        "certainty": finding.certainty.value,
        "cause": finding.cause,
        "fix": finding.fix,
        "lines": [line.number for line in finding.lines],
        "text": "\n".join(line.text for line in finding.lines),
        "tells_apart": finding.tells_apart,
    }
    files = {line.file for line in finding.lines}
    if files - {None}:
        fields["file"] = finding.lines[0].file
        fields["files"] = [line.file for line in finding.lines]
    return fields
