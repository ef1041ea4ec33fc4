"""From what was hit to the findings: chains are put together, ambiguous codes ranked, conditions asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from heapprof_cli.diagnosis import conditions
from heapprof_cli.diagnosis.matching import Hits
from heapprof_cli.diagnosis.records import RunFacts
from heapprof_cli.diagnosis.rules import ROLES, Cause, Condition, Rule
from heapprof_cli.log_findings import Certainty, Finding, Line

_CHAIN = 3000  # lines within which an effect belongs to its cause: a busy logcat writes about that in two seconds
_MOST_LINES = 20
_MOST_FINDINGS = 30
_NO_LINE = 1 << 62  # what only the run's end tells comes after what its log tells


@dataclass
class _Group:
    """A rule with its lines, to which those of its effects are added."""

    rule: Rule
    causes: tuple[Cause, ...]
    lines: list[Line]

    def key(self) -> tuple[int, int, int]:
        first = self.lines[0].number if self.lines else _NO_LINE
        return ROLES.index(self.rule.role), self.causes[0].certainty.rank, first


def findings(rules: Mapping[str, Rule], hits: Mapping[str, Hits], run: RunFacts) -> tuple[Finding, ...]:
    """The findings, the likeliest first: causes before effects, surer before less sure, earlier before later."""
    groups = [group for rule in rules.values() if (group := _group(rule, hits, run))]
    groups.sort(key=_Group.key)
    kept: list[_Group] = []
    for group in groups:
        left = _given_to_causes(group, kept)
        if left is not None:
            group.lines = left
            kept.append(group)
    return tuple(finding for group in kept for finding in _told(group))[:_MOST_FINDINGS]


def _group(rule: Rule, hits: Mapping[str, Hits], run: RunFacts) -> _Group | None:
    if rule.role not in ("cause", "effect", "aside"):
        return None
    found = hits.get(rule.id)
    if found is None and (rule.patterns or rule.sequence):
        return None
    if not _holds(rule.condition, hits, run):
        return None
    return _Group(rule, _ranked(rule, hits, run), list(found.lines) if found else [])


def _holds(condition: Condition, hits: Mapping[str, Hits], run: RunFacts) -> bool:
    return (
        all(name in hits for name in condition.seen)
        and not any(name in hits for name in condition.absent)
        and conditions.holds(condition.run, run)
    )


def _ranked(rule: Rule, hits: Mapping[str, Hits], run: RunFacts) -> tuple[Cause, ...]:
    """A cause whose ``likely_if`` holds comes first, and is likely."""
    confirmed = [c for c in rule.causes if c.likely_if is not None and _holds(c.likely_if, hits, run)]
    raised = [c if c.certainty is Certainty.CERTAIN else replace(c, certainty=Certainty.LIKELY) for c in confirmed]
    return (*raised, *(cause for cause in rule.causes if cause not in confirmed))


def _given_to_causes(group: _Group, kept: Iterable[_Group]) -> list[Line] | None:
    """Gives the group's lines to what explains them; the lines that are left, or None when the group is explained."""
    left = group.lines
    explained = False
    for head in kept:
        if not group.rule.explained_by & {head.rule.id, *head.rule.stages}:
            continue
        near = [line for line in left if _near(line, head.lines)]
        explained = explained or bool(near) or not (left and head.lines)
        head.lines.extend(near)
        left = [line for line in left if line not in near]
    return None if explained and not left else left


def _near(line: Line, others: Iterable[Line]) -> bool:
    """Whether ``line`` may belong to a chain of ``others``; between files nothing is known of their distance."""
    return any(line.file != other.file or abs(line.number - other.number) <= _CHAIN for other in others)


def _told(group: _Group) -> Iterable[Finding]:
    unique = dict.fromkeys(group.lines)
    lines = tuple(sorted(unique, key=lambda line: (line.file or "", line.number)))[:_MOST_LINES]
    for cause in group.causes:
        yield Finding(
            id=cause.id,
            stage=cause.stage,
            certainty=cause.certainty,
            cause=cause.cause,
            fix=cause.fix,
            lines=lines,
            tells_apart=cause.tells_apart,
            sources=group.rule.sources,
        )
