"""Results for reports: trends of several models with limits and baselines, cycles, ledgers, failures."""

from __future__ import annotations

from typing import Any

from tests.history.made_results import result

HOSTILE = "<script>alert(1)</script>"
_CHECKPOINTS = ("start", "before_create", "after_create", "after_execute", "after_free", "end")


def many(count: int, name: str = "model", models: int = 7) -> list[dict[str, Any]]:
    """``count`` results of several models, the newest with all that a report can show."""
    return [_one(number, name, models, count) for number in range(count)]


def _one(number: int, name: str, models: int, count: int) -> dict[str, Any]:
    kind = number % models
    difference = (number * 7919 + kind * 512) % 9000
    verdict = "ok"
    if number % 11 == 3:
        verdict = "over_limit"
    if number % 17 == 5 and number < count - models:
        return result(number, verdict="error", difference_bytes=None, before_bytes=None, after_bytes=None,
                      model=_model(name, kind))  # fmt: skip
    cycles = 12 if number >= count - models else 1
    made = result(
        number,
        verdict=verdict,
        difference=difference,
        model=_model(name, kind),
        samples=[
            {"run": 1, "cycle": n, "before_bytes": 928212, "after_bytes": 928212 + 512 * n, "difference_bytes": 512 * n}
            for n in range(1, cycles + 1)
        ],
        baseline={"outcome": "within", "sentence": "as in the baseline", "difference_bytes": 4096, "differing": []},
        simulated=kind == 1,
        memory=[
            {"run": 1, "cycle": 0 if place in ("start", "end") else 1, "checkpoint": place, "rss_bytes": 10**6 + n,
             "pss_bytes": 8 * 10**5, "private_dirty_bytes": 5 * 10**5, "dma_buf_bytes": 65536 * n}
            for n, place in enumerate(_CHECKPOINTS)
        ],
    )  # fmt: skip
    made["settings"] |= {"max_difference_bytes": 8000}
    if cycles > 1:
        sentence = f"grows by exactly 512 bytes in 12 of 12 cycles {name}"
        made["growth"] = {"verdict": "leak", "bytes_per_cycle": 512, "sentence": sentence, "one_time_bytes": 0}
    return made


def _model(name: str, kind: int) -> list[dict[str, Any]]:
    return [{"name": f"{name} {kind}.bin", "sha256": f"{kind:064x}", "bytes": 1}]
