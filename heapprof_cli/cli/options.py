"""Options that several commands share, and their way into settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from heapprof_cli import adb_address, environment
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.cli import configured, judging
from heapprof_cli.cli.output import OutputFile
from heapprof_cli.errors import UsageError
from heapprof_cli.settings import (
    AUTO,
    DEFAULT_WORKSPACE,
    NATIVE,
    RUNNERS,
    RunSettings,
    check_perf_mode,
    check_seconds,
    check_size,
    check_skip,
    check_soc,
    check_workspace,
)

F = TypeVar("F", bound=Callable[..., Any])


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def _apply(function: F, decorators: list[Callable[[F], F]]) -> F:
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def _use_socs(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None:
        from heapprof_cli import socs

        socs.use(value)
    return value


def socs_option(function: F) -> F:
    """Where further SoCs come from."""
    option = click.option(
        "--socs-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        envvar="HEAPPROF_SOCS",
        is_eager=True,
        expose_value=False,
        callback=_use_socs,
        metavar="FILE",
        help="YAML file with further SoCs (also: HEAPPROF_SOCS).",
    )
    return _apply(function, [option])


def server_options(function: F) -> F:
    """Which adb server."""
    return _apply(
        function,
        [
            click.option("-H", "--host", envvar="HEAPPROF_HOST", metavar="HOST", help="Host of the adb server."),
            click.option(
                "-P",
                "--adb-port",
                "--port",
                type=click.IntRange(1, 65535),
                envvar="HEAPPROF_ADB_PORT",
                metavar="PORT",
                help="Port of the adb server (default 5037).",
            ),
        ],
    )


def device_options(function: F) -> F:
    """Which phone."""
    decorators: list[Callable[[F], F]] = [
        click.option(
            "-s",
            "--serial",
            "--device",
            envvar=["HEAPPROF_SERIAL", "ANDROID_SERIAL"],
            metavar="SERIAL",
            help="Serial or alias of the phone; needed only when several are ready.",
        ),
        click.option("--alias", metavar="NAME", help="Name that stands for the phone in results."),
    ]
    return server_options(_apply(function, decorators))


def run_options(function: F) -> F:
    """What to measure with, and how."""
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    decorators: list[Callable[[F], F]] = [
        click.option(
            "--runner",
            type=click.Choice(RUNNERS),
            default=NATIVE,
            show_default=True,
            envvar="HEAPPROF_RUNNER",
            help="heapprof's own runner, or ExecuTorch's qnn_executor_runner of --build-folder, for one .pte.",
        ),
        click.option(
            "--runner-target",
            type=click.Choice(["android-arm64", "linux-arm64", "linux-x86_64"]),
            help="Runner to send (default: from the device).",
        ),
        click.option(
            "--qnn-libs",
            type=click.Path(exists=True, path_type=Path),
            envvar="HEAPPROF_QNN_LIBS",
            help="Folder with libQnnHtp.so, libQnnSystem.so and, for a phone, Stub and Skel; or an .aar, .zip, .whl.",
        ),
        click.option(
            "-b",
            "--build-folder",
            type=folder,
            envvar="HEAPPROF_BUILD_FOLDER",
            help="ExecuTorch build folder: libraries in it, or those of the SDK it was configured with.",
        ),
        click.option(
            "--qnn-sdk",
            type=folder,
            envvar=["HEAPPROF_QNN_SDK", "QNN_SDK_ROOT"],
            help="QNN/QAIRT SDK to take the libraries from.",
        ),
        click.option(
            "--perf-mode",
            "--htp-performance-mode",
            default="0",
            envvar="HEAPPROF_PERF_MODE",
            metavar="NAME|0-8",
            help="Performance mode of the HTP (default 0, default).",
        ),
        click.option(
            "--profile-level",
            type=click.IntRange(1, 2),
            help="QNN profile level: 1 basic, 2 detailed (default: 1, with --runner executorch 2).",
        ),
        click.option(
            "--log-level",
            type=click.IntRange(1, 5),
            default=2,
            show_default=True,
            help="QNN log level: 1 error, 2 warning, 3 info, 4 verbose, 5 debug.",
        ),
        click.option(
            "-i",
            "--input-list",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Inputs in ExecuTorch's format, a line per inference (default: zeros, once).",
        ),
        click.option(
            "-n",
            "--iterations",
            "--iteration",
            type=click.IntRange(0, 1_000_000),
            default=1,
            show_default=True,
            help="Executions of every graph; 0 only creates and frees.",
        ),
        click.option(
            "--warm-up",
            type=click.IntRange(0, 1_000_000),
            default=0,
            show_default=True,
            help="Executions before those.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(0, 1_000_000),
            default=600.0,
            show_default=True,
            envvar="HEAPPROF_TIMEOUT",
            metavar="SECONDS",
            help="Time limit of the runner; 0 means none.",
        ),
        click.option(
            "--workspace",
            default=DEFAULT_WORKSPACE,
            show_default=True,
            envvar="HEAPPROF_WORKSPACE",
            metavar="DIR",
            help="Folder on the phone to work in.",
        ),
        click.option(
            "--wait",
            type=click.FloatRange(0, 1_000_000),
            default=0.0,
            envvar="HEAPPROF_WAIT",
            metavar="SECONDS",
            help="How long to wait while someone else measures on the phone (default: not at all).",
        ),
        click.option(
            "--stall-timeout",
            type=click.FloatRange(0.1, 100_000),
            default=30.0,
            show_default=True,
            envvar="HEAPPROF_STALL_TIMEOUT",
            metavar="SECONDS",
            help="Give a transfer up when nothing moves for so long.",
        ),
        click.option("--no-cache", is_flag=True, help="Send everything, keep nothing on the phone."),
        click.option(
            "--cache-limit",
            default="8 GiB",
            show_default=True,
            envvar="HEAPPROF_CACHE_LIMIT",
            metavar="SIZE",
            help="Size of the cache on the phone; what was not used for longest goes first.",
        ),
        click.option("--skip", multiple=True, metavar="CHECK", help="Leave a preflight check out; may be repeated."),
        click.option("--strict", is_flag=True, help="Let preflight warnings end the run too."),
        click.option("--keep", is_flag=True, help="Leave the run's folder on the phone."),
    ]
    return socs_option(_apply(function, decorators))


def output_options(function: F) -> F:
    """Where results go and how much is said."""
    decorators: list[Callable[[F], F]] = [
        click.option(
            "--format",
            "form",
            type=click.Choice(["table", "json", "csv", "markdown", "junit", "github"]),
            default="table",
            show_default=True,
            help="Format of the result on stdout.",
        ),
        click.option(
            "-o",
            "--output",
            "outputs",
            type=OutputFile(),
            multiple=True,
            metavar="[FORMAT:]FILE",
            help="Also write the result to FILE; the format may follow from its ending. May be repeated.",
        ),
        click.option(
            "--bundle",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE.zip",
            help="Also write all that a colleague needs to understand the run: result, logs, versions, checks; "
            "serials, addresses and home folders are replaced.",
        ),
        click.option("--no-history", is_flag=True, help="Keep the result out of the history."),
        click.option("--show-serial", is_flag=True, help="Put the phone's serial into the result."),
        click.option("-q", "--quiet", is_flag=True, help="Say only warnings and failures on stderr."),
        click.option("-v", "--verbose", count=True, help="Say more on stderr: the runner's lines."),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Colours in the table.",
        ),
    ]
    return _apply(function, decorators)


def server_address(host: str | None, adb_port: int | None) -> ServerAddress:
    """The adb server by flags, then the environment. Raises UsageError."""
    return adb_address.choose_address(host, adb_port, environment.snapshot())


def run_settings(
    models: tuple[Path, ...],
    server: ServerAddress,
    values: dict[str, Any],
    soc: str = AUTO,
    *,
    measures: bool = True,
) -> RunSettings:
    """Settings from the values of :func:`device_options`, :func:`run_options` and, where the command ``measures``,
    :func:`judging.judging_options`. Raises UsageError."""
    if measures and not models:
        raise UsageError("no model was named", hints=("`heapprof run MODEL.bin`",))
    return RunSettings(
        models=models,
        server=server,
        serial=values.get("serial"),
        alias=values.get("alias"),
        soc=check_soc(soc),
        runner=values["runner"],
        runner_target=values["runner_target"],
        qnn_sdk=values["qnn_sdk"],
        qnn_libs=values["qnn_libs"],
        build_folder=values["build_folder"],
        skip=check_skip(values["skip"]),
        strict=values["strict"],
        perf_mode=check_perf_mode(values["perf_mode"]),
        profile_level=values["profile_level"],
        log_level=values["log_level"],
        input_list=values["input_list"],
        iterations=values["iterations"],
        warm_up=values["warm_up"],
        **(judging.judging_settings(values) if measures else {}),
        timeout=check_seconds(values["timeout"], "--timeout"),
        workspace=check_workspace(values["workspace"]),
        keep=values["keep"],
        cache=not values["no_cache"],
        cache_limit=check_size(values["cache_limit"], "--cache-limit"),
        wait=check_seconds(values["wait"], "--wait"),
        stall_timeout=check_seconds(values["stall_timeout"], "--stall-timeout"),
        bundle=values.get("bundle"),
        origins=configured.origins_now(),
    )
