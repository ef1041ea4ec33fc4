"""``heapprof devices``: the phones that an adb server sees."""

from __future__ import annotations

import sys

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.configured import ConfiguredCommand
from heapprof_cli.cli.streams import note, tell


@click.command("devices", cls=ConfiguredCommand, context_settings=options.CONTEXT)
@options.server_options
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@options.socs_option
@click.option("--show-serial", is_flag=True, help="Show serials instead of aliases.")
def command(host: str | None, adb_port: int | None, form: str, show_serial: bool) -> int:
    """List the phones: state, SoC, HTP arch, Android version, free space."""
    from heapprof_cli.session.listing import list_devices

    rows = list_devices(options.server_address(host, adb_port))
    if form == "json":
        from heapprof_cli.render.devices import devices_json

        tell(devices_json(rows, show_serial=show_serial), end="")
        return 0
    from rich.console import Console

    from heapprof_cli.render.devices import print_devices

    console = Console(
        file=sys.stdout, markup=False, emoji=False, highlight=False, width=None if sys.stdout.isatty() else 130
    )
    if rows:
        print_devices(rows, console, show_serial=show_serial)
    else:
        note("no phone is connected to this adb server")
    for row in rows:
        if row.problem:
            note(f"{row.serial if show_serial else row.alias}: {row.problem}")
    return 0
