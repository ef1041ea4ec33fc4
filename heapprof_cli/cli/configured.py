"""Commands whose options also come from the environment and a settings file: flag > environment > file > default.

Everything follows from the command's own options: a new option gets its variable and its key by being there.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from heapprof_cli import environment
from heapprof_cli.cli.invocation import Invocation
from heapprof_cli.cli.option_names import variable, variables
from heapprof_cli.config_file import Place, SettingsFile, find, read
from heapprof_cli.errors import UsageError

_META = "heapprof_cli.cli.configured"
# Where the adb server is comes from adb's own variables, too; they count more than a file, as all variables do.
ADB_VARIABLES = {
    "host": ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_ADB_SERVER_HOST"),
    "adb_port": ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT"),
}
_LIBRARY_OPTIONS = ("qnn_libs", "build_folder", "qnn_sdk")  # the strongest first, see artifacts/places.py


@dataclass
class Loaded:
    """The settings file of a command line, if any, and where each option's value stands in it."""

    file: SettingsFile | None = None
    places: dict[str, Place] = field(default_factory=dict)
    hidden: dict[str, object] = field(default_factory=dict)  # values that the command's function does not take


class ConfiguredCommand(click.Command):
    """A command with ``-c/--config``, a variable HEAPPROF_<OPTION> for every option, and settings from a file.

    ``tells_results``: it takes every format of a result, so HEAPPROF_FORMAT and a shared ``format`` are meant for it.
    """

    def __init__(self, *arguments: Any, tells_results: bool = False, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.tells_results = tells_results
        for parameter in self.params:
            if isinstance(parameter, click.Option) and (tells_results or parameter.name != "form"):
                parameter.envvar = variables(parameter)
        self._hidden = [parameter for parameter in self.params if not parameter.expose_value]
        for parameter in self._hidden:
            parameter.expose_value = True
        # First of all eager options, so that the others find what the file says.
        self.params.insert(0, _config_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            origin = _origin_in_words(ctx, error.param) if error.param is not None else None
            if origin is None or error.param is None:
                raise
            raise UsageError(f"{origin}: {_option(error.param)}: {error.message}", hints=_hints(ctx, error)) from error
        for parameter in self._hidden:
            name = parameter.name or ""
            ctx.meta[_META].hidden[name] = ctx.params.pop(name, None)
        _leave_to_variables(ctx)
        _let_flags_win(ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        with explaining(ctx):
            return super().invoke(ctx)


@contextlib.contextmanager
def explaining(context: click.Context) -> Iterator[None]:
    """A UsageError about an option that a variable or a file gave says so, with the place."""
    try:
        yield
    except UsageError as error:
        origin = None if error.stage != UsageError.default_stage else _blamed(context, error.message)
        if origin is None:
            raise
        raise UsageError(f"{origin}: {error.message}", hints=error.hints) from error


def _config_option() -> click.Option:
    return click.Option(
        ["-c", "--config"],
        type=click.Path(path_type=Path),
        envvar="HEAPPROF_CONFIG",
        is_eager=True,
        expose_value=False,
        callback=_load,
        metavar="FILE",
        help="Settings file (default: the nearest heapprof.yaml, or [tool.heapprof] of pyproject.toml).",
    )


def _load(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    """Read the settings file, if there is one, into click's map of defaults."""
    command = context.command
    loaded = Loaded()
    context.meta[_META] = loaded
    invocation = context.find_object(Invocation)
    if invocation is not None and isinstance(command, ConfiguredCommand) and command.tells_results:
        invocation.form = environment.snapshot().get("HEAPPROF_FORMAT") or None
    if context.resilient_parsing:  # the shell completes a word
        return
    loaded.file = find() if value is None else read(value)
    if loaded.file is None:
        return
    from heapprof_cli.cli.applying import applied

    values, loaded.places = applied(loaded.file, context)
    context.default_map = {**(context.default_map or {}), **values}
    if invocation is not None and invocation.form is None and isinstance(values.get("form"), str):
        invocation.form = values["form"]


def _leave_to_variables(context: click.Context) -> None:
    """Where adb's variables say where its server is, a settings file does not."""
    known = environment.snapshot()
    for name, names in ADB_VARIABLES.items():
        in_file = context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
        if in_file and any(known.get(each) for each in names):
            _forget(context, name)


def _let_flags_win(context: click.Context) -> None:
    """A flag that names libraries is not set aside by a stronger option that only a variable or file gives."""
    for number, name in enumerate(_LIBRARY_OPTIONS):
        weaker = _LIBRARY_OPTIONS[number + 1 :]
        by_flag = any(context.get_parameter_source(each) is ParameterSource.COMMANDLINE for each in weaker)
        if by_flag and context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            _forget(context, name)


def _forget(context: click.Context, name: str) -> None:
    if name in context.params:
        context.params[name] = None
        context.set_parameter_source(name, ParameterSource.DEFAULT)


def forget(name: str) -> None:
    """Take the option's value as if nobody had given one."""
    _forget(click.get_current_context(), name)


def given_by(name: str) -> ParameterSource | None:
    """Who gave the option's value in the command that runs."""
    return click.get_current_context().get_parameter_source(name)


def origins_now() -> dict[str, str]:
    """Where every setting of the command that runs came from; nothing outside of a command.

    ``flag``, ``environment NAME``, ``FILE:LINE`` (the file's name without folders) or ``default``.
    """
    context = click.get_current_context(silent=True)
    return origins(context) if context is not None and _META in context.meta else {}


def origins(context: click.Context) -> dict[str, str]:
    """:func:`origins_now` of the command that ``context`` belongs to."""
    return {
        option: _origin(context, parameter)
        for parameter in context.command.params
        if isinstance(parameter, click.Option) and (option := setting_name(parameter)) not in ("config", "help")
    }


def setting_name(parameter: click.Option) -> str:
    """The option's name as results and ``config show`` have it: ``perf_mode``."""
    return variable(parameter).removeprefix("HEAPPROF_").lower()


def value_of(context: click.Context, option: click.Option) -> object:
    """The value of an option; of one that has no parameter in the command's function, too."""
    name = option.name or ""
    return context.params[name] if name in context.params else context.meta[_META].hidden.get(name)


def loaded_file(context: click.Context) -> SettingsFile | None:
    """The settings file that the command of ``context`` took."""
    loaded = context.meta.get(_META)
    return loaded.file if isinstance(loaded, Loaded) else None


def _origin(context: click.Context, parameter: click.Option) -> str:
    name = parameter.name or ""
    source = context.get_parameter_source(name)
    if source is ParameterSource.COMMANDLINE:
        return "flag"
    if source is ParameterSource.ENVIRONMENT:
        return f"environment {_variable_set(parameter)}"
    if source is ParameterSource.DEFAULT_MAP:
        place = context.meta[_META].places[name]
        return f"{Path(place.file).name}:{place.line}"
    known = environment.snapshot()
    # A server named by a flag in part is no longer the one that ADB_SERVER_SOCKET names.
    partly = any(context.params.get(each) is not None for each in ADB_VARIABLES)
    names = [each for each in ADB_VARIABLES.get(name, ()) if not (partly and each == "ADB_SERVER_SOCKET")]
    found = next((each for each in names if known.get(each)), None)
    return f"environment {found}" if found else "default"


def _variable_set(parameter: click.Parameter) -> str:
    known = environment.snapshot()
    names = [parameter.envvar] if isinstance(parameter.envvar, str) else list(parameter.envvar or ())
    return next((name for name in names if known.get(name)), "")


def _option(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=lambda name: name.startswith("--"))


def _origin_in_words(context: click.Context, parameter: click.Parameter) -> str | None:
    """The place in the file or the variable that gave the option's value; None for a flag."""
    source = context.get_parameter_source(parameter.name or "")
    if source is ParameterSource.DEFAULT_MAP:
        return str(context.meta[_META].places[parameter.name])
    return _variable_set(parameter) if source is ParameterSource.ENVIRONMENT else None


def _blamed(context: click.Context, message: str) -> str | None:
    """Where the first option that ``message`` names was set, if not by a flag."""
    by_name = {name: each for each in context.command.params for name in each.opts}
    named = [by_name[word] for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", message) if word in by_name]
    return next(filter(None, (_origin_in_words(context, parameter) for parameter in named)), None)


def _hints(context: click.Context, error: click.BadParameter) -> tuple[str, ...]:
    return (f"`{context.command_path} --help` lists the options; a flag counts more than a variable or a file",)
