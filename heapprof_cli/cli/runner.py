"""``heapprof runner``: the device program that comes with heapprof."""

from __future__ import annotations

from pathlib import Path

import click

from heapprof_cli.cli import options
from heapprof_cli.cli.streams import tell

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

    tell(str(standin_folder(target) if standin else runner_file(target)))
    return 0


@command.command("build", context_settings=options.CONTEXT)
@click.argument("targets", nargs=-1, type=click.Choice(_TARGETS), metavar="[TARGET...]")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder to build into.")
@click.option("--cc", metavar="COMMAND", help="Compiler instead of the pinned one, for example an NDK's clang.")
def build(targets: tuple[str, ...], output: Path | None, cc: str | None) -> int:
    """Build the runner and the stand-in out of the sources, for every TARGET or those named."""
    from heapprof_cli.artifacts import building

    for target in targets or _TARGETS:
        tell(str(building.build(target, output, cc)))
    return 0


@command.command("verify", context_settings=options.CONTEXT)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[FILE...]")
def verify(files: tuple[Path, ...]) -> int:
    """Check that Android builds have the right structure (default: the runner that heapprof would send).

    No Android system is needed, and none is asked: this is not a run on a phone.
    """
    from heapprof_cli.artifacts import building
    from heapprof_cli.artifacts.shipped import runner_file
    from heapprof_cli.errors import ExitCode

    wrong = False
    for file in files or (runner_file("android-arm64"),):
        found = building.problems(file)
        wrong = wrong or bool(found)
        tell(f"{file}: {'structurally right for android-arm64' if not found else ''}")
        for problem in found:
            tell(f"  {problem}")
    return int(ExitCode.PREFLIGHT if wrong else ExitCode.OK)
