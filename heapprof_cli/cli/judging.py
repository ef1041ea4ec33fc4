"""Options that say how often to measure and what the numbers may be, and their way into settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from heapprof_cli.errors import UsageError
from heapprof_cli.settings import LEAST_CYCLES, check_size

F = TypeVar("F", bound=Callable[..., Any])


def judging_options(function: F) -> F:
    """How often to measure, and what the numbers may be."""
    decorators: list[Callable[[F], F]] = [
        click.option(
            "--runs",
            type=click.IntRange(1, 1000),
            default=1,
            show_default=True,
            help="Fresh runner processes, one after another: they tell how much the number scatters.",
        ),
        click.option(
            "--cycles",
            type=click.IntRange(1, 10_000),
            default=1,
            show_default=True,
            help="Create, execute and free so often in one process: tells a leak from a one-time cost.",
        ),
        click.option(
            "--warm-up-cycles",
            type=click.IntRange(0, 10_000),
            default=0,
            show_default=True,
            help="Of those, how many first ones the judgement of growth leaves out.",
        ),
        click.option(
            "--max-difference",
            metavar="SIZE",
            help="Exit 1 when the difference is greater (of several runs: the greatest one).",
        ),
        click.option(
            "--max-leak-per-cycle",
            metavar="SIZE",
            help="Exit 1 when the cycles leak more than SIZE each; needs --cycles of 4 or more.",
        ),
        click.option(
            "--baseline",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Compare with the baseline in FILE; what grows is exit 1 (`heapprof baseline save` makes it).",
        ),
        click.option(
            "--max-growth",
            metavar="SIZE|PERCENT",
            help="How far the difference may lie above its baseline, such as 4 KiB or 5% (default: not at all).",
        ),
        click.option("--require-baseline", is_flag=True, help="Exit 8 when no baseline can be compared with."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def judging_settings(values: dict[str, Any]) -> dict[str, Any]:
    """The settings of :func:`judging_options`. Raises UsageError for those that contradict each other."""
    cycles, warm_up, baseline = values["cycles"], values["warm_up_cycles"], values["baseline"]
    if warm_up and warm_up >= cycles:
        raise UsageError(
            f"--warm-up-cycles {warm_up} leaves none of {cycles} cycles to judge", hints=("raise --cycles",)
        )
    if values["max_leak_per_cycle"] is not None and cycles - warm_up < LEAST_CYCLES:
        raise UsageError(
            f"--max-leak-per-cycle needs at least {LEAST_CYCLES} cycles to judge, not {cycles - warm_up}",
            hints=("raise --cycles",),
        )
    for name in ("max_growth", "require_baseline"):
        if values[name] and baseline is None:
            raise UsageError(
                f"--{name.replace('_', '-')} needs a baseline to compare with", hints=("name it with --baseline FILE",)
            )
    return {
        "runs": values["runs"],
        "cycles": cycles,
        "warm_up_cycles": warm_up,
        "max_difference": _size(values, "max_difference"),
        "max_leak_per_cycle": _size(values, "max_leak_per_cycle"),
        "max_growth": _growth(values["max_growth"]),
        "baseline": baseline,
        "require_baseline": values["require_baseline"],
    }


def _size(values: dict[str, Any], name: str) -> int | None:
    text = values[name]
    return None if text is None else check_size(text, f"--{name.replace('_', '-')}")


def _growth(text: str | None) -> str | None:
    if text is not None:
        from heapprof_cli.analysis.limits import parse_growth

        parse_growth(text)
    return text
