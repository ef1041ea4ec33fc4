"""What an explanation is made of, and what may be known about the run that a log is of."""

from __future__ import annotations

from dataclasses import dataclass

from heapprof_cli.log_findings import Finding, Line

STAGES = (
    "adb_server",
    "device_state",
    "push",
    "permissions",
    "library_search_path",
    "library_mismatch",
    "soc_arch_mismatch",
    "context_binary_version",
    "context_binary_malformed",
    "unsigned_pd",
    "dsp_memory",
    "fastrpc",
    "crash",
    "timeout",
    "profiling_off",
    "wrong_flags",
    "heap_file",
    "execution",
    "other",
)


@dataclass(frozen=True)
class Explanation:
    """The findings, the first one being the likeliest cause; then error lines that no rule knows (the first 50).

    ``unknown_count`` counts all of those; ``lines_read`` the lines of the log; ``passed_over`` those that may have told
    something but were not looked at, because the log asked for more work than any honest one.
    """

    findings: tuple[Finding, ...] = ()
    unknown_errors: tuple[Line, ...] = ()
    unknown_count: int = 0
    lines_read: int = 0
    passed_over: int = 0


@dataclass(frozen=True)
class RunFacts:
    """What is known of the run beside its log; None is unknown. Builds are texts such as ``v2.51.0.250101``.

    ``heap_file``: ok, missing, stale, incomplete, malformed or implausible. ``signal``: a name such as SIGSEGV.
    """

    soc: str | None = None
    htp_arch: int | None = None
    qnn_build: str | None = None
    model_soc: str | None = None
    model_htp_arch: int | None = None
    model_qnn_build: str | None = None
    exit_status: int | None = None
    signal: str | None = None
    timed_out: bool | None = None
    heap_file: str | None = None
