"""The sample project of the docs runs as it is: its workflow's steps and its pytest suite, on the virtual phone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import MODELS, clean_environment

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples"
WORKFLOW = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "dsp-heap.yml").read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder)
    (folder / "models").mkdir()
    shutil.copy(MODELS / "good" / "conv_sm8850_v81_qnn2.51.bin", folder / "models" / "detector.bin")
    return folder


def test_the_simulated_job_passes(project: Path) -> None:
    page = project / "summary.md"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**clean_environment(project.parent), "PATH": path, "GITHUB_STEP_SUMMARY": str(page), "CI": "true"}
    steps = [step for step in WORKFLOW["jobs"]["simulated"]["steps"] if "run" in step and step["name"] != "Install"]
    assert [step["name"] for step in steps] == ["Measure", "Baseline", "Test"]
    said = ""
    for step in steps:
        # As GitHub's runner does it.
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=project, env=variables, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (step["name"], done.stdout, done.stderr)
        said += done.stdout
    assert said.count("::notice title=DSP heap%3A detector.bin [simulated heap numbers]") == 2
    assert "2 passed" in said
    assert page.read_text().count("### DSP heap: detector.bin") == 2
    assert {"heap.json", "heap.xml", "pytest.xml"} <= {path.name for path in project.iterdir()}


def test_the_jobs_use_only_what_there_is() -> None:
    from heapprof_cli.cli.run import command

    options = {name for parameter in command.params for name in parameter.opts}
    steps = WORKFLOW["jobs"]["phone"]["steps"]
    words = [word for step in steps if "heapprof run" in step.get("run", "") for word in step["run"].split()]
    flags = {word for word in words if word.startswith("--")}
    assert flags and flags <= options
