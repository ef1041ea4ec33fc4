"""A settings file made the defaults of one command: keys checked, values as click takes them, paths resolved."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import click

from heapprof_cli import environment
from heapprof_cli.cli.configured import ConfiguredCommand
from heapprof_cli.cli.option_names import keys, normal_key
from heapprof_cli.config_file import Entry, Items, Place, Scalar, SettingsFile, Table, Value
from heapprof_cli.config_file.nodes import wrong
from heapprof_cli.text import clean

Options = dict[str, click.Option]
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NOT_IN_FILES = ("config", "help")
_LISTED = "`heapprof config show` lists every setting"


def applied(file: SettingsFile, context: click.Context) -> tuple[dict[str, Any], dict[str, Place]]:
    """The values that ``file`` gives the options of the command of ``context``, and where each stands.

    Keys count for every command that has such an option; a section named after a command, for that one only and
    more. The whole file is checked, sections of other commands too. Raises UsageError with the place.
    """
    commands = _configured_commands(context)
    own = context.command
    known = {key: option for command in commands.values() for key, option in _options(command).items()}
    mine = _options(own)
    values: dict[str, Any] = {}
    places: dict[str, Place] = {}
    sections = [entry for entry in file.table.entries if entry.key in commands]
    shared = Table(tuple(entry for entry in file.table.entries if entry.key not in commands), file.table.place)
    for option, entry in _checked(shared, known, [*known, *commands]):
        keyed = mine.get(normal_key(entry.key))
        value = _value(keyed or option, entry, file)
        if keyed is not None and not _meant_for_others(own, keyed, value):
            values[keyed.name or ""], places[keyed.name or ""] = value, entry.value.place
    for section in sections:
        if not isinstance(section.value, Table):
            if isinstance(section.value, Scalar) and section.value.text is None:
                continue
            raise wrong(section.value.place, f"'{section.key}' is no mapping of options to values")
        options = _options(commands[section.key])
        for option, entry in _checked(section.value, options, list(options)):
            value = _value(option, entry, file)
            if section.key == own.name:
                values[option.name or ""], places[option.name or ""] = value, entry.value.place
    return values, places


def _configured_commands(context: click.Context) -> Mapping[str, click.Command]:
    group = context.find_root().command
    assert isinstance(group, click.Group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if isinstance(command, ConfiguredCommand)}


def _options(command: click.Command) -> Options:
    return {
        key: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.name not in _NOT_IN_FILES
        for key in keys(parameter)
    }


def _checked(table: Table, known: Options, suggested: list[str]) -> Iterator[tuple[click.Option, Entry]]:
    """Each entry with its option. Raises UsageError for a key that is none, and for one option set twice."""
    first: dict[str | None, Entry] = {}
    for entry in table.entries:
        option = known.get(normal_key(entry.key))
        if option is None:
            raise wrong(entry.place, f"unknown key '{clean(entry.key, 60)}'", _suggestion(entry.key, suggested))
        if option.name in first:
            before = first[option.name]
            raise wrong(
                entry.place,
                f"'{clean(entry.key, 60)}' is already set in line {before.place.line}, as '{clean(before.key, 60)}'",
                "leave one of them",
            )
        first[option.name] = entry
        yield option, entry


def _suggestion(key: str, known: list[str]) -> str:
    if normal_key(key) in _NOT_IN_FILES:
        return "that is for the command line only"
    near = difflib.get_close_matches(normal_key(key[:60]).lower(), known, n=2)
    return f"did you mean {' or '.join(near)}? {_LISTED}" if near else _LISTED


def _value(option: click.Option, entry: Entry, file: SettingsFile) -> Any:
    """What the entry says, as click takes a default: text, a switch, or a list of texts."""
    name = f"'{clean(entry.key, 60)}'"
    if option.multiple:
        values: tuple[Value, ...] = entry.value.values if isinstance(entry.value, Items) else (entry.value,)
        return [_resolved(option, _text(name, each), file) for each in values]
    text = _text(name, entry.value)
    if option.is_flag:
        if text.lower() not in _SWITCHES:
            raise wrong(entry.value.place, f"{name} is a switch: true or false, not '{clean(text, 60)}'")
        return _SWITCHES[text.lower()]
    return _resolved(option, text, file)


def _text(name: str, value: Value) -> str:
    if not isinstance(value, Scalar):
        kind = "a list" if isinstance(value, Items) else "a mapping"
        raise wrong(value.place, f"{name} takes one value, not {kind}")
    if value.text is None:
        raise wrong(value.place, f"{name} has no value", "give it one, or take the line out")
    return value.text


def _resolved(option: click.Option, text: str, file: SettingsFile) -> str:
    """Paths on this computer are relative to the file; ``~/`` is the home folder, which no shell expands here."""
    if isinstance(option.type, click.Path):
        return text if text == "-" and option.type.allow_dash else _from_folder(text, file)
    split = getattr(option.type, "split_path", None)  # an option's text may hold a path among other things
    if split is None:
        return text
    before, path = split(text)
    return f"{before}{_from_folder(path, file)}"


def _from_folder(path: str, file: SettingsFile) -> str:
    home = environment.snapshot().get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return os.path.join(file.folder, path) if path else path


def _meant_for_others(command: click.Command, option: click.Option, value: Any) -> bool:
    """A shared `format: junit` is for results; a list of phones is none."""
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    measures = isinstance(command, ConfiguredCommand) and command.tells_results
    return bool(choices) and not measures and value not in choices
