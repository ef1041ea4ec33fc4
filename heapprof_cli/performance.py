"""The performance modes of the HTP, by number and name, as ExecuTorch and QNN tools name them."""

from __future__ import annotations

MODES: tuple[str, ...] = (
    "default",
    "sustained_high_performance",
    "burst",
    "high_performance",
    "power_saver",
    "low_power_saver",
    "high_power_saver",
    "low_balanced",
    "balanced",
)


def mode_number(text: str) -> int | None:
    """The number of a mode given as ``0``-``8`` or by name (dashes for underscores pass); None if unknown."""
    wanted = text.strip().lower().replace("-", "_")
    if wanted in MODES:
        return MODES.index(wanted)
    return int(wanted) if wanted.isascii() and wanted.isdigit() and int(wanted) < len(MODES) else None
