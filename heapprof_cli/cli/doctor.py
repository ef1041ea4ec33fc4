"""``heapprof doctor``: every check before a run, each with its fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.configured import ConfiguredCommand
from heapprof_cli.cli.streams import tell
from heapprof_cli.settings import AUTO


@click.command("doctor", cls=ConfiguredCommand, context_settings=options.CONTEXT)
@options.device_options
@click.option(
    "-m", "--soc", "--soc-model", default=AUTO, envvar="HEAPPROF_SOC", metavar="NAME", help="SoC of the phone."
)
@options.run_options
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.argument("models", nargs=-1, metavar="[MODEL...]", type=click.Path(path_type=Path))
def command(models: tuple[Path, ...], soc: str, form: str, **values: Any) -> int:
    """Check phone, libraries, workspace and MODEL... as `run` would, with the options of `run`; measure nothing."""
    from heapprof_cli.render import doctor as rendering
    from heapprof_cli.session.doctoring import Doctor

    server = options.server_address(values["host"], values["adb_port"])
    doctor = Doctor(options.run_settings(models, server, values, soc, measures=False))
    findings = []
    for finding in doctor.findings():
        findings.append(finding)
        if form == "table":
            tell(rendering.findings_text([finding]), end="")
    if form == "json":
        tell(rendering.findings_json(findings, int(doctor.exit_code)), end="")
    return int(doctor.exit_code)
