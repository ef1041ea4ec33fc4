"""`run`'s command line read in this process, up to its settings: no phone is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click

from heapprof_cli.cli import configured, options
from heapprof_cli.cli import run as run_module
from heapprof_cli.cli.invocation import Invocation
from heapprof_cli.cli.main import cli
from heapprof_cli.settings import RunSettings


@dataclass(frozen=True)
class Parsed:
    """What `run` makes of its words: ``settings`` without origins, and every option's ``values``."""

    settings: RunSettings
    values: dict[str, Any]
    origins: dict[str, str]

    def same_as(self, other: Parsed) -> bool:
        return self.settings == other.settings and self.values == other.values


def parse(*words: str, command: str = "run") -> Parsed:
    """Raises what the command line would tell: UsageError or a ClickException."""
    root = cli.make_context("heapprof", [command, *words], obj=Invocation([command, *words]))
    chosen = cli.get_command(root, command)
    assert chosen is not None
    with chosen.make_context(command, [*words, "--", "m.bin"], parent=root) as context, configured.explaining(context):
        values = context.params
        server = options.server_address(values["host"], values["adb_port"])
        settings = options.run_settings(values["models"], server, values, values["soc"], measures=command == "run")
        chosen_options = [each for each in chosen.params if isinstance(each, click.Option) and each.name != "config"]
        given = {each.name or "": configured.value_of(context, each) for each in chosen_options}
        return Parsed(replace(settings, origins={}), given, dict(settings.origins))


def run_options() -> list[click.Option]:
    """Every option of `run` that is a setting."""
    return [
        each for each in run_module.command.params if isinstance(each, click.Option) and each.name not in ("config",)
    ]


def long_name(option: click.Option) -> str:
    return next(name for name in option.opts if name.startswith("--"))
