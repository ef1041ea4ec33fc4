"""``heapprof run``: measure on a phone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.configured import ConfiguredCommand
from heapprof_cli.cli.judging import judging_options
from heapprof_cli.cli.measuring import measured, tell_result, wanted_outputs
from heapprof_cli.cli.streams import tell
from heapprof_cli.settings import AUTO, RunSettings


@click.command("run", cls=ConfiguredCommand, tells_results=True, context_settings=options.CONTEXT)
@options.device_options
@click.option(
    "-m",
    "--soc",
    "--soc-model",
    default=AUTO,
    envvar="HEAPPROF_SOC",
    metavar="NAME",
    help="SoC of the phone, checked against it, for example SM8850 (default: auto).",
)
@options.run_options
@judging_options
@options.output_options
@click.option("--dry-run", is_flag=True, help="Print the device commands; send nothing.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path(path_type=Path))
def command(dry_run: bool, **values: Any) -> int:
    """Measure the DSP heap before the first context of MODEL... is created and after the last is freed.

    MODEL is a QNN context binary (.bin), an ExecuTorch program (.pte) or an ONNX EPContext model (.onnx); several
    are measured together, as one multi-context run.
    """
    chosen = settings(values)
    if dry_run:
        from heapprof_cli.session.planning import planned_commands

        commands = planned_commands(chosen)
        tell(json.dumps({"commands": commands}, indent=2) if values["form"] == "json" else "\n".join(commands))
        return 0
    outputs = wanted_outputs(values)
    return tell_result(measured(chosen, values), chosen, outputs, values)


def settings(values: dict[str, Any]) -> RunSettings:
    """The settings by the values of every option of `run`. Raises UsageError."""
    server = options.server_address(values["host"], values["adb_port"])
    return options.run_settings(values["models"], server, values, values["soc"])
