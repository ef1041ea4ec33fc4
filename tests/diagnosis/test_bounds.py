"""Huge and hostile logs: what is found stays right, and what was not looked at is said."""

import itertools

import pytest

from heapprof_cli.diagnosis import explain, matching
from heapprof_cli.diagnosis.catalogue import catalogue
from heapprof_cli.diagnosis.scanning import Scanner, Wanted
from heapprof_cli.render.explain import explanation_json, explanation_text

MISSING_SKEL = "[ERROR] [Qnn ExecuTorch]: QnnDsp <E> Failed to load skel, error: 4000"
UNKNOWN = "E/QnnDsp: QnnDsp <E> frobnicator failed with error 0x7, at step"


@pytest.fixture(scope="module")
def skel_finding() -> str:
    findings = explain([MISSING_SKEL]).findings
    assert findings
    return findings[0].id


def test_a_failure_after_lines_of_1_mb_is_found(skel_finding: str) -> None:
    long = "x" * (1 << 20)
    explained = explain(itertools.chain((long for _ in range(16)), [MISSING_SKEL]))
    assert explained.findings[0].id == skel_finding
    assert explained.findings[0].lines[0].number == 17


def test_one_line_of_16_mb_is_one_line(skel_finding: str) -> None:
    explained = explain([MISSING_SKEL + " " + "failed " * (16 << 17), "next"])
    assert explained.lines_read == 2
    assert explained.findings[0].id == skel_finding
    assert len(explained.findings[0].lines[0].text) <= 401


def test_a_failure_after_100000_repeats_of_another_is_found(skel_finding: str) -> None:
    explained = explain([*(f"{UNKNOWN} {n}" for n in range(100_000)), MISSING_SKEL])
    assert explained.findings[0].id == skel_finding
    assert explained.findings[0].lines[0].number == 100_001


def test_repeats_are_all_counted() -> None:
    explained = explain(f"{UNKNOWN} {n}" for n in range(100_000))
    assert explained.unknown_count == 100_000
    assert explained.unknown_errors[0].number == 1


def test_a_line_that_came_often_is_looked_at_again_with_another_code_at_its_end() -> None:
    scanner = Scanner([Wanted("create", (b"create context",))])
    lines = ["QnnDsp <E> Failed to create context, err 1002\n"] * 5_000
    lines[3_000] = "QnnDsp <E> Failed to create context, err 5005\n"
    found = [candidate.number for candidate in scanner.candidates(["".join(lines).encode()])]
    assert 3_001 in found
    assert len(found) < 100


def test_hexadecimal_numbers_make_no_new_forms() -> None:
    scanner = Scanner([Wanted("handle", (b"bad handle",))])
    lines = "".join(f"error: bad handle 0x{n * 2654435761 % 2**32:08x} given\n" for n in range(20_000))
    found = list(scanner.candidates([lines.encode()]))
    assert len(found) < 200
    assert sum(candidate.times for candidate in found) == 20_000


def test_near_misses_without_end_are_passed_over_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_MOST_WORK", 100_000)
    words = sorted({word for rule in catalogue().rules.values() for word in rule.words})
    lines = (f"error: {'abcdefgh'[n % 8] * (n % 97)} {words[n % len(words)]} {'ab' * (n // 776)}" for n in range(5_000))
    explained = explain(lines)
    assert explained.lines_read == 5_000
    assert 0 < explained.passed_over < 5_000
    assert f"{explained.passed_over} lines not looked at" in explanation_text(explained)
    assert f'"lines_passed_over": {explained.passed_over}' in explanation_json(explained)


def test_what_was_found_before_the_near_misses_stays(monkeypatch: pytest.MonkeyPatch, skel_finding: str) -> None:
    monkeypatch.setattr(matching, "_MOST_WORK", 100_000)
    bombs = (f"QnnDsp <E> Failed to load skel {'ab' * (n % 1000)} {'c' * (n // 1000)}" for n in range(5_000))
    explained = explain([MISSING_SKEL, *bombs])
    assert explained.findings[0].id == skel_finding
    assert explained.passed_over


@pytest.mark.parametrize("char", [" ", "a", "(", "0x", ": ", "\t", "/", "<E> ", "1."])
def test_no_rule_takes_long_over_what_repeats(char: str) -> None:
    """Every rule's own words, then as much of one thing as a line may hold: quadratic patterns would hang here."""
    words = sorted({word for rule in catalogue().rules.values() for word in rule.words})
    explained = explain(f"error {word} {char * (4000 // len(char))}" for word in words)
    assert explained.lines_read == len(words)
