"""What docs/diagnosis.md says of rules is what the catalogue takes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from heapprof_cli.diagnosis import STAGES, catalogue, explain, validating

TEXT = (Path(__file__).parents[2] / "docs" / "diagnosis.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The file of rules that stands in the text."""
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block
    path = tmp_path / "rules.yaml"
    path.write_text(block[1], encoding="utf-8")
    return path


def test_the_example_is_a_rule_that_finds_its_line(example: Path) -> None:
    (rule,) = catalogue.read(example, "user").values()
    catalogue.use(example)
    try:
        (finding,) = explain(rule.examples[0]).findings
    finally:
        catalogue.use(None)
    assert (finding.id, finding.stage, finding.certainty.value) == ("our-server-busy", "execution", "certain")


def test_every_key_is_told() -> None:
    told = {key for cell in re.findall(r"^\| (`.*?`) \|", TEXT, re.MULTILINE) for key in re.findall(r"`(\w+)`", cell)}
    assert set(validating._RULE) <= told


def test_every_stage_is_told() -> None:
    section = TEXT[TEXT.index("## Stages") :]
    assert tuple(re.findall(r"`(\w+)`", section)) == STAGES


def test_the_table_of_the_readme_is_what_the_catalogue_makes() -> None:
    script = Path(__file__).parents[2] / "scripts" / "troubleshooting_table.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0, f"run {script.name}"


def test_it_has_every_rule_that_names_a_cause() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for rule in catalogue.catalogue().rules.values():
        if rule.role in ("cause", "effect"):
            assert rule.causes[0].cause.replace("|", "\\|").replace("<", "&lt;") in readme, rule.id
