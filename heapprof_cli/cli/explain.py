"""``heapprof explain``: the cause of a failure, out of its log; no phone is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.streams import tell


def _use_rules(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        from heapprof_cli.diagnosis import catalogue

        catalogue.use(value)


@click.command("explain", context_settings=options.CONTEXT)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--rules",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    expose_value=False,
    callback=_use_rules,
    metavar="FILE",
    help="YAML file with further rules (also: HEAPPROF_RULES).",
)
@click.argument("logs", nargs=-1, metavar="[LOG|-]...")
def command(logs: tuple[str, ...], form: str) -> int:
    """Name the cause of a QNN, FastRPC or adb failure in LOG..., or in what is piped in, with its fix.

    LOG is any text: output of a runner, logcat in any format (plain or gzip), a bug report, adb's own messages.
    Several logs are taken for one failure. The exit code is 0 when they were read, whatever was found.
    """
    from heapprof_cli.diagnosis import explain_files
    from heapprof_cli.render import explain as rendering

    if not logs and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("name a LOG, or pipe one in", click.get_current_context())
    names = list(dict.fromkeys(logs or ("-",)))
    several = len(names) > 1
    explanation = explain_files([(_shown(name) if several else None, _opener(name)) for name in names])
    tell(rendering.explanation_json(explanation) if form == "json" else rendering.explanation_text(explanation), end="")
    return 0


def _shown(name: str) -> str:
    from heapprof_cli.text import clean

    return "stdin" if name == "-" else clean(name, 300)


def _opener(name: str) -> Callable[[], Iterator[bytes]]:
    """What reads the log ``name`` as blocks; UsageError where that can't be done."""
    from heapprof_cli.diagnosis.reading import blocks_of_file
    from heapprof_cli.errors import UsageError
    from heapprof_cli.text import clean

    def blocks() -> Iterator[bytes]:
        try:
            if name == "-":
                if sys.stdin is None:
                    raise ValueError("it is closed")
                yield from blocks_of_file(sys.stdin.buffer)
            else:
                with open(name, "rb") as stream:
                    yield from blocks_of_file(stream)
        except (OSError, ValueError) as error:
            reason = clean(str(getattr(error, "strerror", None) or error), 200)
            raise UsageError(f"can't read the log {_shown(name)}: {reason}", hints=("check the path",)) from error

    return blocks
