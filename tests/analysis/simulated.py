"""scripts/growth_table.py as a module: its series are what the tests judge too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent


def growth_table() -> ModuleType:
    if "growth_table" not in sys.modules:
        spec = importlib.util.spec_from_file_location("growth_table", ROOT / "scripts" / "growth_table.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["growth_table"] = module
        spec.loader.exec_module(module)
    return sys.modules["growth_table"]
