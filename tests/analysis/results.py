"""Results as `heapprof run --format json` prints them, made through the real renderer."""

from __future__ import annotations

from typing import Any

from heapprof_cli.errors import ExitCode
from heapprof_cli.records import DeviceFacts, HeapReading, ModelFacts, Result, Sample, Verdict
from heapprof_cli.render.json_result import result_fields

BASE = 928212


def result(
    difference: int = 0,
    *,
    after: list[int] | None = None,
    name: str = "net.bin",
    sha256: str = "ab" * 32,
    soc: str = "SM8850",
    build: str = "v2.51.0",
    mode: str = "burst",
    simulated: bool = True,
    verdict: Verdict = Verdict.OK,
) -> dict[str, Any]:
    """One run; ``after`` are the bytes above BASE after each cycle, by default one cycle with ``difference``."""
    values = [BASE + offset for offset in (after or [difference])]
    befores = [BASE, *values[:-1]]
    samples = tuple(Sample(1, n, HeapReading(b, a)) for n, (b, a) in enumerate(zip(befores, values, strict=True), 1))
    return result_fields(
        Result(
            verdict=verdict,
            exit_code=ExitCode.OK,
            summary="",
            samples=samples,
            reading=HeapReading(BASE, values[-1]),
            before_bytes=BASE,
            device=DeviceFacts("phone-1", "serial", soc=soc),
            models=(ModelFacts("net.bin", name, "context_binary", sha256, 10, soc, 81, build, 1),),
            qnn_build=build,
            simulated=simulated,
            settings={"perf_mode": mode},
        )
    )
