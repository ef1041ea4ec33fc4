"""The story of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from heapprof_cli.diagnosis.catalogue import catalogue
from heapprof_cli.diagnosis.concluding import findings
from heapprof_cli.diagnosis.matching import Matcher
from heapprof_cli.diagnosis.reading import blocks_of_lines
from heapprof_cli.diagnosis.records import Explanation, RunFacts

Blocks = Iterable[bytes]


def explain(lines: Iterable[str] | Iterable[bytes], run: RunFacts | None = None) -> Explanation:
    """What went wrong, judging by ``lines`` of a log and what is known of its run.

    Reads as a stream, in constant memory. Raises UsageError for a user's file of rules that is wrong.
    """
    return explain_files([(None, lambda: blocks_of_lines(lines))], run)


def explain_files(
    files: Sequence[tuple[str | None, Callable[[], Iterator[bytes]]]], run: RunFacts | None = None
) -> Explanation:
    """The same for several files of one failure: their names, and what opens them as blocks of bytes."""
    rules = catalogue().rules
    matcher = Matcher(rules)
    read = 0
    for name, opened in files:
        matcher.start_file()
        for candidate in matcher.scanner.candidates(opened()):
            matcher.take(candidate, name)
        read += matcher.scanner.lines
    passed_over = matcher.passed_over + matcher.scanner.passed_over
    found = findings(rules, matcher.hits, run or RunFacts())
    return Explanation(found, tuple(matcher.unknown), matcher.unknown_count, read, passed_over)
