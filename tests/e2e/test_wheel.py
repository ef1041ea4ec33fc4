"""The wheel carries all that an installation needs: runners, stand-in, tables, the demo's model."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import clean_environment

ROOT = Path(__file__).parent.parent.parent
TARGETS = ("android-arm64", "linux-arm64", "linux-x86_64")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True, timeout=110)
    (found,) = folder.glob("heapprof_cli-*.whl")
    return found


def test_what_is_in_it(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for target in TARGETS:
        folder = f"heapprof_cli/_data/device/{target}"
        assert f"{folder}/heapprof_runner" in names
        assert {f"{folder}/standin/libQnnHtp.so", f"{folder}/standin/libQnnSystem.so"} <= names
    assert "heapprof_cli/_data/configs/socs.yaml" in names
    assert "heapprof_cli/_data/demo/conv_sm8850_v81_qnn2.51.bin" in names
    assert not [name for name in names if name.endswith((".c", ".h", ".lock", ".inputs", ".pyc"))]


def test_it_works_without_the_sources(wheel: Path, tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "-q", "--target", tmp_path / "site", wheel]
    subprocess.run(install, check=True, capture_output=True, timeout=110)
    done = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", "-m", "heapprof_cli", "demo", "-q"],
        env={**clean_environment(tmp_path), "PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("928212") == 2
    where = subprocess.run(
        [sys.executable, "-m", "heapprof_cli", "runner", "path", "android-arm64"],
        env={**clean_environment(tmp_path), "PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert where.startswith(str(tmp_path / "site"))
