"""Checks before a run, as data: each finding names itself, says what is wrong, and what to do."""

from heapprof_cli.preflight.checks import check_all, check_parts, check_phone
from heapprof_cli.preflight.findings import Finding, Severity, Situation

__all__ = ["Finding", "Severity", "Situation", "check_all", "check_parts", "check_phone"]
