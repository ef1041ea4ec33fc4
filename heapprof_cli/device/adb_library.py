"""adbutils, imported without the HTTP library that only its installer of apps from the web needs.

That library alone takes longer to import than all the rest of a command's start.
"""

from __future__ import annotations

import importlib.util
import sys


def _import_when_used(name: str) -> None:
    """Put a module into place that loads itself at its first use (:class:`importlib.util.LazyLoader`)."""
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


_import_when_used("requests")

from adbutils import AdbClient, AdbConnection, AdbError, AdbTimeout, adb_path  # noqa: E402

__all__ = ["AdbClient", "AdbConnection", "AdbError", "AdbTimeout", "adb_path"]
