"""``heapprof clean``: remove only what heapprof left on a phone."""

from __future__ import annotations

import json

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.configured import ConfiguredCommand
from heapprof_cli.cli.progress import StderrReporter
from heapprof_cli.cli.streams import tell
from heapprof_cli.settings import DEFAULT_WORKSPACE, RunSettings, check_workspace
from heapprof_cli.text import readable_bytes


@click.command("clean", cls=ConfiguredCommand, context_settings=options.CONTEXT)
@options.device_options
@click.option(
    "--workspace",
    default=DEFAULT_WORKSPACE,
    show_default=True,
    envvar="HEAPPROF_WORKSPACE",
    metavar="DIR",
    help="Folder on the phone to clean.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 1_000_000),
    default=0.0,
    metavar="SECONDS",
    help="How long to wait while someone measures there.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(
    host: str | None,
    adb_port: int | None,
    serial: str | None,
    alias: str | None,
    workspace: str,
    wait: float,
    form: str,
) -> int:
    """Remove run folders and cached artifacts from the phone's workspace; other files there stay."""
    from heapprof_cli.session.cleaning import clean_phone

    settings = RunSettings(
        models=(),
        server=options.server_address(host, adb_port),
        serial=serial,
        alias=alias,
        workspace=check_workspace(workspace),
        wait=wait,
    )
    freed = clean_phone(settings, StderrReporter(-1))
    tell(json.dumps({"freed_bytes": freed}) if form == "json" else f"freed {readable_bytes(freed)}")
    return 0
