"""The runner's own account of a run: its JSON status file, read without trusting the phone."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass

from heapprof_cli.text import clean


class RunnerExit(enum.IntEnum):
    """Exit codes of ``heapprof_runner`` (device_bin/README.md)."""

    OK = 0
    USAGE = 2
    LOAD = 20
    SETUP = 21
    CREATE = 22
    EXECUTE = 23
    FREE = 24
    WRITE = 25
    INPUT = 26
    CRASHED = 30
    TIME_LIMIT = 31
    STOPPED = 32
    INTERNAL = 70


@dataclass(frozen=True)
class RunnerStatus:
    """The fields of the status file that heapprof uses; None where the runner did not tell."""

    run_id: str | None
    runner_version: str | None
    stage: str | None
    pid: int | None
    exit_code: int | None
    signal_name: str | None
    error_code: int | None
    error_call: str | None
    error_message: str | None
    error_model: str | None
    qnn_build: str | None
    heap_before: int | None
    heap_after: int | None
    heap_events: int | None


def parse_status(data: bytes | None) -> RunnerStatus | None:
    """The status in ``data``, or None when there is none or it is no such JSON."""
    try:
        content = json.loads(data) if data else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    error, library, heap = (_mapping(content.get(key)) for key in ("error", "library", "heap"))
    return RunnerStatus(
        run_id=_text(content.get("run_id")),
        runner_version=_text(content.get("runner_version")),
        stage=_text(content.get("stage")),
        pid=_integer(content.get("pid")),
        exit_code=_integer(content.get("exit_code")),
        signal_name=_text(content.get("signal_name")),
        error_code=_integer(error.get("code")),
        error_call=_text(error.get("call")),
        error_message=_text(error.get("message")),
        error_model=_text(error.get("model")),
        qnn_build=_text(library.get("build_id")),
        heap_before=_integer(heap.get("before_bytes")),
        heap_after=_integer(heap.get("after_bytes")),
        heap_events=_integer(heap.get("events")),
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return clean(value, 500) if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
