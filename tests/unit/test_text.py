"""Nothing from outside reaches a terminal with its teeth."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapprof_cli.text import clean, clean_lines, readable_bytes


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b", "a\ufffdb"),
        ("a\tb", "a b"),
        ("\u202egnp.exe", "\ufffdgnp.exe"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        ("Grüße, 模型", "Grüße, 模型"),
        ("\x9b31mx", "x"),
        ("line\rover", "line\ufffdover"),
    ],
)
def test_clean(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(st.text(max_size=500))
def test_clean_leaves_no_control_character(text: str) -> None:
    assert not [c for c in clean(text) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


@given(st.text(), st.integers(1, 50))
def test_clean_is_bounded(text: str, limit: int) -> None:
    assert len(clean(text, limit)) <= limit + 1


def test_clean_of_a_huge_text_is_quick_and_short() -> None:
    assert len(clean("\x1b[" * 10_000_000, 100)) <= 101


def test_clean_lines_takes_the_last_ones() -> None:
    assert clean_lines("a\r\n\nb\rc\n", lines=2) == ["b", "c"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (928212, "906.5 KiB"),
        (-4096, "-4.0 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (2**64 - 1, "16.0 EiB"),
        (5 * 1024**3, "5.0 GiB"),
    ],
)
def test_readable_bytes(count: int, text: str) -> None:
    assert readable_bytes(count) == text
