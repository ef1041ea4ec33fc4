"""The runner's pure parts, checked by a C program of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.native.runner_tools import build_module

PARTS = {"proc_text.c", "text.c", "tensors.c", "failure.c", "say.c"}


def test_pure_parts(tmp_path):
    module = build_module()
    linker = module.DriverLinker(module.TARGETS["linux-x86_64"], tmp_path, None)
    parts = [file for file in module.sources("runner") if file.name in PARTS]
    source = Path(__file__).parent / "unit" / "test_units.c"
    program = linker.program([source, *parts], "units", [f"-I{module.HERE / 'runner'}"])
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0 failures\n")
