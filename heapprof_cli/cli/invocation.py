"""One command line: its words, and what a variable or a settings file adds that counts even when it fails."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Invocation:
    """The object of click's contexts. ``form``: the result's format that no flag, but something else asks for."""

    words: list[str]
    form: str | None = None

    def wants_json(self) -> bool:
        """Whether JSON was asked for, by the last ``--format`` before ``--``; the words may be no valid command."""
        wanted = None
        flags = self.words[: self.words.index("--")] if "--" in self.words else self.words
        for word, after in zip(flags, [*flags[1:], ""], strict=False):
            if word == "--format":
                wanted = after
            elif word.startswith("--format="):
                wanted = word.removeprefix("--format=")
        return (self.form if wanted is None else wanted) == "json"
