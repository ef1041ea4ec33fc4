"""Judging: is there a reading of this very run, and is it plausible?"""

from __future__ import annotations

from dataclasses import dataclass

from heapprof_cli import heap_file
from heapprof_cli.device.phone import Leavings
from heapprof_cli.heap_file import HeapFileProblem
from heapprof_cli.records import HeapReading, Verdict
from heapprof_cli.session import cycle_files
from heapprof_cli.session.cycle_files import SeriesProblem
from heapprof_cli.session.runner_status import RunnerStatus
from heapprof_cli.text import readable_bytes


@dataclass(frozen=True)
class Judgement:
    """A verdict with its sentence; ``reading`` is None where no number may be shown as a result.

    ``cycles`` are the readings of the run's cycles, in order; one that is ``reading`` where there is one cycle.
    """

    verdict: Verdict
    sentence: str
    reading: HeapReading | None = None
    before_bytes: int | None = None
    hints: tuple[str, ...] = ()
    cycles: tuple[HeapReading, ...] = ()

    @property
    def difference_bytes(self) -> int:
        """The reading's difference in bytes, 0 where there is no reading."""
        return self.reading.difference_bytes if self.reading else 0


def judge(leavings: Leavings, status: RunnerStatus | None, cycles: int = 1) -> Judgement:
    """Judge what a run of ``cycles`` cycles that ended well has left. ``status`` is this run's, or None."""
    if leavings.heap_is_older:
        return Judgement(
            Verdict.STALE,
            "the heap file on the phone is older than this run: it is not its measurement",
            hints=("something else wrote into the run's folder; run again with another --workspace",),
        )
    if leavings.heap_is_large:
        return Judgement(
            Verdict.MALFORMED,
            f"the heap file is larger than {readable_bytes(heap_file.MAX_BYTES)}; two lines are expected",
            hints=_problem_hints(Verdict.MALFORMED),
        )
    if leavings.heap is None:
        return _absent(leavings, status)
    try:
        reading = heap_file.parse(leavings.heap)
    except HeapFileProblem as problem:
        return Judgement(
            problem.verdict,
            problem.message,
            before_bytes=problem.before_bytes,
            hints=_problem_hints(problem.verdict),
        )
    if status is not None and _differs(reading, status):
        return Judgement(
            Verdict.STALE,
            "the heap file does not hold what this run's runner says it measured: it comes from elsewhere",
            hints=("run again with another --workspace",),
        )
    try:
        series = cycle_files.parse_series(leavings.series, cycles) if cycles > 1 else (reading,)
    except SeriesProblem as problem:
        verdict = Verdict.INCOMPLETE if problem.incomplete else Verdict.MALFORMED
        return Judgement(verdict, problem.message, before_bytes=reading.before_bytes, hints=_problem_hints(verdict))
    if (series[0].before_bytes, series[-1].after_bytes) != (reading.before_bytes, reading.after_bytes):
        return Judgement(
            Verdict.MALFORMED,
            "the heap series of the cycles and the heap file contradict each other",
            before_bytes=reading.before_bytes,
            hints=_problem_hints(Verdict.MALFORMED),
        )
    if reading.after_bytes < reading.before_bytes:
        return Judgement(
            Verdict.IMPLAUSIBLE,
            f"after ({reading.after_bytes} bytes) is less than before ({reading.before_bytes} bytes): "
            "contexts can't free more than they took",
            reading,
            cycles=series,
            hints=("another user of the DSP may have freed heap meanwhile: stop other DSP apps and run again",),
        )
    return Judgement(Verdict.OK, _in_words(reading, cycles), reading, cycles=series)


def _in_words(reading: HeapReading, cycles: int) -> str:
    if reading.difference_bytes == 0:
        return "the DSP heap after freeing everything is what it was before"
    more = f"{readable_bytes(reading.difference_bytes)} of DSP heap more after freeing everything than before"
    return more if cycles > 1 else f"{more}; once is no leak yet: the DSP may keep what it reserved"


def _differs(reading: HeapReading, status: RunnerStatus) -> bool:
    return (status.heap_before, status.heap_after) != (reading.before_bytes, reading.after_bytes)


def _absent(leavings: Leavings, status: RunnerStatus | None) -> Judgement:
    if status is not None and status.heap_events == 0:
        why = "the HTP library delivered no DSP heap events"
        hint = (
            "these libraries may not support DSP heap profiling: take them from a newer QNN SDK; "
            "heap profiling works only with contexts made from a binary"
        )
    else:
        why = "the runner ended well but wrote no heap file"
        hint = "look at the runner's output with -v"
    if leavings.other_heap_files:
        others = ", ".join(leavings.other_heap_files)
        return Judgement(
            Verdict.STALE,
            f"{why}; the only heap file in the workspace is of another run and was not used: {others}",
            hints=(hint,),
        )
    return Judgement(Verdict.MISSING, f"there is no heap file: {why}", hints=(hint,))


def _problem_hints(verdict: Verdict) -> tuple[str, ...]:
    if verdict is Verdict.INCOMPLETE:
        return ("one checkpoint gave no event; run again, and with -v look at the runner's output",)
    return ("something else than the runner wrote the heap file; run again with another --workspace",)
