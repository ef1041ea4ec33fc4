#!/usr/bin/env python3
"""Write the README's trouble-shooting table out of the catalogue of diagnosis rules.

    python scripts/troubleshooting_table.py [--check]

--check writes nothing; exit code 1 when the README is not what the catalogue makes of it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from heapprof_cli.diagnosis import STAGES
from heapprof_cli.diagnosis.catalogue import catalogue
from heapprof_cli.diagnosis.rules import Rule

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- trouble-shooting: made by scripts/troubleshooting_table.py -->", "<!-- end of trouble-shooting -->"
_LONGEST = 90


def table() -> str:
    """A row for every rule that names a cause, in the order of stages; its first cause is its likeliest."""
    rows = ["| a log says | stage | cause | what to do |", "|---|---|---|---|"]
    rules = [rule for rule in catalogue().rules.values() if rule.causes and rule.role in ("cause", "effect")]
    for rule in sorted(rules, key=lambda rule: STAGES.index(rule.causes[0].stage)):
        cause = rule.causes[0]
        rows.append(f"| {_said(rule)} | {cause.stage} | {_cell(cause.cause)} | {_cell(cause.fix)} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    """The catalogue's own text, which may hold `code`."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _said(rule: Rule) -> str:
    """The line of its first example that the rule is about, as code."""
    if not rule.examples:
        return "(how the run ended)"
    lines = [line.strip() for line in rule.examples[0] if line.strip()]
    line = lines[0]
    shown = line if len(line) <= _LONGEST else line[:_LONGEST].rstrip() + "…"
    return "`" + shown.replace("`", "'").replace("|", "\\|") + "`"


def readme(text: str) -> str:
    """The README's text with the table as it has to be."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    old = README.read_text("utf-8")
    new = readme(old)
    if options.check:
        return int(new != old)
    README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
