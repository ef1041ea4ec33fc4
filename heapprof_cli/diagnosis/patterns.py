"""Patterns of rules, checked so that no line can make one slow."""

from __future__ import annotations

import re

_LONGEST = 1000
_OPEN_ENDED = re.compile(r"[*+]|\{\d*,\}")
_MOST_OPEN = 3


def compiled(text: str) -> re.Pattern[str]:
    """The pattern ``text``, in any case of letters. Raises ValueError with the reason why it is refused."""
    if not text or len(text) > _LONGEST:
        raise ValueError(f"a pattern has 1 to {_LONGEST} characters")
    _refuse_slow(text)
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"no regular expression: {error}") from error
    if pattern.match(""):
        raise ValueError("it matches an empty line, and so every line")
    return pattern


def _refuse_slow(text: str) -> None:
    """Repeated groups that repeat inside (``(a+)+``), repeated choices and many open ends make Python's engine slow."""
    bare = _without_classes(text)
    if re.search(r"\\[1-9]|\(\?P=", bare):
        raise ValueError("references to groups are not allowed: they can be slow")
    if len(_OPEN_ENDED.findall(bare)) > _MOST_OPEN:
        raise ValueError(f"more than {_MOST_OPEN} of * + {{n,}}: bound them, as in .{{0,80}}")
    opened: list[int] = []
    for index, character in enumerate(bare):
        if character == "(":
            opened.append(index)
        elif character == ")" and opened:
            inside = bare[opened.pop() + 1 : index]
            repeated = re.match(r"[*+]|\{\d*,?\d*\}", bare[index + 1 :])
            if repeated and (_OPEN_ENDED.search(inside) or "|" in inside or "{" in inside):
                raise ValueError("a repeated group with a repetition or a choice inside can be very slow")


def _without_classes(text: str) -> str:
    """``text`` with escapes of punctuation and character classes replaced by a plain character."""
    text = re.sub(r"\\([^\w\s])", "x", text)
    return re.sub(r"\[\^?\]?[^\]]*\]", "x", text)
