"""Results of every kind, made by hand: what the renderers are tested with."""

from __future__ import annotations

from dataclasses import replace

from heapprof_cli.errors import ExitCode
from heapprof_cli.records import (
    Artifact,
    BaselineOutcome,
    Breach,
    DeviceFacts,
    Failure,
    Growth,
    HeapReading,
    MemoryPoint,
    ModelFacts,
    Result,
    RunNoise,
    Sample,
    StageTime,
    Verdict,
)

HOSTILE = "<script>alert(1)</script>|`*_[x](y)`\x1b[31m ::error::%0A@everyone\n,:é"


def _model(name: str) -> ModelFacts:
    return ModelFacts("/m/x.bin", name, "context_binary", "0" * 64, 10, "SM8850", 81, "v2.51", 1)


OK = Result(
    verdict=Verdict.OK,
    exit_code=ExitCode.OK,
    summary="the DSP heap after freeing everything is what it was before",
    samples=(Sample(1, 1, HeapReading(10, 14)), Sample(1, 2, HeapReading(14, 18))),
    growth=Growth("leak", 0, 4, None, "grows by exactly 4 bytes in each of 2 cycles", "exact", 2),
    memory_growth={"rss_bytes": Growth("noisy", None, 1.5, (-1.0, 4.0), "scatters", "robust", 2)},
    noise=RunNoise(2, 8, 8, 8, "the difference is 8 bytes in each of 2 runs"),
    memory=(MemoryPoint(1, None, "start", 5, None, 1, 0), MemoryPoint(1, 1, "after_free", 6, 3, 1, None)),
    reading=HeapReading(10, 18),
    before_bytes=10,
    device=DeviceFacts("phone-1", "SERIAL", model="Pixel", soc="SM8850", htp_arch=81, android="16", virtual=True),
    models=(_model("a.bin"),),
    artifacts=(Artifact("libQnnHtp.so", "/x", "libQnnHtp.so", "1" * 64, 5, qnn_build="v2.51"),),
    sent=frozenset({"1" * 64}),
    target="linux-x86_64",
    qnn_build="v2.51",
    simulated=True,
    settings={"perf_mode": "burst"},
    started_at="2026-01-31T12:00:00Z",
    stages=(StageTime("push", 0.5, 5), StageTime("run", 1.0)),
    warnings=("it is hot",),
)
FAILED = Result(
    verdict=Verdict.ERROR,
    exit_code=ExitCode.DEVICE,
    summary="no phone",
    failure=Failure("device", "device", "no phone", ("plug one in", "or use `heapprof demo`")),
)
IMPLAUSIBLE = replace(
    OK,
    verdict=Verdict.IMPLAUSIBLE,
    exit_code=ExitCode.INVALID_MEASUREMENT,
    reading=HeapReading(18, 10),
    before_bytes=18,
    samples=(Sample(1, 1, HeapReading(18, 10)),),
    failure=Failure("invalid_measurement", "judge", "after (10 bytes) is less than before", ("again",)),
)
OVER = replace(
    OK,
    verdict=Verdict.OVER_LIMIT,
    exit_code=ExitCode.OVER_LIMIT,
    breaches=(Breach("max_difference", 4, 8, "over by 4 bytes"),),
    baseline=BaselineOutcome("incomparable", "of another SoC", 3, (("SoC", "SM8650", "SM8850"),)),
    failure=Failure("over_limit", "judge", "the difference is 8 bytes, 4 more than --max-difference allows"),
)
STRANGE = replace(
    FAILED,
    summary=HOSTILE,
    models=(_model(HOSTILE), _model("=HYPERLINK(1)")),
    device=DeviceFacts(HOSTILE, HOSTILE, soc=HOSTILE, model="=1+1"),
    warnings=(HOSTILE,),
    failure=Failure("device", "device", HOSTILE, (HOSTILE,)),
)
ALL = {"ok": OK, "failed": FAILED, "implausible": IMPLAUSIBLE, "over": OVER, "strange": STRANGE}
