"""Where the history lies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heapprof_cli import user_files
from heapprof_cli.errors import UsageError

VARIABLE = "HEAPPROF_HISTORY"


def place(environment: Mapping[str, str]) -> Path:
    """The file that HEAPPROF_HISTORY names, else the one in the user's data folder. Raises UsageError."""
    named = environment.get(VARIABLE)
    try:
        return Path(named).absolute() if named else user_files.data_folder() / "history.db"
    except OSError as error:
        raise UsageError(
            f"there is no place for a history: {error}", hints=(f"name a file with {VARIABLE}",)
        ) from error
