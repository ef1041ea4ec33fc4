"""The ``heapprof`` command: its subcommands, loaded when used, and how every failure ends."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from heapprof_cli import __version__
from heapprof_cli.errors import ExitCode, HeapprofError

_COMMANDS = {
    "run": "heapprof_cli.cli.run",
    "devices": "heapprof_cli.cli.devices",
    "doctor": "heapprof_cli.cli.doctor",
    "inspect": "heapprof_cli.cli.inspect",
    "socs": "heapprof_cli.cli.socs",
    "clean": "heapprof_cli.cli.clean",
    "demo": "heapprof_cli.cli.demo",
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


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with a code of the contract."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _interrupt_on(signal.SIGTERM, signal.SIGHUP)
    code = _invoke(words)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    sys.exit(code)


def _interrupt_on(*signals: signal.Signals) -> None:
    """Let SIGTERM and a closed terminal clean up as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in signals:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup keeps its meaning
            signal.signal(number, interrupt)


def _invoke(words: list[str]) -> int:
    try:
        outcome = cli.main(args=words, prog_name="heapprof", standalone_mode=False)
        return int(outcome) if isinstance(outcome, int) else int(ExitCode.OK)
    except click.exceptions.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail(words, ExitCode.INTERRUPTED, "interrupted", "interrupted", ())
    except click.ClickException as error:
        return _usage(words, error)
    except HeapprofError as error:
        return _fail(words, error.exit_code, error.stage, error.message, error.hints)
    except BrokenPipeError:
        # The reader of our output went away; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OK)
    except Exception as error:
        return _internal(words, error)


def _usage(words: list[str], error: click.ClickException) -> int:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "heapprof"
    return _fail(words, ExitCode.USAGE, "settings", error.format_message(), (f"`{path} --help` lists the options",))


def _internal(words: list[str], error: Exception) -> int:
    handle, path = tempfile.mkstemp(prefix="heapprof-debug-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as log:
        log.write(f"heapprof {__version__}, Python {sys.version}\narguments: {words!r}\n\n")
        traceback.print_exception(error, file=log)
    message = f"a bug in heapprof: {type(error).__name__}; the debug log lies at {path}"
    return _fail(words, ExitCode.INTERNAL, "internal", message, ("please report it with that log",))


def _fail(words: list[str], code: ExitCode, stage: str, message: str, hints: Sequence[str]) -> int:
    """Tell a failure that happened outside a measurement: words on stderr, an object on stdout for JSON."""
    from heapprof_cli.cli.output import print_failure
    from heapprof_cli.records import Failure

    failure = Failure(code.name.lower(), stage, message, tuple(hints))
    if _wants_json(words):
        from heapprof_cli.render.json_result import SCHEMA_VERSION, failure_fields

        fields = {
            "schema_version": SCHEMA_VERSION,
            "verdict": "error",
            "exit_code": int(code),
            "error": failure_fields(failure),
        }
        click.echo(json.dumps(fields, indent=2, ensure_ascii=False))
    print_failure(failure)
    return int(code)


def _wants_json(words: list[str]) -> bool:
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(word == "--format=json" or (word == "--format" and after == "json") for word, after in pairs)
