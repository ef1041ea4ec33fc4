"""adbutils, imported without the HTTP library that only its installer of apps from the web needs.

That library alone takes longer to import than the rest of a command's start.
"""

from __future__ import annotations

import importlib
import sys
import types


class _ImportedWhenUsed(types.ModuleType):
    """Stands for a module until one of its names is asked for.

    Not :class:`importlib.util.LazyLoader`: there a mere ``import`` statement is a use already.
    """

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


if "requests" not in sys.modules:
    sys.modules["requests"] = _ImportedWhenUsed("requests")

from adbutils import AdbClient, AdbConnection, AdbError, AdbTimeout, adb_path  # noqa: E402

if isinstance(sys.modules.get("requests"), _ImportedWhenUsed):
    del sys.modules["requests"]  # others import the real one; adbutils keeps its stand-in

__all__ = ["AdbClient", "AdbConnection", "AdbError", "AdbTimeout", "adb_path"]
