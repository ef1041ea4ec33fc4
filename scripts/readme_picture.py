"""Draws docs/table.svg, the README's picture: the real table of `heapprof demo`, exported by rich."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from heapprof_cli import resources
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.cli.progress import StderrReporter
from heapprof_cli.render.table import print_table
from heapprof_cli.session import measure
from heapprof_cli.settings import RunSettings
from heapprof_cli.virtual import VirtualPhone

TARGET = Path(__file__).resolve().parent.parent / "docs" / "table.svg"


def main() -> None:
    with VirtualPhone() as phone:
        settings = RunSettings(
            models=(resources.demo_model(),),
            server=ServerAddress(phone.adb_host, phone.adb_port),
            serial=phone.serial,
            alias="virtual-phone",
            workspace=phone.workspace,
        )
        result = measure(settings, StderrReporter(-1))
    console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    print_table(result, console)
    TARGET.parent.mkdir(exist_ok=True)
    drawing = console.export_svg(title="heapprof demo", unique_id="heapprof-table")
    # No fonts from the web: the page that shows the picture should ask nobody else.
    TARGET.write_text(re.sub(r"@font-face \{[^}]*\}\s*", "", drawing), "utf-8")


if __name__ == "__main__":
    main()
