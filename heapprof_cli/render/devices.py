"""The list of phones, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapprof_cli.records import DeviceRow
from heapprof_cli.text import readable_bytes


def devices_json(rows: Sequence[DeviceRow], *, show_serial: bool) -> str:
    """``{"devices": [...]}`` of the contract, with serials only where asked for."""
    return json.dumps({"devices": [_fields(row, show_serial) for row in rows]}, indent=2, ensure_ascii=False) + "\n"


def _fields(row: DeviceRow, show_serial: bool) -> dict[str, object]:
    facts = row.facts
    fields: dict[str, object] = {
        "alias": row.alias,
        **({"serial": row.serial} if show_serial else {}),
        "state": row.state,
        "model": facts.model if facts else row.model,
        "soc": facts.soc if facts else None,
        "htp_arch": facts.htp_arch if facts else None,
        "abi": facts.abi if facts else None,
        "android": facts.android if facts else None,
        "free_bytes": facts.free_bytes if facts else None,
        "lease": row.lease,
        "virtual": facts.virtual if facts else None,
        "problem": row.problem,
    }
    return fields


def print_devices(rows: Sequence[DeviceRow], console: Console, *, show_serial: bool) -> None:
    """A line for each phone; its problem under it where it could not be asked."""
    table = Table()
    for heading in (
        "serial" if show_serial else "alias",
        "state",
        "model",
        "SoC",
        "HTP",
        "Android",
        "free",
        "measured by",
    ):
        table.add_column(heading, no_wrap=heading not in ("model", "measured by"))
    for row in rows:
        facts = row.facts
        free = readable_bytes(facts.free_bytes) if facts and facts.free_bytes is not None else "-"
        table.add_row(
            *map(
                Text,
                (
                    row.serial if show_serial else row.alias,
                    row.state,
                    (facts.model if facts else row.model) or "-",
                    (facts.soc if facts else None) or "-",
                    f"V{facts.htp_arch}" if facts and facts.htp_arch else "-",
                    (facts.android if facts else None) or "-",
                    free,
                    row.lease or "-",
                ),
            )
        )
    console.print(table)
