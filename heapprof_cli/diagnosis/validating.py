"""Entries of the catalogue become rules; what is wrong with one is said with its place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from heapprof_cli.diagnosis import conditions, patterns
from heapprof_cli.diagnosis.records import STAGES
from heapprof_cli.diagnosis.rules import Cause, Condition, Rule
from heapprof_cli.diagnosis.scanning import squeezed
from heapprof_cli.errors import UsageError
from heapprof_cli.log_findings import Certainty
from heapprof_cli.text import clean

FORM = "the form of a rule is described in docs/diagnosis.md"
_MATCHING = ("id", "words", "also", "any", "sequence", "within", "context", "unless", "before", "seen", "absent", "run")
_CAUSE = ("stage", "certainty", "cause", "fix", "tells_apart", "likely_if")
_RULE = (*_MATCHING, "role", "explained_by", "examples", "sources", "causes", *_CAUSE)
_OTHER = ("id", "words", "also", "any", "context", "unless", "examples")
_ID = re.compile(r"[a-z0-9][a-z0-9.-]{1,60}")


class _Place:
    """Where an entry stands; ``fail`` raises the UsageError about it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fail(self, what: str, hint: str = FORM) -> UsageError:
        return UsageError(f"{self.name}: {clean(what, 300)}", hints=(hint,))


def rule_of(entry: object, place_name: str, role: str | None, origin: str) -> Rule:
    """The rule of one entry; ``role`` is set by the section that it stands in. Raises UsageError."""
    place = _Place(place_name)
    fields = _mapping(entry, place, _RULE if role is None else _OTHER)
    name = fields.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise place.fail("'id' must be a name of small letters, digits and dashes")
    place = _Place(f"{place_name} ({name})")
    chosen = role or fields.get("role", "cause")
    if chosen not in ("cause", "effect", "aside") and role is None:
        raise place.fail("'role' must be cause, effect or aside")
    rule = Rule(
        id=name,
        role=str(chosen),
        words=_words(fields, "words", place),
        also=_words(fields, "also", place),
        patterns=_patterns(fields, "any", place),
        sequence=_patterns(fields, "sequence", place),
        within=_within(fields, place),
        context=_pattern(fields.get("context"), "context", place),
        unless=_pattern(fields.get("unless"), "unless", place),
        before=_texts(fields, "before", place),
        condition=_condition(fields, place),
        explained_by=frozenset(_texts(fields, "explained_by", place)),
        causes=_causes(name, fields, place) if role is None else (),
        examples=_examples(fields, place),
        sources=_texts(fields, "sources", place),
        origin=origin,
    )
    _check_matching(rule, place)
    return rule


def _check_matching(rule: Rule, place: _Place) -> None:
    asked_of_run = bool(rule.condition.run)
    if not rule.patterns and not rule.sequence and not (asked_of_run and rule.role in ("cause", "effect", "aside")):
        raise place.fail("'any' or 'sequence' must hold patterns (or 'run' must ask something of the run)")
    if (rule.patterns or rule.sequence) and not rule.words:
        raise place.fail("'words' must list literals, one of which every matching line holds")


def _mapping(entry: object, place: _Place, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(entry, dict):
        raise place.fail("not a mapping")
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise place.fail(f"unknown key {str(key)[:60]!r}", hint)
    return entry


def _texts(fields: Mapping[str, object], key: str, place: _Place) -> tuple[str, ...]:
    value = fields.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise place.fail(f"{key!r} must be a list of texts")
    return tuple(value)


def _words(fields: Mapping[str, object], key: str, place: _Place) -> tuple[str, ...]:
    words = _texts(fields, key, place)
    for word in words:
        if word != word.lower() or len(squeezed(word.encode())) < 2 or "\n" in word:
            raise place.fail(f"word {word!r}: must have two or more characters that are no digits, in lower case")
    return words


def _pattern(value: object, key: str, place: _Place) -> re.Pattern[str] | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise place.fail(f"{key!r} must be a pattern")
    try:
        return patterns.compiled(value)
    except ValueError as error:
        raise place.fail(f"{key!r}: pattern {value[:80]!r}: {error}") from error


def _patterns(fields: Mapping[str, object], key: str, place: _Place) -> tuple[re.Pattern[str], ...]:
    found = (_pattern(text, key, place) for text in _texts(fields, key, place))
    return tuple(pattern for pattern in found if pattern is not None)


def _within(fields: Mapping[str, object], place: _Place) -> int:
    value = fields.get("within", 200)
    if type(value) is not int or not 1 <= value <= 100_000:
        raise place.fail("'within' must be a number of lines from 1 to 100000")
    return value


def _condition(fields: Mapping[str, object], place: _Place) -> Condition:
    run = fields.get("run")
    if run is not None:
        if not isinstance(run, dict):
            raise place.fail("'run' must be a mapping")
        try:
            conditions.check(run)
        except ValueError as error:
            raise place.fail(str(error)) from error
    return Condition(_texts(fields, "seen", place), _texts(fields, "absent", place), run)


def _examples(fields: Mapping[str, object], place: _Place) -> tuple[tuple[str, ...], ...]:
    """Each example is a line, or a text of several lines."""
    return tuple(tuple(text.splitlines()) for text in _texts(fields, "examples", place))


def _causes(name: str, fields: Mapping[str, object], place: _Place) -> tuple[Cause, ...]:
    several = fields.get("causes")
    if several is None:
        return (_cause(name, {key: fields[key] for key in _CAUSE if key in fields}, place),)
    if not isinstance(several, list) or len(several) < 2 or any(key in fields for key in _CAUSE):
        raise place.fail("'causes' must be a list of two or more, instead of 'stage', 'cause' and 'fix'")
    found = []
    for number, entry in enumerate(several, start=1):
        inner = _Place(f"{place.name}, cause {number}")
        own = _mapping(entry, inner, _CAUSE)
        found.append(_cause(name if number == 1 else f"{name}.{own.get('stage')}", own, inner))
    if len({cause.id for cause in found}) < len(found):
        raise place.fail("'causes': two causes of one stage; join them")
    return tuple(found)


def _cause(name: str, fields: Mapping[str, object], place: _Place) -> Cause:
    stage, certainty = fields.get("stage"), fields.get("certainty")
    if stage not in STAGES:
        near = difflib.get_close_matches(str(stage), STAGES, n=1)
        hint = f"did you mean {near[0]}?" if near else FORM
        raise place.fail(f"'stage' {str(stage)[:60]!r}: must be one of {', '.join(STAGES)}", hint)
    if certainty not in [known.value for known in Certainty]:
        raise place.fail("'certainty' must be certain, likely or possible")
    for key in ("cause", "fix"):
        if not isinstance(fields.get(key), str) or not str(fields[key]).strip():
            raise place.fail(f"{key!r} must say something")
    tells, likely = fields.get("tells_apart"), fields.get("likely_if")
    if tells is not None and not isinstance(tells, str):
        raise place.fail("'tells_apart' must be a text")
    if likely is not None:
        likely = _mapping(likely, place, ("seen", "absent", "run"))
    return Cause(
        id=name,
        stage=str(stage),
        certainty=Certainty(certainty),
        cause=_one_line(fields["cause"]),
        fix=_one_line(fields["fix"]),
        tells_apart=_one_line(tells) if tells else None,
        likely_if=_condition(likely, place) if likely else None,
    )


def _one_line(text: object) -> str:
    return clean(" ".join(str(text).split()), 600)
