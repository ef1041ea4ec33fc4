"""The settings of a run, with their origins, as a table and as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass

from heapprof_cli.text import clean


@dataclass(frozen=True)
class Setting:
    """One setting; ``value`` is null, a number, a text, true or false, or a list of texts."""

    name: str
    value: object
    origin: str


def settings_json(path: str | None, settings: Sequence[Setting]) -> str:
    """One object: the settings file that was read, and each setting with its origin."""
    fields = {setting.name: {"value": setting.value, "origin": setting.origin} for setting in settings}
    return json.dumps({"schema_version": 1, "file": path, "settings": fields}, indent=2, ensure_ascii=False) + "\n"


def print_settings(path: str | None, settings: Sequence[Setting], *, origin: bool, width: int | None) -> str:
    """A table with a row per setting; ``origin`` adds the column that says who set it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    if origin:
        table.add_column("origin", overflow="fold")
    for setting in settings:
        cells = (setting.name, _words(setting.value), clean(setting.origin, 300))
        table.add_row(*cells[: 3 if origin else 2])
    buffer = io.StringIO()
    console = Console(file=buffer, markup=False, emoji=False, highlight=False, color_system=None, width=width)
    console.print(table)
    console.print(f"settings file: {clean(path, 1000) if path else 'none'}", soft_wrap=True)
    return buffer.getvalue()


def _words(value: object) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean(", ".join(map(str, value)) if isinstance(value, list) else str(value), 1000)
