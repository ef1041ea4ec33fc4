"""The gate: limits and baseline turn a valid measurement into one that passes or does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapprof_cli.analysis import baselines, comparing, limits
from heapprof_cli.analysis.baselines import Entry
from heapprof_cli.analysis.comparing import Comparison
from heapprof_cli.analysis.growth import judge_samples
from heapprof_cli.analysis.limits import Limits
from heapprof_cli.analysis.measured import Key, Measured, leak_of
from heapprof_cli.errors import ExitCode
from heapprof_cli.records import BaselineOutcome, Failure, Result, Verdict
from heapprof_cli.settings import RunSettings

NO_FILE_YET = "there is no baseline file yet"


def read_baselines(settings: RunSettings) -> tuple[Entry, ...]:
    """The baselines to compare with; none where the file does not exist yet. Raises UsageError for a bad file."""
    if settings.baseline is None or not settings.baseline.exists():
        return ()
    return baselines.read(settings.baseline)


def gate(result: Result, settings: RunSettings, entries: Sequence[Entry]) -> Result:
    """``result`` with what limits and baseline say of it; one that is not ok stays as it is."""
    if result.verdict is not Verdict.OK or result.reading is None:
        return result
    measured = _measured(result, settings)
    wanted = Limits(max_difference=settings.max_difference, max_leak_per_cycle=settings.max_leak_per_cycle)
    leak = measured.least_leak
    breaches = limits.check(wanted, difference=measured.difference_bytes, leak_per_cycle=leak)
    warnings = result.warnings
    if settings.max_leak_per_cycle is not None and leak is None and result.growth is not None:
        warnings += (f"--max-leak-per-cycle could not be judged: {result.growth.sentence}",)
    comparison = _compared(measured, settings, entries)
    if comparison is not None:
        breaches += comparison.breaches
    result = replace(result, breaches=breaches, warnings=warnings, baseline=_outcome(comparison, settings))
    if breaches:
        sentence = "; ".join(breach.sentence for breach in breaches)
        hints = ("if this cost is wanted, raise the limit or save a new baseline (`heapprof baseline save`)",)
        failure = Failure("over_limit", "judge", sentence, hints)
        return replace(
            result, verdict=Verdict.OVER_LIMIT, exit_code=ExitCode.OVER_LIMIT, summary=sentence, failure=failure
        )
    code = comparison.exit_code(require_baseline=settings.require_baseline) if comparison else ExitCode.OK
    if code is ExitCode.NO_BASELINE and result.baseline is not None:
        hints = ("measure under the same conditions, or save a baseline for these with `heapprof baseline save`",)
        failure = Failure("no_baseline", "judge", result.baseline.sentence, hints)
        return replace(result, exit_code=code, failure=failure)
    return result


def _compared(measured: Measured, settings: RunSettings, entries: Sequence[Entry]) -> Comparison | None:
    if settings.baseline is None:
        return None
    limit = limits.parse_growth(settings.max_growth) if settings.max_growth is not None else None
    return comparing.compare(measured, entries, limit)


def _outcome(comparison: Comparison | None, settings: RunSettings) -> BaselineOutcome | None:
    if comparison is None:
        return None
    missing = settings.baseline is not None and not settings.baseline.exists()
    return BaselineOutcome(
        comparison.outcome,
        f"{comparison.sentence}: {NO_FILE_YET}" if missing else comparison.sentence,
        comparison.entry.difference_bytes if comparison.entry else None,
        tuple((one.key, one.baseline, one.here) for one in comparison.differing),
    )


def _measured(result: Result, settings: RunSettings) -> Measured:
    """The result as gates see it; only for one with a reading."""
    assert result.reading is not None
    leak, least = leak_of(judge_samples(result.samples, settings.warm_up_cycles))
    soc = result.device.soc if result.device else None
    return Measured(
        key=Key(
            models=tuple((model.name, model.sha256) for model in result.models),
            soc=soc.upper() if soc else None,
            perf_mode=str(result.settings["perf_mode"]),
            qnn_build=result.qnn_build,
            simulated=result.simulated,
        ),
        before_bytes=result.reading.before_bytes,
        after_bytes=result.reading.after_bytes,
        difference_bytes=result.reading.difference_bytes,
        leak_per_cycle=leak,
        least_leak=least,
        runs=settings.runs,
        cycles=settings.cycles,
    )
