"""``heapprof demo``: ``run`` on the built-in virtual phone."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from heapprof_cli import resources
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.cli import configured, options
from heapprof_cli.cli.judging import judging_options
from heapprof_cli.cli.measuring import measured, tell_result, wanted_outputs
from heapprof_cli.errors import UsageError
from heapprof_cli.settings import DEFAULT_WORKSPACE, RunSettings
from heapprof_cli.text import clean

_SOC = "SM8850"
_TARGET = "linux-x86_64"


@click.command("demo", cls=configured.ConfiguredCommand, tells_results=True, context_settings=options.CONTEXT)
@options.run_options
@judging_options
@options.output_options
@click.option(
    "--standin",
    "behaviour",
    multiple=True,
    metavar="KEY=VALUE",
    help="Behaviour of the stand-in HTP library, for example leak_per_cycle=4096; may be repeated.",
)
@click.argument("models", nargs=-1, metavar="[MODEL...]", type=click.Path(path_type=Path))
def command(models: tuple[Path, ...], behaviour: tuple[str, ...], **values: Any) -> int:
    """Measure on a virtual phone on this computer: the real adb server, the real runner, a stand-in HTP library.

    The heap numbers are simulated; everything else is what happens on a phone.
    """
    from heapprof_cli.virtual import VirtualPhone

    models = models or (resources.demo_model(),)
    _forget_libraries_for_phones(values)
    outputs = wanted_outputs(values)
    with contextlib.ExitStack() as stack:
        if behaviour:
            values["qnn_libs"] = stack.enter_context(_standin(behaviour))
        settings = options.run_settings(models, ServerAddress(), values)  # checked before anything starts
        phone = stack.enter_context(VirtualPhone(properties={"ro.soc.model": _soc_for(settings)}))
        workspace = phone.workspace if settings.workspace == DEFAULT_WORKSPACE else settings.workspace
        server = ServerAddress(phone.adb_host, phone.adb_port)
        values.update(serial=phone.serial, alias="virtual-phone", workspace=workspace)
        settings = options.run_settings(models, server, values)
        result = measured(settings, values)
    return tell_result(result, settings, outputs, values)


def _forget_libraries_for_phones(values: dict[str, Any]) -> None:
    """An SDK that the environment or a settings file names is for phones; the demo is to work with it, too."""
    for name in ("qnn_libs", "qnn_sdk", "build_folder"):
        if configured.given_by(name) is not ParameterSource.COMMANDLINE:
            values[name] = None
            configured.forget(name)


def _soc_for(settings: RunSettings) -> str:
    """The virtual phone becomes the SoC that the first model was made for."""
    from heapprof_cli.model_files import read_model

    return read_model(settings.models[0]).soc or _SOC


@contextlib.contextmanager
def _standin(behaviour: tuple[str, ...]) -> Iterator[Path]:
    """A copy of the stand-in whose settings file says ``behaviour``."""
    from heapprof_cli.artifacts.shipped import standin_folder

    for line in behaviour:
        if "=" not in line or "\n" in line:
            raise UsageError(f"--standin {clean(line, 100)!r} is not KEY=VALUE")
    with tempfile.TemporaryDirectory(prefix="heapprof-standin-") as folder:
        for library in standin_folder(_TARGET).glob("*.so"):
            (Path(folder) / library.name).symlink_to(library)
        (Path(folder) / "standin.conf").write_text("\n".join(behaviour) + "\n", "utf-8")
        yield Path(folder)
