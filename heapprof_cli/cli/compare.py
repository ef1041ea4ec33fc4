"""``heapprof compare``: two results side by side, with a gate."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from heapprof_cli import environment
from heapprof_cli.cli import options
from heapprof_cli.cli.streams import tell


@click.command("compare", context_settings=options.CONTEXT)
@click.argument("base", metavar="BASE")
@click.argument("new", metavar="NEW")
@click.option(
    "--max-growth",
    metavar="SIZE|PERCENT",
    default="0",
    show_default=True,
    help="How far NEW may lie above BASE: 4096, 4 KiB or 5%.",
)
@click.option("--require-comparable", is_flag=True, help="End with 8 where the two can't be compared.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(base: str, new: str, max_growth: str, require_comparable: bool, form: str) -> int:
    """Compare two results: files of `run --format json` (- is stdin), or ids of `heapprof history`.

    Exit 1 when NEW grew by more than --max-growth allows. Results of other models, SoCs, performance modes or QNN
    builds are shown side by side and not judged.
    """
    from heapprof_cli.analysis import limits
    from heapprof_cli.analysis.baselines import entry_of
    from heapprof_cli.analysis.comparing import compare
    from heapprof_cli.analysis.measured import read_measured
    from heapprof_cli.render import compare as rendering

    limit = limits.parse_growth(max_growth)
    there, here = _result(base), _result(new)
    before, after = read_measured(there, f"BASE {base}"), read_measured(here, f"NEW {new}")
    comparison = compare(after, [entry_of(before, "name", "", "")], limit)
    code = int(comparison.exit_code(require_baseline=require_comparable))
    sides = rendering.Sides((base, there, before), (new, here, after), comparison, code)
    tell(rendering.comparison_json(sides) if form == "json" else rendering.comparison_text(sides), end="")
    return code


def _result(reference: str) -> object:
    """The result that a word means: a file first, then an id. Raises UsageError."""
    from heapprof_cli import history
    from heapprof_cli.analysis.json_fields import load
    from heapprof_cli.errors import UsageError
    from heapprof_cli.text import clean

    shown = clean(reference, 300)
    if reference == "-":
        return load(sys.stdin.buffer, "stdin")
    if not reference.isascii() or not reference.isdigit() or Path(reference).exists():
        return load(Path(reference), shown)
    with history.opened(history.place(environment.snapshot())) as store:
        found = store.document(int(reference)) if len(reference) < 19 else None
    if found is None:
        raise UsageError(
            f"there is no result {shown} in the history, and no such file", hints=("`heapprof history` lists them",)
        )
    return found
