"""Every option of `run`, those that are added later too: flag, variable and file reach it, in that order."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from heapprof_cli.cli.option_names import variable
from tests.settings.parsing import long_name, parse, run_options

# Three values, none of them the default, of options that take a text with a meaning; others follow from their type.
TEXTS = {
    "--soc": ("SM8650", "SM8750", "SM8550"),
    "--perf-mode": ("burst", "3", "high_performance"),
    "--workspace": ("/data/local/tmp/a", "/data/local/tmp/b", "/data/local/tmp/c"),
    "--skip": ("soc", "fit", "phone"),
    "--output": ("json:a", "csv:b", "table:c"),
    "--host": ("a.example", "b.example", "c.example"),
}
OTHER_TEXTS = ("1", "2", "3")
# What an option needs beside it.
BESIDE = {
    "--warm-up-cycles": ["--cycles", "99"],
    "--max-leak-per-cycle": ["--cycles", "99"],
    "--max-growth": ["--baseline", "b.json"],
    "--require-baseline": ["--baseline", "b.json"],
}

OPTIONS = pytest.mark.parametrize("option", run_options(), ids=long_name)


def samples(option: click.Option, folder: Path) -> tuple[str, str, str]:
    """Three values of the option, as they are written on a command line."""
    kind = option.type
    if option.is_flag:
        return "true", "true", "true"
    if isinstance(kind, click.Choice):
        others = [str(choice) for choice in kind.choices if choice != option.default]
        return others[0], others[-1], others[0]
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        values = [value for value in range(12) if kind.min is None or value >= kind.min]
        others = [str(value) for value in values if value != option.default and (kind.max is None or value <= kind.max)]
        return others[0], others[-1], others[min(1, len(others) - 1)]
    if isinstance(kind, click.Path):
        for name in "abc":
            if kind.file_okay and kind.dir_okay is False:
                (folder / name).write_text("socs: []\n")
            else:
                (folder / name).mkdir()
        return str(folder / "a"), str(folder / "b"), str(folder / "c")
    return TEXTS.get(long_name(option), OTHER_TEXTS)


def flag(option: click.Option, value: str) -> list[str]:
    if option.count:
        return [long_name(option)] * int(value)
    return [long_name(option)] if option.is_flag else [long_name(option), value]


def in_file(folder: Path, option: click.Option, value: str, *, kind: str) -> str:
    """Write the setting into a file, in its second line; the origin that is expected."""
    key = long_name(option).removeprefix("--")
    bare = option.is_flag or isinstance(option.type, (click.IntRange, click.FloatRange))
    if kind == "toml":
        text = value if bare else json.dumps(value)
        (folder / "pyproject.toml").write_text(f"[tool.heapprof]\n{key.replace('-', '_')} = {text}\n")
        return "pyproject.toml:2"
    (folder / "heapprof.yaml").write_text(f"# settings\n{key}: {value}\n")
    return "heapprof.yaml:2"


@OPTIONS
@pytest.mark.parametrize("kind", ["yaml", "toml"])
def test_a_file_says_what_a_flag_says(option: click.Option, kind: str, folder: Path) -> None:
    value, beside = samples(option, folder)[0], BESIDE.get(long_name(option), [])
    nothing, by_flag = parse(*beside), parse(*beside, *flag(option, value))
    origin = in_file(folder, option, value, kind=kind)
    by_file = parse(*beside)
    if long_name(option) == "--output":  # relative to the file
        expected = tuple(text.replace(":", f":{folder}/") for text in by_flag.values.pop("outputs"))
        assert by_file.values.pop("outputs") == expected
    assert by_file.same_as(by_flag)
    assert not by_flag.same_as(nothing)
    name = variable(option).removeprefix("HEAPPROF_").lower()
    assert (nothing.origins[name], by_flag.origins[name], by_file.origins[name]) == ("default", "flag", origin)


@OPTIONS
def test_a_variable_says_what_a_flag_says(option: click.Option, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value, beside = samples(option, folder)[0], BESIDE.get(long_name(option), [])
    by_flag = parse(*beside, *flag(option, value))
    monkeypatch.setenv(variable(option), value)
    by_variable = parse(*beside)
    assert by_variable.same_as(by_flag)
    name = variable(option).removeprefix("HEAPPROF_").lower()
    assert by_variable.origins[name] == f"environment {variable(option)}"


@OPTIONS
def test_flag_before_variable_before_file(option: click.Option, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values, beside = samples(option, folder), BESIDE.get(long_name(option), [])
    name = variable(option).removeprefix("HEAPPROF_").lower()
    alone = parse(*beside) if option.is_flag else parse(*beside, *flag(option, values[1]))
    by_flag = parse(*beside, *flag(option, values[2]))
    in_file(folder, option, values[0], kind="yaml")
    monkeypatch.setenv(variable(option), "false" if option.is_flag else values[1])
    both = parse(*beside)
    assert both.same_as(alone), "the variable wins over the file"
    assert both.origins[name] == f"environment {variable(option)}"
    all_three = parse(*beside, *flag(option, values[2]))
    assert all_three.same_as(by_flag), "the flag wins over both"
    assert all_three.origins[name] == "flag"


def test_every_option_has_its_own_variable() -> None:
    names = [variable(option) for option in run_options()]
    assert len(set(names)) == len(names)
    for option in run_options():
        assert variable(option) in (option.envvar or ())


@pytest.mark.parametrize(
    ("name", "setting"), [("ANDROID_SERIAL", "serial"), ("QNN_SDK_ROOT", "qnn_sdk"), ("HEAPPROF_SOCS", "socs_file")]
)
def test_the_older_variables_still_work(name: str, setting: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "x"
    if name == "HEAPPROF_SOCS":
        place.write_text("socs: []\n")
    else:
        place.mkdir()
    monkeypatch.setenv(name, str(place))
    parsed = parse()
    assert str(parsed.values[setting]) == str(place)
    assert parsed.origins[setting] == f"environment {name}"
