"""``heapprof baseline``: save results as baselines, check results against them, list them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.streams import note, tell

if TYPE_CHECKING:
    from heapprof_cli.analysis.measured import Measured

_RESULTS = click.argument("results", nargs=-1, required=True, metavar="RESULT.json...", type=click.Path(path_type=Path))
_FORMAT = click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)


@click.group("baseline", context_settings=options.CONTEXT)
def command() -> None:
    """Keep results in a small file to commit; compare later ones with it."""


@command.command("save", context_settings=options.CONTEXT)
@_RESULTS
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Baseline file.")
@click.option(
    "--by",
    type=click.Choice(["name", "sha256"]),
    default="name",
    show_default=True,
    help="Whether a later model is the same one by its file's name, or only by its hash.",
)
def save(results: tuple[Path, ...], output: Path, by: str) -> int:
    """Save results of `heapprof run --format json` (- is stdin) as baselines in FILE, beside those it holds."""
    from datetime import datetime, timezone

    from heapprof_cli import __version__
    from heapprof_cli.analysis import baselines
    from heapprof_cli.text import clean

    measured = [_measured(path) for path in results]
    made = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = baselines.save(output, measured, "name" if by == "name" else "sha256", made, __version__)
    shown = clean(str(output), 300)
    tell(f"{shown}: {done.added} added, {done.replaced} replaced, {done.unchanged} unchanged")
    if any(one.key.simulated for one in measured):
        note("these numbers are simulated: they are compared with simulated ones only")
    return 0


@command.command("check", context_settings=options.CONTEXT)
@_RESULTS
@click.option("--baseline", "file", required=True, type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--max-growth",
    metavar="SIZE|PERCENT",
    default="0",
    show_default=True,
    help="How far a value may lie above its baseline: 4096, 4 KiB or 5%.",
)
@click.option("--require-baseline", is_flag=True, help="End with 8 where a result has no baseline to compare with.")
@_FORMAT
def check(results: tuple[Path, ...], file: Path, max_growth: str, require_baseline: bool, form: str) -> int:
    """Compare results (- is stdin) with FILE: exit 1 above the limit, 8 without a baseline if one is required."""
    from heapprof_cli.analysis import baselines, limits
    from heapprof_cli.analysis.comparing import compare
    from heapprof_cli.errors import ExitCode
    from heapprof_cli.render import baselines as rendering
    from heapprof_cli.text import clean

    limit = limits.parse_growth(max_growth)
    entries = baselines.read(file)
    told = [(clean(str(path), 300), compare(_measured(path), entries, limit)) for path in results]
    codes = {comparison.exit_code(require_baseline=require_baseline) for _, comparison in told}
    # A limit that was broken is told before a baseline that is missing.
    code = next((c for c in (ExitCode.OVER_LIMIT, ExitCode.NO_BASELINE) if c in codes), ExitCode.OK)
    json = form == "json"
    tell(rendering.comparisons_json(told, int(code)) if json else rendering.comparisons_text(told), end="")
    missing = sum(1 for _, comparison in told if comparison.outcome in ("incomparable", "no_baseline"))
    if missing:
        note("  hint: `heapprof baseline save RESULT.json -o FILE` adds what is missing")
    return int(code)


@command.command("list", context_settings=options.CONTEXT)
@click.argument("file", type=click.Path(path_type=Path))
@_FORMAT
def list_(file: Path, form: str) -> int:
    """List the baselines in FILE; bytes are bytes."""
    from heapprof_cli.analysis import baselines
    from heapprof_cli.render import baselines as rendering

    entries = baselines.read(file)
    tell(rendering.entries_json(entries) if form == "json" else rendering.entries_text(entries), end="")
    return 0


def _measured(path: Path) -> Measured:
    from heapprof_cli.analysis.json_fields import load
    from heapprof_cli.analysis.measured import read_measured
    from heapprof_cli.text import clean

    if str(path) == "-":
        return read_measured(load(sys.stdin.buffer, "stdin"), "stdin")
    shown = clean(str(path), 300)
    return read_measured(load(path, shown), shown)
