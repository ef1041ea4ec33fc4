"""What is wrong in a settings file is told with its file, line and column, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from heapprof_cli.config_file.nodes import LARGEST_FILE
from heapprof_cli.errors import ExitCode, UsageError
from tests.settings.parsing import parse


def error(*words: str, command: str = "run") -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse(*words, command=command)
    assert caught.value.exit_code is ExitCode.USAGE
    assert len(caught.value.message) < 600
    return caught.value


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("soc: SM8850\nruns: many\n", "2:7", ["--runs", "'many'"]),
        ("soc: SM8850\nruns: 0\n", "2:7", ["--runs", "range"]),
        ("runs: 1.5", "1:7", ["--runs", "1.5"]),
        ("runs: true", "1:7", ["--runs", "true"]),
        ("iterations:\n  - 1\n  - 2\n", "2:3", ["iterations", "one value"]),
        ("iterations: {a: 1}", "1:13", ["iterations", "one value"]),
        ("iterations:\n", "1:12", ["iterations", "no value"]),
        ("strict: 3", "1:9", ["strict", "true or false"]),
        ("format: excel", "1:9", ["--format", "excel"]),
        # What only the settings' own checks know.
        ("# two\n# lines\nsoc: SM885\n", "3:6", ["--soc", "SM885"]),
        ("run:\n  perf-mode: bursty\n", "2:14", ["--perf-mode", "bursty"]),
        ("cache_limit: lots", "1:14", ["--cache-limit", "lots"]),
        ("workspace: here", "1:12", ["--workspace", "here"]),
        ("skip: [fit, socs]", "1:7", ["--skip", "socs"]),
        ("cycles: 3\nwarm-up-cycles: 3", "2:17", ["--warm-up-cycles"]),
        ("qnn-libs: absent", "1:11", ["--qnn-libs", "absent"]),
        # Keys.
        ("soc: SM8850\n  \niteratoins: 3\n", "3:1", ["unknown key 'iteratoins'"]),
        ("run:\n  standin: a=b\n", "2:3", ["unknown key 'standin'"]),
        ("clean:\n  runs: 2\n", "2:3", ["unknown key 'runs'"]),
        ("runs: 1\ncycles: 2\nruns: 3\n", "3:1", ["'runs'", "line 1"]),
        ("perf-mode: 1\nperf_mode: 2\n", "2:1", ["'perf_mode'", "line 1"]),
        ("soc: SM8850\nsoc-model: SM8850\n", "2:1", ["'soc-model'", "line 1"]),
        ("run: 3", "1:6", ["'run'"]),
        ("? [a]\n: b", "1:3", ["key"]),
        # The form.
        ("- soc: SM8850", "1:1", ["mapping"]),
        ("just words", "1:1", ["mapping"]),
        ("soc: a: b", "1:7", ["YAML"]),
        ("soc: [a\n", "2:1", ["YAML"]),
        ("soc: &a SM8850", "1:6", ["anchors"]),
        ("runs: 1\nsoc: *a", "2:6", ["anchors"]),
        ("soc: !!python/object/apply:os.system [ls]", "1:6", ["tags"]),
        ("runs: 1\n---\nruns: 2\n", "2:1", ["second"]),
        ('alias: "a\\0b"', "1:8", ["control characters"]),
        ("alias: |\n  a\n  b\n", "1:8", ["control characters"]),
        ("runs: 1\nalias: a\x07b", "2:9", ["character"]),
        ("run: {run: {run: {run: {run: {run: {run: {run: {a: 1}}}}}}}}", "1:43", ["nested"]),
    ],
)
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_yaml(
    text: str, place: str, words: list[str], loader: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loader == "SafeLoader":  # PyYAML without libyaml
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    (folder / "heapprof.yaml").write_text(text)
    message = error().message
    assert message.startswith(f"heapprof.yaml:{place}: ")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("[project]\nname = 'x'\n[tool.heapprof]\nruns = 'many'\n", "4:8", ["--runs", "many"]),
        ("[tool.heapprof]\nruns = true", "2:8", ["--runs", "true"]),
        ("[tool.heapprof.run]\n\nrunns = 3", "3:1", ["unknown key 'runns'"]),
        ("[tool]\nheapprof.run.soc = 'SM885'", "2:20", ["--soc"]),
        ("[tool.heapprof]\nrun = { runs = 3, cycles = 'x' }", "2:28", ["--cycles"]),
        ("[tool.heapprof]\nskip = [\n 'fit',\n # ]\n 'nope']\nruns = 2", "2:8", ["--skip", "nope"]),
        ("[tool.heapprof]\nalias = '''a'''\nsoc = 2026-01-01 10:00:00\nruns = 0", "4:8", ["--runs"]),
        ("[tool.heapprof]\nruns = 1\nruns = 2", "3:9", ["TOML"]),
        ("[tool.heapprof]\nperf-mode = 1\nperf_mode = 2", "3:1", ["already set in line 2"]),
        ("[tool.heapprof]\nruns = ", "2:8", ["TOML"]),
        ("[tool]\nheapprof = 3", "2:1", ["no table"]),
        ("[[tool.heapprof]]\nruns = 2", "1:1", ["no table"]),
    ],
)
def test_toml(text: str, place: str, words: list[str], folder: Path) -> None:
    (folder / "pyproject.toml").write_text(text)
    message = error().message
    assert message.startswith(f"pyproject.toml:{place}: ")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("key", "suggestion"),
    [
        ("iteratoins", "iterations"),
        ("perf_mod", "perf-mode"),
        ("Runs", "runs"),
        ("SOC", "soc"),
        ("demos", "demo"),
        ("config", "command line only"),
        ("zzzzzz", "heapprof config show"),
    ],
)
def test_an_unknown_key_gets_a_suggestion(key: str, suggestion: str, folder: Path) -> None:
    (folder / "heapprof.yaml").write_text(f"{key}: 1\n")
    assert suggestion in error().hints[0]


def test_a_variable_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEAPPROF_RUNS", "0")
    assert error().message.startswith("HEAPPROF_RUNS: --runs: ")
    monkeypatch.setenv("HEAPPROF_RUNS", "1")
    monkeypatch.setenv("HEAPPROF_SOC", "SM885")
    assert error().message.startswith("HEAPPROF_SOC: unknown SoC")
    assert error("--soc", "SM88").message.startswith("unknown SoC"), "a flag's own mistake"


@pytest.mark.parametrize(
    ("content", "place", "word"),
    [
        (b"soc: SM8850\nalias: \xff\xfe\n", "2:8", "0xff is not UTF-8"),
        (b"\xef\xbb\xbfalias: \xe4\n", "1:8", "0xe4 is not UTF-8"),
        ("soc: SM8850".encode("utf-16"), "1:1", "0xff is not UTF-8"),
        (b"[" * 200_000, "1:", "nest"),
        (b"? " * 100_000, "1:", "nest"),
        (b"a: " + b"{a: " * 50_000, "1:", "nest"),
        (b"".join(b"key%d: 1\n" % n for n in range(70_000)), "1:1", "unknown key"),
        (b"&a " * 1000, "1:", ""),
        (b"%YAML 9.9\n---\nruns: 1", "1:", "YAML"),
        (b"\0" * 1000, "1:1", "character"),
        (b'alias: "\\ud800"', "1:", "character"),
    ],
    ids=["latin", "bom", "utf-16", "lists", "keys", "maps", "many", "anchors", "version", "zeros", "surrogate"],
)
def test_hostile_yaml(content: bytes, place: str, word: str, folder: Path) -> None:
    (folder / "heapprof.yaml").write_bytes(content)
    message = error().message
    assert message.startswith(f"heapprof.yaml:{place}")
    assert word in message


@pytest.mark.parametrize(
    "content",
    [
        b"a = " + b"[" * 100_000,
        b"a = " + b"{a=" * 100_000,
        b"[tool.heapprof]\nruns = " + b"9" * 10_000,
        b"[tool.heapprof]\nalias = '\xff'",
        b'[tool.heapprof]\nalias = "\\u0000"',
        b"[tool.heapprof]\n" + b"a = [" * 90 + b"]" * 90,
    ],
    ids=["lists", "tables", "digits", "latin", "zero", "deep"],
)
def test_hostile_toml(content: bytes, folder: Path) -> None:
    (folder / "pyproject.toml").write_bytes(content + b"\n# heapprof\n")
    assert error().message.startswith("pyproject.toml:")


def test_a_file_is_at_most_a_mebibyte(folder: Path) -> None:
    line = "runs: 2\n"
    (folder / "heapprof.yaml").write_text(line + "#" * (LARGEST_FILE - len(line)))
    assert parse().settings.runs == 2
    (folder / "heapprof.yaml").write_text(line + "#" * (LARGEST_FILE - len(line) + 1))
    assert "larger than" in error().message


def test_words_of_a_file_are_shown_without_control_characters(folder: Path) -> None:
    (folder / "heapprof.yaml").write_text('"\\e[31mred": 1\n')
    assert "\x1b" not in error().message
