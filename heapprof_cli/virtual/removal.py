"""Removing the folder of a phone."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path


def remove_tree(root: Path) -> None:
    """Remove ``root`` and all in it, read-only folders too; what belongs to others stays."""
    with contextlib.suppress(OSError):
        root.chmod(0o700)
    for folder, names, _ in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
    shutil.rmtree(root, ignore_errors=True)
