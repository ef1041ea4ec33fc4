"""A settings file from end to end: on the virtual phone, and what it costs where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.conftest import Ended, OnPhone, clean_environment

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/result.schema.json").read_text("utf-8"))


def test_a_run_by_settings_alone(
    on_phone: OnPhone, heapprof: Callable[..., Ended], tmp_path: Path, model: Path
) -> None:
    phone = on_phone.phone
    (tmp_path / ".git").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "heapprof.yaml").write_text(
        f"serial: {phone.serial}\n"
        f"adb-port: {phone.adb_port}\n"
        f"workspace: {phone.workspace}\n"
        "format: json\n"
        "run:\n"
        "  perf_mode: burst\n"
        "  iterations: 3\n"
        "  cycles: 2\n"
        "  output: heap.md\n"
    )
    done = heapprof("run", "-n", "2", model, cwd=tmp_path / "work", HEAPPROF_CYCLES="3")
    assert done.code == 0, done.stderr
    result = done.json
    jsonschema.validate(result, SCHEMA)
    assert (result["settings"]["perf_mode"], result["settings"]["iterations"]) == ("burst", 2)
    assert len(result["samples"]) == 3
    assert "928212" in (tmp_path / "heap.md").read_text()
    origins = result["settings_origins"]
    assert {name: origins[name] for name in ("serial", "perf_mode", "iterations", "cycles", "runs", "format")} == {
        "serial": "heapprof.yaml:1",
        "perf_mode": "heapprof.yaml:6",
        "iterations": "flag",
        "cycles": "environment HEAPPROF_CYCLES",
        "runs": "default",
        "format": "heapprof.yaml:4",
    }
    assert str(tmp_path) not in json.dumps(origins)
    for command in ("devices", "doctor", "clean"):
        assert heapprof(command, cwd=tmp_path / "work").json, command


def test_the_demo_takes_settings_but_no_phones_libraries(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "heapprof.yaml").write_text("qnn-libs: libs\nserial: SOME-PHONE\nformat: json\ndemo: {iterations: 2}\n")
    done = heapprof("demo", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert done.json["settings"]["iterations"] == 2
    assert done.json["settings_origins"]["iterations"] == "heapprof.yaml:4"
    assert done.json["settings_origins"]["qnn_libs"] == "default"


@pytest.mark.parametrize(
    ("text", "variables"), [("format: json\n", {}), ("", {"HEAPPROF_FORMAT": "json"})], ids=["file", "variable"]
)
def test_a_failure_is_json_too(
    text: str, variables: dict[str, str], heapprof: Callable[..., Ended], tmp_path: Path
) -> None:
    (tmp_path / "heapprof.yaml").write_text(text + "runs: many\n")
    done = heapprof("run", "x.bin", cwd=tmp_path, **variables)
    assert done.code == 2
    assert done.json["exit_code"] == 2
    assert f"heapprof.yaml:{text.count(chr(10)) + 1}:7: --runs" in done.json["error"]["message"]
    assert heapprof("run", "x.bin", "--format", "table", cwd=tmp_path, **variables).stdout == ""


def test_config_show(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "heapprof.yaml").write_text("soc: SM8850\nskip: [fit, soc]\n")
    show = ("config", "show", "--perf_mode", "burst")
    table = heapprof(*show, cwd=tmp_path, HEAPPROF_RUNS="4")
    assert table.code == 0, table.stderr
    assert "SM8850" in table.stdout and "heapprof.yaml:1" not in table.stdout
    rows = [line.split() for line in heapprof(*show, "--origin", cwd=tmp_path, HEAPPROF_RUNS="4").stdout.splitlines()]
    assert ["soc", "SM8850", "heapprof.yaml:1"] in rows
    assert ["skip", "fit,", "soc", "heapprof.yaml:2"] in rows
    assert ["runs", "4", "environment", "HEAPPROF_RUNS"] in rows
    assert ["perf_mode", "burst", "flag"] in rows
    assert ["keep", "false", "default"] in rows
    shown = heapprof(*show, "--format", "json", "-c", "heapprof.yaml", cwd=tmp_path).json
    assert shown["file"] == str(tmp_path / "heapprof.yaml")
    assert shown["settings"]["skip"] == {"value": ["fit", "soc"], "origin": "heapprof.yaml:2"}
    assert shown["settings"]["runs"] == {"value": 1, "origin": "default"}


def test_config_show_tells_mistakes(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "heapprof.yaml").write_text("soc: SM885\n")
    done = heapprof("config", "show", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "heapprof.yaml:1:6: unknown SoC 'SM885'" in done.stderr
    assert heapprof("config", "show", "--bogus", cwd=tmp_path).code == 2
    assert heapprof("config", "show", "-c", "absent.yaml", cwd=tmp_path).code == 2


def test_without_a_file_nothing_is_imported_for_it(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom heapprof_cli.cli.main import run\ncode = run(['run', '--dry-run', 'absent.bin'])\n"
        "late = ('yaml_file', 'toml_file', 'toml_places', 'applying', 'tomllib')\n"
        "print([name for name in sys.modules if name.endswith(late)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "[]"
