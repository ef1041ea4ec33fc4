"""Output of any length is kept in bounded memory, head and tail."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from heapprof_cli.device.capture import Capture


@given(st.lists(st.binary(max_size=40)), st.integers(1, 20), st.integers(1, 20))
def test_short_output_is_kept_whole_and_long_output_by_its_ends(pieces: list[bytes], head: int, tail: int) -> None:
    capture = Capture(head, tail)
    for piece in pieces:
        capture.add(piece)
    whole = b"".join(pieces)
    assert capture.total == len(whole)
    if len(whole) <= head + tail:
        assert capture.omitted == 0
        assert capture.text() == whole.decode("utf-8", "replace")
    else:
        assert capture.omitted == len(whole) - head - tail


@given(st.lists(st.binary(max_size=30)))
def test_lines_arrive_complete_whatever_the_pieces(pieces: list[bytes]) -> None:
    lines: list[bytes] = []
    capture = Capture(on_line=lines.append)
    for piece in pieces:
        capture.add(piece)
    assert lines == b"".join(pieces).split(b"\n")[:-1]


def test_memory_stays_bounded() -> None:
    lines = 0

    def count(line: bytes) -> None:
        nonlocal lines
        lines += 1
        assert len(line) <= 8192

    tracemalloc.start()
    capture = Capture(on_line=count)
    for _ in range(1000):
        capture.add(b"x" * 65536)
    capture.add(b"\nlast words")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 1024 * 1024
    assert lines == 1
    assert capture.text().endswith("last words")
