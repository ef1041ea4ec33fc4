"""Frozen records: what a measurement consists of. Facts only; no I/O, no rendering.

Sizes are integers in bytes, times floats in seconds.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from heapprof_cli.errors import ExitCode
from heapprof_cli.log_findings import Finding

RUNNER_NAME = "heapprof_runner"
GrowthVerdict = Literal["leak", "one_time_cost", "stable", "noisy"]


class Verdict(enum.Enum):
    """What a measurement came to; the words of the JSON field ``verdict``."""

    OK = "ok"
    OVER_LIMIT = "over_limit"
    IMPLAUSIBLE = "implausible"
    INCOMPLETE = "incomplete"
    MISSING = "missing"
    STALE = "stale"
    MALFORMED = "malformed"
    ERROR = "error"


@dataclass(frozen=True)
class HeapReading:
    """One heap file: the total DSP heap at its two checkpoints, in bytes."""

    before_bytes: int
    after_bytes: int

    @property
    def difference_bytes(self) -> int:
        return self.after_bytes - self.before_bytes


@dataclass(frozen=True)
class Sample:
    """One reading with the run (runner process) and cycle (create..free) that it came from, 1-based."""

    run: int
    cycle: int
    reading: HeapReading


@dataclass(frozen=True)
class MemoryPoint:
    """The runner process's memory at a checkpoint of a cycle (None outside of cycles), in bytes.

    A value is None where the kernel does not tell it.
    """

    run: int
    cycle: int | None
    checkpoint: str
    rss_bytes: int | None
    pss_bytes: int | None
    private_dirty_bytes: int | None
    dma_buf_bytes: int | None


@dataclass(frozen=True)
class Growth:
    """What a series of bytes over the cycles of one process came to.

    ``one_time_bytes`` is what stays without recurring, ``bytes_per_cycle`` what every further cycle adds (an integer
    where it is exact); None where unknown. ``interval`` holds 99 % of the resampled slopes; an exact finding has none.
    ``cycles`` counts the steps from value to value that were judged, ``too_few`` says that more of them are needed,
    ``outliers`` counts values that stood alone, ``resets`` the places where the counter began anew.
    """

    verdict: GrowthVerdict
    one_time_bytes: int | None
    bytes_per_cycle: int | float | None
    interval: tuple[float, float] | None
    sentence: str
    method: Literal["exact", "robust"]
    cycles: int
    too_few: bool = False
    outliers: int = 0
    resets: int = 0

    @property
    def leaks(self) -> bool:
        return self.verdict == "leak"


@dataclass(frozen=True)
class RunNoise:
    """How the difference scatters over fresh processes, in bytes; ``spread`` is the largest less the smallest."""

    runs: int
    median: int
    smallest: int
    largest: int
    sentence: str

    @property
    def spread(self) -> int:
        return self.largest - self.smallest


@dataclass(frozen=True)
class Breach:
    """A limit (``max_difference``, ``max_growth``, ``max_leak_per_cycle``) that was broken; values in bytes."""

    limit: str
    allowed: int | float
    actual: int | float
    sentence: str

    @property
    def over(self) -> int | float:
        return self.actual - self.allowed


@dataclass(frozen=True)
class BaselineOutcome:
    """What the measurement is against its baseline: ``within``, ``exceeded``, ``improved``, ``incomparable`` or
    ``no_baseline``. ``differing`` are keys by which they can't be compared: name, the baseline's value, the value here.
    """

    outcome: str
    sentence: str
    difference_bytes: int | None = None
    differing: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Conditions:
    """How fast and how warm a phone is at a moment. None: it does not tell.

    ``thermal_status`` is Android's, 0 (not throttled) to 6 (shuts down). ``temperature_celsius`` is the DSP's hottest
    sensor's, where there is none the CPU's or the skin's: ``temperature_sensor`` names it.
    """

    governor: str | None = None
    gpu_governor: str | None = None
    thermal_status: int | None = None
    temperature_celsius: float | None = None
    temperature_sensor: str | None = None


@dataclass(frozen=True)
class AdbVersions:
    """Protocol versions (41 for 1.0.41) of the adb server, and of the ``adb`` on this computer's PATH."""

    server: int | None = None
    client: int | None = None


@dataclass(frozen=True)
class Surroundings:
    """What of a phone bears on a run beside what it is; empty where it may not be seen.

    ``workspace_trial``: ``ok``, or what failed in the workspace: ``write``, ``execute``; ``nodes`` are FastRPC's, None
    where /dev can't be listed; ``dsp_folders`` those of the DSP's own files that can; ``dsp_users`` (process id, name).
    """

    workspace_trial: str | None = None
    workspace_reason: str = ""
    nodes: tuple[str, ...] | None = None
    readable_nodes: tuple[str, ...] = ()
    dsp_folders: tuple[str, ...] = ()
    unsigned_shells: tuple[str, ...] = ()
    vendor_copies: tuple[str, ...] = ()
    adsp_library_path: str | None = None
    dsp_users: tuple[tuple[int, str], ...] = ()
    booted: bool = True
    conditions: Conditions = Conditions()
    adb: AdbVersions = AdbVersions()


@dataclass(frozen=True)
class DeviceFacts:
    """What the phone says of itself. Unknown values are None."""

    alias: str
    serial: str
    machine: str | None = None
    is_android: bool = False
    model: str | None = None
    soc: str | None = None
    htp_arch: int | None = None
    android: str | None = None
    abi: str | None = None
    fingerprint: str | None = None
    kernel: str | None = None
    free_bytes: int | None = None
    virtual: bool = False
    surroundings: Surroundings | None = None


@dataclass(frozen=True)
class TensorFacts:
    """An input or output of a graph. ``bytes`` is dims x width; None where the width is unknown."""

    name: str
    dims: tuple[int, ...]
    dtype: str
    bytes: int | None


@dataclass(frozen=True)
class GraphFacts:
    """One graph of a context. Sizes in bytes; None where the file does not tell them."""

    name: str
    inputs: tuple[TensorFacts, ...] = ()
    outputs: tuple[TensorFacts, ...] = ()
    spill_fill_bytes: int | None = None
    vtcm_bytes: int | None = None
    weight_bytes: int | None = None


@dataclass(frozen=True)
class ContextBinaryFacts:
    """What a QNN context binary's metadata says. ``htp_arch`` is 81 for V81."""

    qnn_build: str | None
    soc_id: int | None
    htp_arch: int | None
    graph_count: int
    graphs: tuple[GraphFacts, ...] = ()
    core_api: str | None = None
    backend_api: str | None = None
    blob_version: str | None = None


@dataclass(frozen=True)
class ContextFacts:
    """One distinct context binary and where its bytes lie: ``size`` bytes from ``offset`` of the file ``path``."""

    path: str
    offset: int
    size: int
    sha256: str
    soc: str | None
    binary: ContextBinaryFacts


@dataclass(frozen=True)
class ModelFacts:
    """One model file on the host. ``contexts`` are its distinct context binaries, in the order of their use.

    ``profile_level`` and ``online_prepare`` are what an ExecuTorch program was compiled with, ``delegates``
    how many delegates (or EPContext nodes) use its contexts; None where that means nothing. ``backends`` are the
    QNN backends that its delegates were compiled for, where the file tells.
    """

    path: str
    name: str
    kind: str
    sha256: str
    size: int
    soc: str | None
    htp_arch: int | None
    qnn_build: str | None
    graph_count: int
    soc_model: int | None = None
    profile_level: int | None = None
    online_prepare: bool | None = None
    contexts: tuple[ContextFacts, ...] = ()
    delegates: int | None = None
    backends: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Payload:
    """A context binary as a file of its own: what a run sends for a model."""

    name: str
    path: str
    sha256: str
    size: int
    qnn_build: str | None


@dataclass(frozen=True)
class Artifact:
    """A file that a run sends: where it lies here and its safe name on the phone."""

    name: str
    path: str
    remote_name: str
    sha256: str
    size: int
    executable: bool = False
    qnn_build: str | None = None


@dataclass(frozen=True)
class StageTime:
    """How long a stage took and, where it moved data, how many bytes."""

    name: str
    seconds: float
    bytes: int | None = None


@dataclass(frozen=True)
class CheckOutcome:
    """What a preflight check said: its id, ``warning`` or ``error``, a sentence, the next step."""

    id: str
    severity: str
    what: str
    fix: str | None


@dataclass(frozen=True)
class LogFile:
    """What a run said, under the name that it gets in a folder of logs. Not yet safe for a terminal."""

    name: str
    text: str


@dataclass(frozen=True)
class Failure:
    """Why there is no valid number: the exit code's name, the stage, a message, next steps."""

    code: str
    stage: str
    message: str
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """Everything a renderer needs of one measurement; every renderer is given the same record.

    ``started_at`` is this computer's time as ``2026-01-31T12:00:00Z``. ``logs`` are of the last run, where it failed
    or a bundle is wanted; ``findings`` what they tell of a failure, the likeliest cause first.
    """

    verdict: Verdict
    exit_code: ExitCode
    summary: str
    samples: tuple[Sample, ...] = ()
    memory: tuple[MemoryPoint, ...] = ()
    growth: Growth | None = None
    memory_growth: Mapping[str, Growth] = field(default_factory=dict)
    noise: RunNoise | None = None
    breaches: tuple[Breach, ...] = ()
    baseline: BaselineOutcome | None = None
    reading: HeapReading | None = None
    before_bytes: int | None = None
    device: DeviceFacts | None = None
    conditions_after: Conditions | None = None
    models: tuple[ModelFacts, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    sent: frozenset[str] = frozenset()
    runner: str = "native"
    runner_version: str | None = None
    target: str | None = None
    qnn_build: str | None = None
    simulated: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    settings_origins: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    commit_dirty: bool | None = None
    started_at: str | None = None
    stages: tuple[StageTime, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: Failure | None = None
    checks: tuple[CheckOutcome, ...] = ()
    findings: tuple[Finding, ...] = ()
    logs: tuple[LogFile, ...] = ()


@dataclass(frozen=True)
class DeviceRow:
    """One phone of the adb server; ``facts`` where it could be asked, else ``problem`` says why not."""

    serial: str
    alias: str
    state: str
    model: str | None
    facts: DeviceFacts | None = None
    problem: str | None = None
    lease: str | None = None
