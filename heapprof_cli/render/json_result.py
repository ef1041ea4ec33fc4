"""A result as the JSON object of the command line's contract (schema version 1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from heapprof_cli import __version__
from heapprof_cli.records import (
    Artifact,
    BaselineOutcome,
    Conditions,
    DeviceFacts,
    Failure,
    Growth,
    HeapReading,
    MemoryPoint,
    ModelFacts,
    Result,
    RunNoise,
)
from heapprof_cli.render.findings import finding_fields

SCHEMA_VERSION = 1


def result_json(result: Result, *, show_serial: bool = False) -> str:
    """One JSON object and a line end. Integers are bytes, floats seconds, unknown values null."""
    return json.dumps(result_fields(result, show_serial=show_serial), indent=2, ensure_ascii=False) + "\n"


def result_fields(result: Result, *, show_serial: bool = False) -> dict[str, object]:
    """The object behind :func:`result_json`."""
    reading = result.reading
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": result.verdict.value,
        "exit_code": int(result.exit_code),
        "summary": result.summary,
        "simulated": result.simulated,
        "before_bytes": result.before_bytes,
        "after_bytes": reading.after_bytes if reading else None,
        "difference_bytes": reading.difference_bytes if reading else None,
        "samples": [{"run": s.run, "cycle": s.cycle, **_reading(s.reading)} for s in result.samples],
        "memory": [_memory(point) for point in result.memory],
        "growth": _growth(result.growth, result.memory_growth) if result.growth else None,
        "noise": _noise(result.noise) if result.noise else None,
        "breaches": [
            {
                "limit": breach.limit,
                "allowed_bytes": breach.allowed,
                "actual_bytes": breach.actual,
                "sentence": breach.sentence,
            }
            for breach in result.breaches
        ],
        "baseline": _baseline(result.baseline) if result.baseline else None,
        "device": _device(result.device, show_serial) if result.device else None,
        "conditions": _conditions(result.device, result.conditions_after),
        "adb": _adb(result.device),
        "model": [model_identity(model) for model in result.models],
        "artifacts": [_artifact(artifact, result.sent) for artifact in result.artifacts],
        "runner": {"kind": result.runner, "target": result.target, "version": result.runner_version}
        if result.target
        else None,
        "qnn_build": result.qnn_build,
        "settings": dict(result.settings),
        "settings_origins": dict(result.settings_origins),
        "heapprof_version": __version__,
        "repository": {"commit": result.commit, "dirty": result.commit_dirty} if result.commit else None,
        "started_at": result.started_at,
        "stages": [
            {
                "name": stage.name,
                "seconds": stage.seconds,
                **({} if stage.bytes is None else {"bytes": stage.bytes}),
            }
            for stage in result.stages
        ],
        "warnings": list(result.warnings),
        "findings": [finding_fields(finding) for finding in result.findings],
        "error": failure_fields(result.failure) if result.failure else None,
    }


def failure_fields(failure: Failure) -> dict[str, object]:
    return {
        "code": failure.code,
        "stage": failure.stage,
        "message": failure.message,
        "hints": list(failure.hints),
    }


def _reading(reading: HeapReading) -> dict[str, object]:
    return {
        "before_bytes": reading.before_bytes,
        "after_bytes": reading.after_bytes,
        "difference_bytes": reading.difference_bytes,
    }


def _growth(growth: Growth, memory: Mapping[str, Growth] | None = None) -> dict[str, object]:
    fields: dict[str, object] = {
        "verdict": growth.verdict,
        "one_time_bytes": growth.one_time_bytes,
        "bytes_per_cycle": growth.bytes_per_cycle,
        "interval": list(growth.interval) if growth.interval else None,
        "method": growth.method,
        "cycles": growth.cycles,
        "sentence": growth.sentence,
    }
    return fields if memory is None else {**fields, "memory": {name: _growth(each) for name, each in memory.items()}}


def _noise(noise: RunNoise) -> dict[str, object]:
    return {
        "runs": noise.runs,
        "median_bytes": noise.median,
        "smallest_bytes": noise.smallest,
        "largest_bytes": noise.largest,
        "sentence": noise.sentence,
    }


def _baseline(outcome: BaselineOutcome) -> dict[str, object]:
    return {
        "outcome": outcome.outcome,
        "sentence": outcome.sentence,
        "difference_bytes": outcome.difference_bytes,
        "differing": [{"key": key, "baseline": there, "here": here} for key, there, here in outcome.differing],
    }


def _memory(point: MemoryPoint) -> dict[str, object]:
    return {
        "run": point.run,
        "cycle": point.cycle,
        "checkpoint": point.checkpoint,
        "rss_bytes": point.rss_bytes,
        "pss_bytes": point.pss_bytes,
        "private_dirty_bytes": point.private_dirty_bytes,
        "dma_buf_bytes": point.dma_buf_bytes,
    }


def _device(device: DeviceFacts, show_serial: bool) -> dict[str, object]:
    fields: dict[str, object] = {
        "alias": device.alias,
        "model": device.model,
        "soc": device.soc,
        "htp_arch": device.htp_arch,
        "android": device.android,
        "abi": device.abi,
        "fingerprint": device.fingerprint,
        "kernel": device.kernel,
        "virtual": device.virtual,
    }
    return {"serial": device.serial, **fields} if show_serial else fields


def _conditions(device: DeviceFacts | None, after: Conditions | None) -> dict[str, object] | None:
    """Governors, throttling and temperature before the run and after the last one."""
    before = device.surroundings.conditions if device and device.surroundings else None
    if before is None:
        return None
    return {"before": asdict(before), "after": asdict(after) if after else None}


def _adb(device: DeviceFacts | None) -> dict[str, object] | None:
    """The adb server's version and that of the adb on the PATH, as `adb version` writes them."""
    if device is None or device.surroundings is None:
        return None
    adb = device.surroundings.adb
    versions = {"server_version": adb.server, "client_version": adb.client}
    return {key: None if number is None else f"1.0.{number}" for key, number in versions.items()}


def model_identity(model: ModelFacts) -> dict[str, object]:
    """What names a model file and the phone it was made for, in every JSON."""
    return {
        "name": model.name,
        "kind": model.kind,
        "sha256": model.sha256,
        "bytes": model.size,
        "soc": model.soc,
        "htp_arch": model.htp_arch,
        "qnn_build": model.qnn_build,
    }


def _artifact(artifact: Artifact, sent: frozenset[str]) -> dict[str, object]:
    return {
        "name": artifact.name,
        "sha256": artifact.sha256,
        "bytes": artifact.size,
        "qnn_build": artifact.qnn_build,
        "sent": artifact.sha256 in sent,
    }
