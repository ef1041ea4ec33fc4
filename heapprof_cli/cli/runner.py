"""``heapprof runner``: the device program that comes with heapprof."""

from __future__ import annotations

import click

from heapprof_cli.cli import options

_TARGETS = ("android-arm64", "linux-arm64", "linux-x86_64")


@click.group("runner", context_settings=options.CONTEXT)
def command() -> None:
    """The native runner that heapprof sends to a device."""


@command.command("path", context_settings=options.CONTEXT)
@click.argument("target", type=click.Choice(_TARGETS))
@click.option("--standin", is_flag=True, help="The folder of the stand-in QNN libraries instead.")
def path(target: str, standin: bool) -> int:
    """Print where the runner for TARGET lies."""
    from heapprof_cli.artifacts.shipped import runner_file, standin_folder

    click.echo(standin_folder(target) if standin else runner_file(target))
    return 0
