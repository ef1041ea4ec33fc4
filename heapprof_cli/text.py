"""Text from the outside made safe to show: bounded, without control characters, and readable sizes."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    "\x1b\\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)?"  # operating system commands: titles, links
    "|\x1b[PX^_][^\x1b]{0,4096}(?:\x1b\\\\)?"  # device control and other strings
    "|\x1b\\[[0-?]*[ -/]*[@-~]?"  # control sequences: colours, cursor moves
    "|\x9b[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
)
# Cc: C0 and C1 controls; Cf: bidirectional overrides and invisible marks; Cs, Co, Cn: not text.
_UNSHOWABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def decode(data: bytes) -> str:
    """UTF-8 text of ``data``; invalid bytes become U+FFFD."""
    return data.decode("utf-8", "replace")


def clean(text: str, limit: int = 2000) -> str:
    """One line of ``text`` without escapes or control characters, at most ``limit`` characters.

    Anything a phone or a file says goes through here before it reaches a terminal or a report.
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text.strip()  # nearly all there is, and without a look at every character
    window = 4 * limit + 4096
    shown = "".join(_showable(character) for character in _ESCAPES.sub("", text[:window])).strip()
    return shown if len(shown) <= limit and len(text) <= window else shown[:limit] + "…"


def clean_lines(text: str, lines: int = 40, width: int = 400) -> list[str]:
    """The last ``lines`` non-empty lines of ``text``, each cleaned."""
    found = [clean(line, width) for line in re.split(r"\r\n|\r|\n", text)]
    return [line for line in found if line][-lines:]


def _showable(character: str) -> str:
    if character == "\t":
        return " "
    if character < "\x7f" and character >= " ":
        return character
    return "\ufffd" if unicodedata.category(character) in _UNSHOWABLE else character


def readable_bytes(count: int) -> str:
    """``count`` bytes with a binary unit: ``906.5 KiB``; exact bytes below 1 KiB."""
    sign, rest = ("-", -count) if count < 0 else ("", count)
    if rest < 1024:
        return f"{sign}{rest} B"
    value = float(rest)
    unit = 0
    while value >= 1023.95 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    return f"{sign}{value:.1f} {_UNITS[unit]}"


def plural(count: int, word: str) -> str:
    """``1 model``, ``2 models``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
