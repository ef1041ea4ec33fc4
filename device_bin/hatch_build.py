"""hatchling's build hook: builds the device programs and puts them into the wheel.

In a checkout (an editable install) they stay in device_bin/build, where the package finds them.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DeviceProgramsHook(BuildHookInterface):
    """Builds every target and the stand-in before the package is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        output = Path(self.root) / "device_bin" / "build"
        build = _load(Path(self.root) / "device_bin" / "build.py")
        for target in build.TARGETS:
            build.build(target, output)
            if version != "editable":
                build_data["force_include"][str(output / target)] = f"heapprof_cli/_data/device/{target}"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("heapprof_device_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
