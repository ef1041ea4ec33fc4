"""The two-line heap file: parsing by label, and what makes a reading implausible.

Format (the runner's and ExecuTorch's)::

    DSP:before_context_created (bytes), <unsigned 64-bit integer>
    DSP:after_context_freed (bytes), <unsigned 64-bit integer>
"""

from __future__ import annotations

import re

from heapprof_cli.records import HeapReading, Verdict
from heapprof_cli.text import clean, decode, readable_bytes

BEFORE = "before_context_created"
AFTER = "after_context_freed"
MAX_BYTES = 64 * 1024
_MAX_VALUE = 2**64 - 1
_LINE = re.compile(r"DSP:(before_context_created|after_context_freed) \(bytes\),[ \t]*([0-9]{1,40})[ \t]*\Z")


class HeapFileProblem(Exception):
    """Why a heap file gives no reading. ``before_bytes`` is what an incomplete file still tells."""

    def __init__(self, verdict: Verdict, message: str, before_bytes: int | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.before_bytes = before_bytes


def parse(data: bytes) -> HeapReading:
    """The reading in ``data``. Labels come in any order; CRLF, blank and repeated identical lines pass.

    Raises HeapFileProblem: ``incomplete`` when a label is absent, ``malformed`` for anything else.
    """
    if len(data) > MAX_BYTES:
        raise HeapFileProblem(
            Verdict.MALFORMED, f"the heap file is larger than {readable_bytes(MAX_BYTES)}; two lines are expected"
        )
    values: dict[str, int] = {}
    for number, raw in enumerate(re.split(rb"\r\n|\n|\r", data), start=1):
        line = decode(raw)
        if not line.strip(" \t"):
            continue
        label, value = _parse_line(line, number)
        if values.setdefault(label, value) != value:
            raise HeapFileProblem(
                Verdict.MALFORMED,
                f"line {number} of the heap file gives {label} as {value}, an earlier line as {values[label]}",
            )
    missing = [label for label in (BEFORE, AFTER) if label not in values]
    if missing:
        raise HeapFileProblem(
            Verdict.INCOMPLETE,
            "the heap file is empty" if not values else f"the heap file has no line for {missing[0]}",
            values.get(BEFORE),
        )
    return HeapReading(values[BEFORE], values[AFTER])


def _parse_line(line: str, number: int) -> tuple[str, int]:
    match = _LINE.match(line)
    if match is None:
        raise HeapFileProblem(
            Verdict.MALFORMED, f"line {number} of the heap file is not a heap value: {clean(line, 120)!r}"
        )
    value = int(match[2])
    if value > _MAX_VALUE:
        raise HeapFileProblem(
            Verdict.MALFORMED, f"line {number} of the heap file holds a number beyond 64 bits: {match[2]}"
        )
    return match[1], value
