"""Where things of the phone lie, as its programs see them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.virtual.emulation import Machine


@dataclass(frozen=True)
class Layout:
    """The phone's folders. With a private root they are Android's; without, they lie under ``root``."""

    root: Path
    isolated: bool
    drop_user: bool
    """Whether the phone's programs run as uid 2000 without rights, or as who started us."""
    machine: Machine | None = None
    """The processor that is emulated; None is the computer's own."""

    @property
    def prefix(self) -> str:
        """What stands before Android's paths."""
        return "" if self.isolated else str(self.root)

    @property
    def shell(self) -> str:
        return f"{self.prefix}/system/bin/sh"

    @property
    def temporary(self) -> str:
        return f"{self.prefix}/data/local/tmp"

    @property
    def properties(self) -> str:
        return f"{self.prefix}/dev/__properties__/values"

    @property
    def start_folder(self) -> str:
        return self.prefix or "/"

    def may_write(self, path: str) -> bool:
        """Whether adbd may write at ``path``: without a private root, only below the phone's folder."""
        if self.isolated:
            return True
        real = os.path.realpath(os.path.dirname(path))
        return real == str(self.root) or real.startswith(f"{self.root}/")
