"""How judgements are worded."""

from __future__ import annotations


def in_bytes(count: int | float) -> str:
    """``1 byte``, ``4096 bytes``, ``12.5 bytes``."""
    shown = f"{count:.1f}".removesuffix(".0") if isinstance(count, float) else str(count)
    return f"{shown} byte" if shown in ("1", "-1") else f"{shown} bytes"
