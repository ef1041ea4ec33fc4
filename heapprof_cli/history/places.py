"""Where the history lies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs

VARIABLE = "HEAPPROF_HISTORY"


def place(environment: Mapping[str, str]) -> Path:
    """The file that HEAPPROF_HISTORY names, else the one in the user's data folder."""
    named = environment.get(VARIABLE)
    return Path(named).absolute() if named else Path(platformdirs.user_data_dir("heapprof")) / "history.db"
