"""Results as `heapprof run --format json` prints them, made up: as many as a test wants."""

from __future__ import annotations

from typing import Any


def result(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A valid measurement; ``number`` makes it another one, a second later."""
    difference = changes.pop("difference", 0)
    made: dict[str, Any] = {
        "schema_version": 1,
        "verdict": "ok",
        "exit_code": 0,
        "summary": "well",
        "simulated": False,
        "before_bytes": 928212,
        "after_bytes": 928212 + difference,
        "difference_bytes": difference,
        "samples": [],
        "growth": None,
        "device": {"alias": "phone-1", "model": "Phone", "soc": "SM8850", "htp_arch": 81},
        "model": [{"name": "a.bin", "sha256": "ab" * 32, "bytes": 1}],
        "qnn_build": "v2.51.0.260929181845",
        "settings": {"perf_mode": "default"},
        "started_at": f"2026-01-{1 + number // 86400 % 28:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:"
        f"{number % 60:02d}Z",
        "warnings": [],
        "error": None,
    }
    return {**made, **changes}
