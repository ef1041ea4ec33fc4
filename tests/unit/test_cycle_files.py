"""The heap series and the memory ledger: read line by line, trusted nowhere."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapprof_cli.device.phone import Leavings
from heapprof_cli.records import HeapReading, Verdict
from heapprof_cli.session.cycle_files import SeriesProblem, parse_ledger, parse_series
from heapprof_cli.session.judge import judge
from heapprof_cli.session.runner_status import parse_status

HEADER = b"cycle,before_bytes,after_bytes\n"
GOOD = HEADER + b"1,10,14\n2,14,18\n"


def test_a_series_is_its_cycles_readings() -> None:
    assert parse_series(GOOD, 2) == (HeapReading(10, 14), HeapReading(14, 18))
    assert parse_series(GOOD.replace(b"\n", b"\r\n"), 2) == (HeapReading(10, 14), HeapReading(14, 18))


@pytest.mark.parametrize(
    ("data", "incomplete", "words"),
    [
        (None, True, "no heap series"),
        (b"", False, "header"),
        (HEADER, True, "0 of 2"),
        (HEADER + b"1,10,14\n", True, "1 of 2"),
        (GOOD + b"3,18,22\n", False, "3 of 2"),
        (HEADER + b"1,10,14\n2,14,\n", True, "cycle 2 gave no DSP heap event for 'after'"),
        (HEADER + b"1,,14\n2,14,18\n", True, "cycle 1 gave no DSP heap event for 'before'"),
        (HEADER + b"2,10,14\n1,14,18\n", False, "line 2"),
        (HEADER + b"1,10,-4\n2,14,18\n", False, "line 2"),
        (HEADER + b"1,10,99999999999999999999\n2,14,18\n", False, "beyond 64 bits"),
    ],
)
def test_any_other_series_says_why(data: bytes | None, incomplete: bool, words: str) -> None:
    with pytest.raises(SeriesProblem, match=re.escape(words)) as caught:
        parse_series(data, 2)
    assert caught.value.incomplete is incomplete


@given(st.binary(max_size=300))
@settings(max_examples=300, derandomize=True)
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    parse_ledger(data, 1)
    for content in (data, HEADER + data):
        try:
            assert len(parse_series(content, 1)) == 1
        except SeriesProblem as problem:
            assert problem.message


def test_the_ledgers_points() -> None:
    lines = [
        {"checkpoint": "start", "cycle": None, "rss_bytes": 5, "pss_bytes": None, "dma_buf_bytes": 0},
        {"checkpoint": "after_free", "cycle": 1, "rss_bytes": 7, "private_dirty_bytes": 2, "pss_bytes": -1},
    ]
    first, second = parse_ledger("\n".join(map(json.dumps, lines)).encode(), 3)
    assert (first.run, first.cycle, first.checkpoint, first.rss_bytes, first.pss_bytes) == (3, None, "start", 5, None)
    assert (second.cycle, second.private_dirty_bytes, second.pss_bytes) == (1, 2, None)
    assert parse_ledger(b'{"checkpoint": "elsewhere"}', 1) == ()


@pytest.mark.parametrize(
    ("series", "verdict"),
    [
        (GOOD, Verdict.OK),
        (None, Verdict.INCOMPLETE),
        (GOOD.replace(b"14\n", b"x\n"), Verdict.MALFORMED),
        (GOOD.replace(b"18", b"19"), Verdict.MALFORMED),
    ],
)
def test_a_series_and_the_heap_file_must_agree(series: bytes | None, verdict: Verdict) -> None:
    content = b"DSP:before_context_created (bytes), 10\nDSP:after_context_freed (bytes), 18\n"
    status = parse_status(json.dumps({"heap": {"before_bytes": 10, "after_bytes": 18, "events": 4}}).encode())
    judgement = judge(Leavings(content, False, False, (), None, series), status, 2)
    assert judgement.verdict is verdict
    assert len(judgement.cycles) == (2 if verdict is Verdict.OK else 0)
    assert judgement.before_bytes == (None if verdict is Verdict.OK else 10)
