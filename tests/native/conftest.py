"""Fixtures of the native tests: the built runner, the stand-in with a behaviour, the real library."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.native.runner_tools import GOOD, Libraries, Runner, build_module


@pytest.fixture(scope="session")
def built():
    """The linux-x86_64 build; the build script itself keeps parallel workers apart."""
    return build_module().build("linux-x86_64")


@pytest.fixture
def run(built, tmp_path: Path) -> Runner:
    """The runner, working in a folder of its own, with the stand-in's defaults."""
    return Runner(built.runner, tmp_path, Libraries.of_folder(built.standin))


@pytest.fixture
def standin(built, tmp_path: Path) -> Callable[..., Libraries]:
    """Makes a folder with the stand-in libraries and a standin.conf of the given keys."""

    def make(text: str = "", **keys: object) -> Libraries:
        folder = tmp_path / "stand in"
        folder.mkdir(exist_ok=True)
        for name in ("libQnnHtp.so", "libQnnSystem.so"):
            shutil.copy(built.standin / name, folder / name)
        lines = [f"{key} = {value}" for key, value in keys.items()]
        (folder / "standin.conf").write_text("\n".join([*lines, text]))
        return Libraries.of_folder(folder)

    return make


@pytest.fixture(scope="session")
def real() -> Libraries:
    """The real x86 libraries that the test dependency onnxruntime-qnn carries."""
    spec = importlib.util.find_spec("onnxruntime_qnn")
    assert spec is not None and spec.origin is not None, "the test extra installs onnxruntime-qnn"
    return Libraries.of_folder(Path(spec.origin).parent)


@pytest.fixture
def conv() -> Path:
    """A small convolution for SM8850."""
    return GOOD / "conv_sm8850_v81_qnn2.51.bin"
