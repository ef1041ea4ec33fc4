"""What the runner writes of every cycle: the heap series and the memory ledger (device_bin/README.md).

Both come from a phone: nothing in them is trusted.
"""

from __future__ import annotations

import json
import re

from heapprof_cli.records import HeapReading, MemoryPoint
from heapprof_cli.text import decode

_HEADER = "cycle,before_bytes,after_bytes"
_LINE = re.compile(r"([1-9][0-9]{0,6}),([0-9]{0,20}),([0-9]{0,20})\Z")
_LARGEST = 2**64 - 1
_CHECKPOINTS = ("start", "before_create", "after_create", "after_execute", "after_free", "end")


class SeriesProblem(Exception):
    """Why a heap series is none; ``incomplete`` where values are absent, else it is malformed."""

    def __init__(self, message: str, *, incomplete: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.incomplete = incomplete


def parse_series(data: bytes | None, cycles: int) -> tuple[HeapReading, ...]:
    """The readings of cycles 1 to ``cycles``. Raises SeriesProblem."""
    if data is None:
        raise SeriesProblem("the runner left no heap series of its cycles", incomplete=True)
    lines = decode(data).splitlines()
    if lines[:1] != [_HEADER]:
        raise SeriesProblem("the heap series has not the header that the runner writes")
    readings = [_reading(line, number) for number, line in enumerate(lines[1:], start=1)]
    if len(readings) != cycles:
        raise SeriesProblem(
            f"the heap series holds {len(readings)} of {cycles} cycles", incomplete=len(readings) < cycles
        )
    return tuple(readings)


def _reading(line: str, number: int) -> HeapReading:
    match = _LINE.match(line)
    if match is None or int(match[1]) != number:
        raise SeriesProblem(f"line {number + 1} of the heap series is not that of cycle {number}")
    if not match[2] or not match[3]:
        which = "before" if not match[2] else "after"
        raise SeriesProblem(f"cycle {number} gave no DSP heap event for '{which}'", incomplete=True)
    before, after = int(match[2]), int(match[3])
    if max(before, after) > _LARGEST:
        raise SeriesProblem(f"line {number + 1} of the heap series holds a number beyond 64 bits")
    return HeapReading(before, after)


def parse_ledger(data: bytes | None, run: int) -> tuple[MemoryPoint, ...]:
    """The ledger's points; empty where there is no ledger or it is none: it explains, it decides nothing."""
    points: list[MemoryPoint] = []
    for line in decode(data or b"").splitlines():
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return ()
        if not isinstance(fields, dict) or fields.get("checkpoint") not in _CHECKPOINTS:
            return ()
        points.append(
            MemoryPoint(
                run,
                _integer(fields.get("cycle")),
                str(fields["checkpoint"]),
                *(_integer(fields.get(f"{name}_bytes")) for name in ("rss", "pss", "private_dirty", "dma_buf")),
            )
        )
    return tuple(points)


def _integer(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _LARGEST else None
