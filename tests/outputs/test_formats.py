"""Every format of every kind of result: valid by its schema, whole, and safe with hostile text in it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema

from heapprof_cli.cli import output
from heapprof_cli.cli.output import FORMATS
from heapprof_cli.records import Result
from tests.conftest import Ended, OnPhone
from tests.outputs.results import ALL, OK, STRANGE

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text("utf-8"))
JUNIT = xmlschema.XMLSchema(str(ROOT / "tests" / "schemas" / "junit.xsd"))
# https://docs.github.com/actions/reference/workflow-commands-for-github-actions
ANNOTATION = re.compile(r"::(notice|warning|error) title=[^:,\r\n]*::[^\r\n]*\Z")


def render(result: Result, form: str, *, show_serial: bool = False) -> str:
    return output.render(result, form, show_serial=show_serial)


def closed(schema: Any) -> Any:
    """The schema without its leave for further fields: what we print must all be documented."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return {**found, "additionalProperties": False} if "properties" in schema and "required" in schema else found


def validate(text: str) -> None:
    jsonschema.Draft202012Validator(closed(SCHEMA)).validate(json.loads(text))


each_result = pytest.mark.parametrize("result", ALL.values(), ids=ALL)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        validate(json.dumps({**json.loads(render(OK, "json")), "before_bytes": -1}))
    with pytest.raises(jsonschema.ValidationError):
        validate(json.dumps({**json.loads(render(OK, "json")), "undocumented": 1}))


@each_result
def test_json_keeps_to_the_published_schema(result: Result) -> None:
    validate(render(result, "json"))
    validate(render(result, "json", show_serial=True))


@each_result
def test_junit_keeps_to_its_schema(result: Result) -> None:
    text = render(result, "junit")
    JUNIT.validate(text)
    case = ET.fromstring(text).find("testsuite/testcase")
    assert case is not None
    kind = "failure" if result.exit_code == 1 else "error"
    assert (case.find(kind) is not None) is (result.failure is not None)


@each_result
def test_github_lines_are_annotations(result: Result) -> None:
    lines = render(result, "github").splitlines()
    assert lines
    for line in lines:
        assert ANNOTATION.match(line), line
    assert lines[0].startswith("::error" if result.failure else "::notice")


@each_result
def test_csv_has_a_row_a_sample(result: Result) -> None:
    rows = list(csv.DictReader(io.StringIO(render(result, "csv"))))
    assert len(rows) == max(1, len(result.samples))
    assert [row["after_bytes"] for row in rows] == [str(s.reading.after_bytes) for s in result.samples] or [""]
    assert all(None not in row and row["verdict"] == result.verdict.value for row in rows)


def test_csv_cells_are_no_formulas() -> None:
    row = next(csv.DictReader(io.StringIO(render(replace(STRANGE, models=STRANGE.models[1:]), "csv"))))
    assert (row["model"], row["device_model"]) == ("'=HYPERLINK(1)", "'=1+1")


def test_markdown_shows_the_numbers_and_says_simulated() -> None:
    text = render(OK, "markdown")
    assert "| `before_context_created` | 10 | 10 B |" in text
    assert "| **difference** | 8 | 8 B |" in text
    assert "| 1 | 2 | 14 | 18 | 4 |" in text
    assert "simulated heap numbers" in text


@pytest.mark.parametrize("form", ["table", "markdown", "junit", "github"])
def test_what_the_cycles_say_is_told(form: str) -> None:
    text = render(OK, form)
    assert "grows by exactly 4 bytes" in text
    assert form == "github" or "the difference is 8 bytes in each of 2 runs" in text


def test_markdown_keeps_hostile_text_text() -> None:
    text = render(STRANGE, "markdown")
    assert "<script" not in text and "](y)" not in text
    assert not re.search(r"(?<!\\)@everyone", text)
    assert all(line.count("|") - line.count("\\|") in (0, 3) for line in text.splitlines())


@pytest.mark.parametrize("form", FORMATS)
@each_result
def test_no_format_lets_control_characters_through(form: str, result: Result) -> None:
    text = render(result, form)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)


def test_all_formats_of_one_run(on_phone: OnPhone, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    page.write_text("before\n")
    files = ["r.json", "r.csv", "r.md", "r.xml", "github:r.log", "table:r.txt"]
    outputs = [word for name in files for word in ("-o", name)]
    done = on_phone.run("--cycles", "2", *outputs, model, cwd=tmp_path, GITHUB_STEP_SUMMARY=str(page))
    assert done.code == 0, done.stderr
    validate((tmp_path / "r.json").read_text())
    JUNIT.validate((tmp_path / "r.xml").read_text())
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 3
    assert (tmp_path / "r.log").read_text().startswith("::notice ")
    assert "928212" in (tmp_path / "r.txt").read_text() and "928212" in done.stdout
    assert page.read_text() == "before\n" + (tmp_path / "r.md").read_text() + "\n"


def test_a_failure_is_told_in_every_format(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    done = heapprof("demo", "--standin", "after=1", "--format", "junit", "-o", "r.csv", cwd=tmp_path)
    assert done.code == 3
    JUNIT.validate(done.stdout)
    assert "<error type=" in done.stdout
    assert "implausible" in (tmp_path / "r.csv").read_text()
