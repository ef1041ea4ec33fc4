"""``heapprof inspect``: what model files hold; no phone is needed."""

from __future__ import annotations

from pathlib import Path

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.streams import tell


@click.command("inspect", context_settings=options.CONTEXT)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Format on stdout.",
)
@options.socs_option
@click.option("--diff", is_flag=True, help="Show only what differs between two models.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path(path_type=Path))
def command(models: tuple[Path, ...], form: str, diff: bool) -> int:
    """Show what MODEL... hold: SoC, HTP arch, QNN build, contexts, graphs, tensors, how it was compiled.

    MODEL is a QNN context binary (.bin), an ExecuTorch program (.pte) or an ONNX EPContext model (.onnx).
    """
    if diff and len(models) != 2:
        raise click.UsageError(f"--diff compares two models, {len(models)} were named", click.get_current_context())
    from heapprof_cli.model_files import read_model
    from heapprof_cli.render import inspect

    facts = [read_model(path) for path in models]
    if diff:
        text = inspect.differences_json(*facts) if form == "json" else inspect.differences_text(*facts)
        tell(text or f"{facts[0].name} and {facts[1].name} hold the same\n", end="")
    else:
        tell(inspect.models_json(facts) if form == "json" else inspect.models_text(facts), end="")
    return 0
