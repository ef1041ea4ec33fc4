"""A measurement against baselines: within, exceeded, improved, incomparable, or none there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heapprof_cli.analysis.baselines import Entry
from heapprof_cli.analysis.limits import GrowthLimit, growth_breach
from heapprof_cli.analysis.measured import Key, Measured
from heapprof_cli.analysis.verdicts import in_bytes
from heapprof_cli.errors import ExitCode
from heapprof_cli.records import Breach

Outcome = Literal["within", "exceeded", "improved", "incomparable", "no_baseline"]


@dataclass(frozen=True)
class Differing:
    """A key by which a baseline can't be compared: its value there and here."""

    key: str
    baseline: str
    here: str


@dataclass(frozen=True)
class Comparison:
    """What a measurement is against the baselines; ``entry`` is the one that was used, or that comes nearest."""

    outcome: Outcome
    sentence: str
    measured: Measured
    entry: Entry | None = None
    differing: tuple[Differing, ...] = ()
    breaches: tuple[Breach, ...] = ()

    def exit_code(self, *, require_baseline: bool) -> ExitCode:
        if self.outcome == "exceeded":
            return ExitCode.OVER_LIMIT
        missing = self.outcome in ("incomparable", "no_baseline")
        return ExitCode.NO_BASELINE if missing and require_baseline else ExitCode.OK


def compare(measured: Measured, entries: Sequence[Entry], limit: GrowthLimit | None = None) -> Comparison:
    """Compare with the entry of the same key; one by hash counts before one by name. No limit allows no growth."""
    limit = limit or GrowthLimit()
    alike = sorted((entry for entry in entries if entry.is_of(measured.key)), key=lambda entry: entry.match != "sha256")
    if not alike:
        return _absent(measured, entries)
    ranked = [(entry, _differing(entry.key, measured.key)) for entry in alike]
    entry, differing = min(ranked, key=lambda pair: len(pair[1]))
    if differing:
        told = "; ".join(f"{one.key}: {one.baseline} there, {one.here} here" for one in differing)
        sentence = f"the nearest baseline of {_names(measured.key)} can't be compared: {told}"
        return Comparison("incomparable", sentence, measured, entry, differing)
    return _judge(measured, entry, limit)


def _absent(measured: Measured, entries: Sequence[Entry]) -> Comparison:
    """No baseline for the models; where a hash is the reason (the model was built anew), that key is named."""
    for entry in entries:
        if entry.key.names == measured.key.names:
            differing = (
                Differing("model hash", _short(entry.key.hashes), _short(measured.key.hashes)),
                *_differing(entry.key, measured.key),
            )
            told = "; ".join(f"{one.key}: {one.baseline} there, {one.here} here" for one in differing)
            sentence = f"the baseline of {_names(measured.key)} is of another file: {told}"
            return Comparison("incomparable", sentence, measured, entry, differing)
    return Comparison("no_baseline", f"there is no baseline of {_names(measured.key)}", measured)


def _judge(measured: Measured, entry: Entry, limit: GrowthLimit) -> Comparison:
    found = [growth_breach(limit, "the difference", entry.difference_bytes, measured.difference_bytes)]
    if entry.leak_per_cycle is not None and measured.least_leak is not None:
        found.append(growth_breach(limit, "the leak per cycle", entry.leak_per_cycle, measured.least_leak))
    breaches = tuple(breach for breach in found if breach is not None)
    if breaches:
        sentence = "; ".join(breach.sentence for breach in breaches)
        return Comparison("exceeded", sentence, measured, entry, breaches=breaches)
    change = measured.difference_bytes - entry.difference_bytes
    words = [f"the difference is {in_bytes(measured.difference_bytes)}, {_change(change)}"]
    less: int | float = 0
    if entry.leak_per_cycle is not None and measured.leak_per_cycle is not None:
        less = measured.leak_per_cycle - entry.leak_per_cycle
        words += [f"the leak per cycle is {in_bytes(measured.leak_per_cycle)}, {_change(less)}"] if less else []
    elif measured.leak_per_cycle:
        leak = in_bytes(measured.leak_per_cycle)
        words.append(f"the leak per cycle is {leak}, and not compared: the baseline was made with too few cycles")
    # Less than a byte less is scatter.
    better = (change < 0 and less < 1) or (change <= 0 and less <= -1)
    if better:
        words.append("save it as the new baseline to keep it so")
    return Comparison("improved" if better else "within", "; ".join(words), measured, entry)


def _change(change: int | float) -> str:
    if change == 0:
        return "as in the baseline"
    return f"{in_bytes(abs(change))} {'less' if change < 0 else 'more'} than in the baseline"


def _differing(there: Key, here: Key) -> tuple[Differing, ...]:
    values = here.conditions()
    return tuple(
        Differing(key, value, values[key]) for key, value in there.conditions().items() if value != values[key]
    )


def _names(key: Key) -> str:
    return " + ".join(key.names)


def _short(hashes: Sequence[str]) -> str:
    return " + ".join(sha256[:12] for sha256 in hashes)
