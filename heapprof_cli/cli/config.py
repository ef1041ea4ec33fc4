"""``heapprof config``: the settings that a run would have, and who set them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import click

from heapprof_cli.cli import configured, options
from heapprof_cli.cli import run as run_module
from heapprof_cli.cli.streams import tell


@click.group("config", context_settings=options.CONTEXT)
def command() -> None:
    """The settings of `run`: from flags, the environment, a settings file, or defaults."""


@command.command("show", context_settings={**options.CONTEXT, "ignore_unknown_options": True})
@click.option("--origin", is_flag=True, help="Say where each value came from, in the table too.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION OF RUN]...")
@click.pass_context
def show(context: click.Context, origin: bool, form: str, words: tuple[str, ...]) -> int:
    """Print every setting of `run` as it would be with these options, here and now; touch no phone."""
    from heapprof_cli.render.config import Setting, print_settings, settings_json

    with _run_context(context, words) as run_context:
        found = configured.loaded_file(run_context)
        origins = configured.origins(run_context)
        settings = [
            Setting(name, _plain(run_context, option), origins[name])
            for option in run_context.command.params
            if isinstance(option, click.Option) and (name := configured.setting_name(option)) in origins
        ]
    path = str(found.path.absolute()) if found else None
    if form == "json":
        tell(settings_json(path, settings), end="")
    else:
        tell(print_settings(path, settings, origin=origin, width=None if sys.stdout.isatty() else 160), end="")
    return 0


@contextlib.contextmanager
def _run_context(context: click.Context, words: tuple[str, ...]) -> Iterator[click.Context]:
    """The context of `run` with these words and some model, its values checked. Raises UsageError."""
    with run_module.command.make_context("run", [*words, "--", "MODEL"], parent=context.find_root()) as run_context:
        with configured.explaining(run_context):
            run_module.settings(run_context.params)
        yield run_context


def _plain(context: click.Context, option: click.Option) -> object:
    """The option's value as JSON can tell it."""
    value = configured.value_of(context, option)
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)
