"""Building and checking the device programs out of a source checkout, for people who change them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from heapprof_cli import resources
from heapprof_cli.errors import PreflightError, UsageError
from heapprof_cli.text import clean

_HERE = "device_programs"


def build(target: str, output: Path | None, compiler: str | None) -> Path:
    """Build the runner and the stand-in for ``target``; the runner's file.

    ``compiler`` is a command that takes a C compiler's arguments (an NDK's clang); without it the pinned
    one is used. Raises UsageError with the compiler's words when the build fails.
    """
    module = _script("build.py")
    try:
        built = module.build(target, output, compiler)
    except module.BuildError as error:
        raise UsageError(f"building for {target} failed: {clean(str(error), 1500)}", stage="build") from error
    runner: Path = built.runner
    return runner


def problems(file: Path) -> list[str]:
    """What is structurally wrong with an Android build of the runner or the stand-in; empty when it is right."""
    found: list[str] = _script("verify.py").problems(file)
    return found


def _script(name: str) -> ModuleType:
    """A script of ``device_bin/`` as a module. Raises PreflightError where there are no sources."""
    path = resources.device_sources() / name
    if not path.is_file():
        raise PreflightError(
            "building the device programs needs heapprof's sources, which an installed package does not carry",
            stage=_HERE,
            hints=("clone the repository and run scripts/heapprof there",),
        )
    module_name = f"heapprof_{_HERE}_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
