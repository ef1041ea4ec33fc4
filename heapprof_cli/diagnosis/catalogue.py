"""The catalogue of rules: ``configs/diagnosis*.yaml`` and a file of the user's."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from heapprof_cli import environment, resources
from heapprof_cli.diagnosis.records import STAGES
from heapprof_cli.diagnosis.rules import Rule
from heapprof_cli.diagnosis.validating import FORM, rule_of
from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

VARIABLE = "HEAPPROF_RULES"
_SECTIONS = {"rules": None, "signals": "signal", "harmless": "harmless", "errors": "error"}
_MOST_BYTES = 4 * 1024 * 1024
_chosen: Path | None = None


@dataclass(frozen=True)
class Catalogue:
    """Every rule by its id, in the order in which the files give them; a user's rules come first."""

    rules: Mapping[str, Rule]


def use(path: Path | None) -> None:
    """Take further rules from the file ``path``; it counts more than the variable HEAPPROF_RULES."""
    global _chosen
    _chosen = path
    catalogue.cache_clear()


@functools.cache
def catalogue() -> Catalogue:
    """The rules. Raises UsageError that names the place in a file that is wrong."""
    found: dict[str, Rule] = {}
    named = environment.snapshot().get(VARIABLE)
    path = _chosen or (Path(named) if named else None)
    if path is not None:
        found |= read(path, "user")
    folder = resources.config("diagnosis.yaml").parent
    for file in sorted(folder.glob("diagnosis*.yaml")):
        if file.name != "diagnosis_codes.yaml":
            found |= {key: rule for key, rule in read(file, "built in").items() if key not in found}
    _check_references(found)
    return Catalogue(found)


def read(path: Path, origin: str) -> dict[str, Rule]:
    """The rules of one file. Raises UsageError."""
    shown = clean(str(path), 300) if origin == "user" else path.name
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise ValueError(f"larger than {_MOST_BYTES} bytes")
        content = yaml.load(text, Loader=loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"can't read the rules in {shown}: {clean(str(error), 300)}", hints=(FORM,)) from error
    if not isinstance(content, dict) or not content:
        raise UsageError(f"{shown} holds no list `rules`", hints=(FORM,))
    found: dict[str, Rule] = {}
    for section, entries in content.items():
        if section not in _SECTIONS:
            known = ", ".join(_SECTIONS)
            raise UsageError(f"{shown}: unknown section {clean(str(section), 60)!r}", hints=(f"known: {known}",))
        if not isinstance(entries, list):
            raise UsageError(f"{shown}: `{section}` must be a list", hints=(FORM,))
        for number, entry in enumerate(entries, start=1):
            rule = rule_of(entry, f"{shown}, {section} entry {number}", _SECTIONS[section], origin)
            if rule.id in found:
                raise UsageError(f"{shown}, {section} entry {number}: the id {rule.id!r} is there twice")
            found[rule.id] = rule
    return found


def _check_references(found: Mapping[str, Rule]) -> None:
    """Ids that a rule refers to must be there."""
    for rule in found.values():
        named = {*rule.before, *rule.condition.seen, *rule.condition.absent}
        for cause in rule.causes:
            if cause.likely_if:
                named |= {*cause.likely_if.seen, *cause.likely_if.absent}
        missing = sorted(named - set(found)) + sorted(rule.explained_by - set(found) - set(STAGES))
        if missing:
            where = f"rule {rule.id!r} ({rule.origin})"
            raise UsageError(f"{where} refers to {clean(missing[0], 60)!r}, which is no rule, signal or stage")
