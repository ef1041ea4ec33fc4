"""What is asked of a run's facts by ``run:`` in a rule, and whether they answer it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from heapprof_cli import socs
from heapprof_cli.diagnosis.records import RunFacts

_LISTS = ("soc", "model_soc", "signal", "heap_file")
_NUMBER_LISTS = ("htp_arch", "model_htp_arch", "exit_status")
_FLAGS = ("timed_out", "soc_differs", "arch_differs")
_BUILDS = ("qnn_build", "model_qnn_build")
_COMPARED = ("older", "same", "newer")
KEYS = (*_LISTS, *_NUMBER_LISTS, *_FLAGS, *_BUILDS, "build")


def check(run: Mapping[str, object]) -> None:
    """Raises ValueError that names what is wrong with a ``run:`` mapping."""
    for key, value in run.items():
        if key in _LISTS and not (isinstance(value, list) and value and all(isinstance(item, str) for item in value)):
            raise ValueError(f"run: {key}: must be a list of names")
        if key in _NUMBER_LISTS and not (isinstance(value, list) and value and all(type(v) is int for v in value)):
            raise ValueError(f"run: {key}: must be a list of numbers")
        if key in _FLAGS and not isinstance(value, bool):
            raise ValueError(f"run: {key}: must be true or false")
        if key in _BUILDS and not (isinstance(value, str) and re.fullmatch(r"(?:<|<=|=|>=|>)\d+(?:\.\d+){0,3}", value)):
            raise ValueError(f'run: {key}: must be a comparison such as "<2.30"')
        if key == "build" and value not in _COMPARED:
            raise ValueError(f"run: build: must be one of {', '.join(_COMPARED)}")
        if key not in KEYS:
            raise ValueError(f"run: unknown key {key!r}; known: {', '.join(KEYS)}")


def holds(run: Mapping[str, object] | None, facts: RunFacts) -> bool:
    """Whether every fact is known and as asked; a fact that is not known answers nothing."""
    return not run or all(_one(key, value, facts) for key, value in run.items())


def _one(key: str, wanted: object, facts: RunFacts) -> bool:
    if key == "soc_differs":
        return _differ(_family(facts.soc), _family(facts.model_soc)) is wanted
    if key == "arch_differs":
        return _differ(facts.htp_arch, facts.model_htp_arch) is wanted
    if key == "build":
        return _relation(facts) == wanted
    value = getattr(facts, key)
    if value is None:
        return False
    if key in _BUILDS:
        return _compared(str(value), str(wanted))
    if isinstance(wanted, list):
        names = [socs.family(str(item)) if key in ("soc", "model_soc") else item for item in wanted]
        return (_family(value) if key in ("soc", "model_soc") else value) in names
    return bool(value == wanted)


def _family(soc: str | None) -> str | None:
    return socs.family(soc) if soc else None


def _differ(one: object, other: object) -> bool | None:
    return None if one is None or other is None else one != other


def _version(build: str) -> tuple[int, ...]:
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", build)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def _relation(facts: RunFacts) -> str | None:
    """The libraries' build relative to the model's."""
    library, model = _version(facts.qnn_build or ""), _version(facts.model_qnn_build or "")
    if not library or not model:
        return None
    return "older" if library < model else "newer" if library > model else "same"


def _compared(build: str, comparison: str) -> bool:
    operator, wanted = re.match(r"([<>=]+)(.*)", comparison).groups()  # type: ignore[union-attr]
    numbers = tuple(int(part) for part in wanted.split("."))
    found = _version(build)[: len(numbers)]
    if not found:
        return False
    return {
        "<": found < numbers,
        "<=": found <= numbers,
        "=": found == numbers,
        ">=": found >= numbers,
        ">": found > numbers,
    }[operator]
