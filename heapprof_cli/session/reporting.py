"""What a session tells while it works; the command line decides how to show it."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Receives progress. Texts are already safe for a terminal."""

    def stage(self, name: str, detail: str) -> None:
        """A stage begins."""

    def moved(self, count: int, total: int) -> None:
        """``count`` more bytes of ``total`` were sent."""

    def runner_line(self, line: str) -> None:
        """The runner said something on stderr."""

    def warn(self, text: str) -> None:
        """Something that the user should know."""
