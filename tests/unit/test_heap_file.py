"""The heap file is read by label; anything else is named with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapprof_cli import heap_file
from heapprof_cli.heap_file import HeapFileProblem
from heapprof_cli.records import HeapReading, Verdict

BEFORE = b"DSP:before_context_created (bytes), 928212"
AFTER = b"DSP:after_context_freed (bytes), 928300"


@pytest.mark.parametrize(
    "content",
    [
        BEFORE + b"\n" + AFTER + b"\n",
        AFTER + b"\n" + BEFORE,
        BEFORE + b"\r\n" + AFTER + b"\r\n",
        b"\n\n" + BEFORE + b"\n \n" + AFTER + b"\n\n",
        BEFORE + b"\n" + BEFORE + b"\n" + AFTER + b"\n" + AFTER + b"\n",
        BEFORE + b"  \n" + AFTER,
    ],
)
def test_accepts_every_tolerated_form(content: bytes) -> None:
    assert heap_file.parse(content) == HeapReading(928212, 928300)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_reads_any_unsigned_64_bit_pair(before: int, after: int) -> None:
    text = f"DSP:before_context_created (bytes), {before}\nDSP:after_context_freed (bytes), {after}\n"
    reading = heap_file.parse(text.encode())
    assert (reading.before_bytes, reading.after_bytes, reading.difference_bytes) == (before, after, after - before)


@pytest.mark.parametrize(
    ("content", "verdict", "words"),
    [
        (b"", Verdict.INCOMPLETE, "empty"),
        (b"\n\n", Verdict.INCOMPLETE, "empty"),
        (BEFORE, Verdict.INCOMPLETE, "after_context_freed"),
        (AFTER + b"\n", Verdict.INCOMPLETE, "before_context_created"),
        (BEFORE + b"\nhello\n" + AFTER, Verdict.MALFORMED, "line 2"),
        (BEFORE + b"\n\n" + AFTER + b"0\n" + AFTER, Verdict.MALFORMED, "line 4"),
        (b"DSP:before_context_created (bytes), -5\n" + AFTER, Verdict.MALFORMED, "line 1"),
        (b"DSP:before_context_created (bytes), 1e5\n" + AFTER, Verdict.MALFORMED, "line 1"),
        (b"DSP:before_context_created (bytes), \n" + AFTER, Verdict.MALFORMED, "line 1"),
        (b"DSP:before_context_created (bytes), 18446744073709551616\n" + AFTER, Verdict.MALFORMED, "64 bits"),
        ("DSP:before_context_created (bytes), ٣\n".encode() + AFTER, Verdict.MALFORMED, "line 1"),
        (b"DSP:before_context_created (bytes), 1_0\n" + AFTER, Verdict.MALFORMED, "line 1"),
        (BEFORE + b"\n" + AFTER + b"\n\x00\x00", Verdict.MALFORMED, "line 3"),
        (b"\xff\xfe\n" + BEFORE, Verdict.MALFORMED, "line 1"),
        (BEFORE + b" 7\n" + AFTER, Verdict.MALFORMED, "line 1"),
        (b"x" * (heap_file.MAX_BYTES + 1), Verdict.MALFORMED, "larger"),
    ],
)
def test_names_what_is_wrong(content: bytes, verdict: Verdict, words: str) -> None:
    with pytest.raises(HeapFileProblem) as caught:
        heap_file.parse(content)
    assert caught.value.verdict is verdict
    assert words in caught.value.message


def test_an_incomplete_file_still_tells_before() -> None:
    with pytest.raises(HeapFileProblem) as caught:
        heap_file.parse(BEFORE + b"\n")
    assert caught.value.before_bytes == 928212


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_reading_or_a_problem(content: bytes) -> None:
    try:
        heap_file.parse(content)
    except HeapFileProblem as problem:
        assert "\x1b" not in problem.message and "\x00" not in problem.message
