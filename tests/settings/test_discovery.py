"""Which settings file counts, and what of it counts for which command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heapprof_cli import config_file
from heapprof_cli.errors import UsageError
from tests.settings.parsing import parse


def settle(folder: Path, runs: int, name: str = "heapprof.yaml") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"[tool.heapprof]\nruns = {runs}\n" if name.endswith(".toml") else f"runs: {runs}\n"
    (folder / name).write_text(text)


def go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)


def test_the_nearest_file_up_to_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(folder.parent, 9)  # outside of the repository
    go(folder / "a/b", monkeypatch)
    assert parse().settings.runs == 1
    settle(folder, 2)
    assert parse().settings.runs == 2
    settle(folder / "a", 3, "pyproject.toml")
    assert parse().settings.runs == 3
    assert parse().origins["runs"] == "pyproject.toml:2"
    settle(folder / "a", 4, "heapprof.yml")
    assert parse().settings.runs == 4
    settle(folder / "a", 5)
    assert parse().settings.runs == 5


def test_the_home_folder_is_the_last(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder.parent / "home"
    settle(folder.parent, 9)
    go(home / "work", monkeypatch)
    assert parse().settings.runs == 1
    settle(home, 2)
    assert parse().settings.runs == 2


def test_a_folder_open_to_everyone_is_not_trusted_from_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = folder.parent / "shared"
    settle(shared, 2)
    shared.chmod(0o1777)
    go(shared / "mine", monkeypatch)
    assert parse().settings.runs == 1
    go(shared, monkeypatch)
    assert parse().settings.runs == 2


def test_a_project_that_says_nothing_is_passed_by(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(folder, 2)
    go(folder / "a", monkeypatch)
    Path("pyproject.toml").write_text("[project]\ndependencies = ['heapprof-cli']\n")
    assert parse().settings.runs == 2
    Path("pyproject.toml").write_text("this is = no TOML = at all")
    assert parse().settings.runs == 2, "someone else's mistake"


def test_no_file_is_read_where_there_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr(os, "open", refuse)
    assert config_file.find() is None


def test_folders_and_pipes_of_that_name_are_no_files(folder: Path) -> None:
    (folder / "heapprof.yaml").mkdir()
    os.mkfifo(folder / "heapprof.yml")
    assert config_file.find() is None
    for name in ("heapprof.yaml", "heapprof.yml"):
        with pytest.raises(UsageError, match=name):
            config_file.read(Path(name))


def test_a_file_can_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(folder, 2)
    settle(folder / "a", 3, "lab.yaml")
    settle(folder / "a", 4, "other.toml")
    assert parse("-c", "a/lab.yaml").settings.runs == 3
    assert parse("--config", "a/lab.yaml").origins["runs"] == "lab.yaml:1"
    monkeypatch.setenv("HEAPPROF_CONFIG", "a/other.toml")
    assert parse().settings.runs == 4
    assert parse("-c", "a/lab.yaml").settings.runs == 3
    assert parse("-c", os.devnull).settings.runs == 1


@pytest.mark.parametrize(("name", "word"), [("absent.yaml", "absent.yaml"), ("x.toml", r"\[tool.heapprof\]")])
def test_a_named_file_must_be_there(name: str, word: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "x.toml").write_text("[tool.other]\n")
    with pytest.raises(UsageError, match=word):
        parse("-c", name)
    monkeypatch.setenv("HEAPPROF_CONFIG", name)
    with pytest.raises(UsageError, match=word):
        parse()


def test_a_section_is_for_its_command_and_counts_more(folder: Path) -> None:
    (folder / "heapprof.yaml").write_text("timeout: 2\nrun:\n  timeout: 3\ndoctor:\n  timeout: 4\nclean:\n")
    assert parse().settings.timeout == 3
    assert parse().origins["timeout"] == "heapprof.yaml:3"
    assert parse(command="doctor").settings.timeout == 4


def test_paths_are_relative_to_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder.parent / "home"
    for place in (folder / "libs", folder / "out", home / "sdk"):
        place.mkdir(parents=True)
    (folder / "heapprof.yaml").write_text(
        "qnn-libs: libs\nqnn-sdk: ~/sdk\nworkspace: /data/x\noutput: [json:out/a, out/b.csv, /c.json]\n"
    )
    go(folder / "a", monkeypatch)
    parsed = parse()
    assert parsed.settings.qnn_libs == folder / "libs"
    assert parsed.settings.qnn_sdk == home / "sdk"
    assert parsed.settings.workspace == "/data/x"
    assert parsed.values["outputs"] == (f"json:{folder}/out/a", f"{folder}/out/b.csv", "/c.json")


def test_a_shared_format_is_for_results(folder: Path) -> None:
    (folder / "heapprof.yaml").write_text("format: junit\n")
    assert parse().values["form"] == "junit"
    assert parse(command="doctor").values["form"] == "table"


def test_values_are_read_as_on_a_command_line(folder: Path) -> None:
    (folder / "heapprof.yaml").write_text("serial: 0123\nalias: yes\ntimeout: 1e2\nstrict: on\nruns: '2'\nskip: fit\n")
    settings = parse().settings
    assert (settings.serial, settings.alias, settings.timeout) == ("0123", "yes", 100.0)
    assert (settings.strict, settings.runs, settings.skip) == (True, 2, {"fit"})


@pytest.mark.parametrize(
    ("name", "value", "server"),
    [
        ("ADB_SERVER_SOCKET", "tcp:b:9", "b:9"),
        ("ANDROID_ADB_SERVER_ADDRESS", "b", "b:7"),
        ("ANDROID_ADB_SERVER_PORT", "9", "a:9"),
    ],
)
def test_adbs_own_variables_count_more_than_a_file(
    name: str, value: str, server: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "heapprof.yaml").write_text("host: a\nadb-port: 7\n")
    assert str(parse().settings.server) == "a:7"
    monkeypatch.setenv(name, value)
    assert str(parse().settings.server) == server
    assert f"environment {name}" in parse().origins.values()
    assert str(parse("-H", "c", "-P", "8").settings.server) == "c:8"


def test_a_flag_for_libraries_is_not_set_aside_by_a_file(folder: Path) -> None:
    (folder / "libs").mkdir()
    (folder / "heapprof.yaml").write_text("qnn-libs: libs\nqnn-sdk: libs\n")
    settings = parse("--qnn-sdk", ".").settings
    assert (settings.qnn_libs, settings.qnn_sdk) == (None, Path("."))
    assert parse("--qnn-libs", ".").settings.qnn_libs == Path(".")
