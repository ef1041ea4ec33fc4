"""``heapprof socs``: the SoCs that heapprof knows."""

from __future__ import annotations

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.streams import tell


@click.command("socs", context_settings=options.CONTEXT)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@options.socs_option
def command(form: str) -> int:
    """List the known SoCs: QNN's id, HTP arch, VTCM, name, spellings."""
    from heapprof_cli.render import socs as rendering
    from heapprof_cli.socs import all_socs

    known = all_socs()
    tell(rendering.socs_json(known) if form == "json" else rendering.socs_text(known), end="")
    return 0
