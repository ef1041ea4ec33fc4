"""docs/preflight.md names every check with the severities that the code gives it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import heapprof_cli
from heapprof_cli.settings import CHECK_NAMES

_TEXT = (Path(__file__).parents[2] / "docs" / "preflight.md").read_text("utf-8")
_ROWS = {name: set(cell.split(", ")) for name, cell in re.findall(r"^\| `([a-z-]+)` \| ([a-z, ]+) \|", _TEXT, re.M)}


def _severities_in_code() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in Path(heapprof_cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            called = getattr(node.func, "id", None)
            if called == "_failed":
                found.setdefault(node.args[0].value, set()).add("error")
            elif called == "Finding":
                told = {each.attr.lower() for each in ast.walk(node.args[1]) if isinstance(each, ast.Attribute)}
                found.setdefault(node.args[0].value, set()).update(told & {"ok", "warning", "error"})
    return found


def test_every_check_is_told_once() -> None:
    assert len(re.findall(r"^\| `", _TEXT, re.M)) == len(_ROWS)
    assert set(_ROWS) == set(CHECK_NAMES)


def test_severities_are_those_of_the_code() -> None:
    assert _severities_in_code() == _ROWS
