"""The only reader of environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping


def snapshot() -> Mapping[str, str]:
    """The environment as it is now; pass it on instead of reading variables elsewhere."""
    return dict(os.environ)
