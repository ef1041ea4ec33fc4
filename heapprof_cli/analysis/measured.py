"""What a gate needs of a measurement, out of the JSON that ``heapprof run --format json`` prints."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heapprof_cli.analysis.growth import judge_samples
from heapprof_cli.analysis.json_fields import Fields
from heapprof_cli.errors import UsageError
from heapprof_cli.records import Growth, HeapReading, Sample

_USABLE = ("ok", "over_limit")


@dataclass(frozen=True)
class Key:
    """What must be equal for two measurements to be compared; ``models`` are (name, sha256) in their order."""

    models: tuple[tuple[str, str], ...]
    soc: str | None
    perf_mode: str
    qnn_build: str | None
    simulated: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.models)

    @property
    def hashes(self) -> tuple[str, ...]:
        return tuple(sha256 for _, sha256 in self.models)

    def conditions(self) -> dict[str, str]:
        """All but the models, as shown."""
        return {
            "SoC": self.soc or "unknown",
            "performance mode": self.perf_mode,
            "QNN build": self.qnn_build or "unknown",
            "heap": "simulated" if self.simulated else "real",
        }


@dataclass(frozen=True)
class Measured:
    """One measurement, in bytes. ``leak_per_cycle`` is 0 where cycles show no leak, None where they can't tell;
    ``least_leak`` is what it is at least, with the scatter."""

    key: Key
    before_bytes: int
    after_bytes: int
    difference_bytes: int
    leak_per_cycle: int | float | None
    least_leak: int | float | None
    runs: int
    cycles: int


def read_measured(value: object, place: str) -> Measured:
    """A result's JSON object (``place`` names it) as a measurement. Raises UsageError, also for an invalid one."""
    fields = Fields(value, place)
    if not isinstance(fields.value("schema_version"), int) or fields.value("verdict") is None:
        raise UsageError(f"{place}: no result of heapprof", hints=("make one with `heapprof run --format json`",))
    version = fields.count("schema_version")
    if version != 1:
        raise UsageError(f"{place}: result schema {version} is not known here", hints=("use a newer heapprof",))
    verdict = fields.text("verdict")
    if verdict not in _USABLE:
        raise UsageError(
            f"{place}: no valid measurement: its verdict is {verdict}", hints=("measure again; `summary` says why",)
        )
    device = Fields(fields.value("device"), f"{place}, device")
    settings = Fields(fields.value("settings"), f"{place}, settings")
    models = [Fields(model, f"{place}, model {n}") for n, model in enumerate(fields.items("model"), start=1)]
    if not models:
        raise UsageError(f"{place}: names no model")
    samples = _samples(fields)
    leak, least = leak_of(judge_samples(samples, _warm_up(settings)))
    soc = device.text_or_none("soc")
    before, after = fields.count("before_bytes"), fields.count("after_bytes")
    return Measured(
        key=Key(
            models=tuple((model.text("name"), model.text("sha256").lower()) for model in models),
            soc=soc.upper() if soc else None,
            perf_mode=settings.text("perf_mode"),
            qnn_build=fields.text_or_none("qnn_build"),
            simulated=fields.flag("simulated"),
        ),
        before_bytes=before,
        after_bytes=after,
        difference_bytes=fields.count("difference_bytes"),
        leak_per_cycle=leak,
        least_leak=least,
        runs=max(len({sample.run for sample in samples}), 1),
        cycles=max((sample.cycle for sample in samples), default=1),
    )


def leak_of(growths: Sequence[Growth]) -> tuple[int | float | None, int | float | None]:
    """Bytes per cycle over all runs (the lower median), and what they are at least; None where nothing tells.

    A run without a leak counts as 0; one that is noisy or too short does not count.
    """
    told = [growth for growth in growths if growth.verdict != "noisy" and not growth.too_few]
    if not told:
        return None, None
    leaks = [(growth.bytes_per_cycle or 0) if growth.leaks else 0 for growth in told]
    least = [
        (growth.interval[0] if growth.interval else growth.bytes_per_cycle or 0) if growth.leaks else 0
        for growth in told
    ]
    return statistics.median_low(leaks), statistics.median_low(least)


def _warm_up(settings: Fields) -> int:
    """Cycles to warm up, where the result says so."""
    found = settings.value("warm_up_cycles")
    return found if isinstance(found, int) and 0 < found < 10**6 else 0


def _samples(fields: Fields) -> list[Sample]:
    found = []
    for number, item in enumerate(fields.items("samples"), start=1):
        sample = Fields(item, f"{fields.place}, sample {number}")
        reading = HeapReading(sample.count("before_bytes"), sample.count("after_bytes"))
        found.append(Sample(sample.count("run", least=1), sample.count("cycle", least=1), reading))
    return found


def measured_now(result_fields: Mapping[str, Any]) -> Measured:
    """The same, of a result that was just measured (``render.json_result.result_fields``)."""
    return read_measured(result_fields, "this measurement")
