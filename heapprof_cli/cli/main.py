"""The ``heapprof`` command: its subcommands, loaded when used, and how every failure ends."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence

import click

from heapprof_cli import __version__
from heapprof_cli.cli import streams
from heapprof_cli.cli.invocation import Invocation
from heapprof_cli.errors import ExitCode, HeapprofError

_COMMANDS = {
    "run": "heapprof_cli.cli.run",
    "devices": "heapprof_cli.cli.devices",
    "doctor": "heapprof_cli.cli.doctor",
    "inspect": "heapprof_cli.cli.inspect",
    "explain": "heapprof_cli.cli.explain",
    "socs": "heapprof_cli.cli.socs",
    "baseline": "heapprof_cli.cli.baseline",
    "compare": "heapprof_cli.cli.compare",
    "history": "heapprof_cli.cli.history",
    "report": "heapprof_cli.cli.report",
    "clean": "heapprof_cli.cli.clean",
    "demo": "heapprof_cli.cli.demo",
    "config": "heapprof_cli.cli.config",
    "runner": "heapprof_cli.cli.runner",
}
_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(
    f"  {code.value:>3}  {code.name.lower():<20} {code.meaning}" for code in ExitCode
)


class LazyGroup(click.Group):
    """Imports a subcommand's module only when it is asked for: ``--version`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command


@click.group(
    cls=LazyGroup,
    epilog=_EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version", prog_name="heapprof")
def cli() -> None:
    """Measure what a QNN model costs the heap of a Qualcomm DSP, over ADB."""


def run(words: Sequence[str]) -> int:
    """Run the command with the arguments ``words``; the exit code. Only SystemExit of a bug in click escapes."""
    last = words.index("--") if "--" in words else len(words)
    words = [*map(_with_dashes, words[:last]), *words[last:]]
    code = _invoke(Invocation(words))
    streams.flush()
    return code


def _with_dashes(word: str) -> str:
    """``--perf_mode`` is ``--perf-mode``: both spellings are in use among QNN tools."""
    name, separator, value = word.partition("=")
    return name.replace("_", "-") + separator + value if name.startswith("--") and len(name) > 2 else word


def _invoke(call: Invocation) -> int:
    try:
        outcome = cli.main(args=call.words, prog_name="heapprof", standalone_mode=False, obj=call)
        return int(outcome) if isinstance(outcome, int) else int(ExitCode.OK)
    except click.exceptions.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail(call, ExitCode.INTERRUPTED, "interrupted", "interrupted", ())
    except click.ClickException as error:
        return _usage(call, error)
    except HeapprofError as error:
        return _fail(call, error.exit_code, error.stage, error.message, error.hints)
    except SystemExit:
        return int(ExitCode.OK)  # click's way of saying that nobody reads its help any more
    except Exception as error:
        return _internal(call, error)


def _usage(call: Invocation, error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        streams.note(error.format_message())
        return int(ExitCode.USAGE)
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "heapprof"
    return _fail(call, ExitCode.USAGE, "settings", error.format_message(), (f"`{path} --help` lists the options",))


def _internal(call: Invocation, error: Exception) -> int:
    handle, path = tempfile.mkstemp(prefix="heapprof-debug-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as log:
        log.write(f"heapprof {__version__}, Python {sys.version}\narguments: {call.words!r}\n\n")
        traceback.print_exception(error, file=log)
    message = f"a bug in heapprof: {type(error).__name__}; the debug log lies at {path}"
    return _fail(call, ExitCode.INTERNAL, "internal", message, ("please report it with that log",))


def _fail(call: Invocation, code: ExitCode, stage: str, message: str, hints: Sequence[str]) -> int:
    """Tell a failure that happened outside a measurement: words on stderr, an object on stdout for JSON."""
    from heapprof_cli.cli.output import print_failure
    from heapprof_cli.records import Failure

    failure = Failure(code.name.lower(), stage, message, tuple(hints))
    print_failure(failure)
    if call.wants_json():
        from heapprof_cli.records import Result, Verdict
        from heapprof_cli.render.json_result import result_json

        with contextlib.suppress(HeapprofError):
            streams.tell(result_json(Result(Verdict.ERROR, code, message, failure=failure)), end="")
    return int(code)
