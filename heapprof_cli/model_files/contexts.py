"""Collecting the distinct context binaries of a model: the same content counts once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import socs
from heapprof_cli.errors import ModelFileError
from heapprof_cli.file_hashes import sha256_of, sha256_of_part
from heapprof_cli.model_files import context_binary
from heapprof_cli.model_files.flatbuffer import Budget
from heapprof_cli.model_files.region import Region
from heapprof_cli.records import ContextFacts
from heapprof_cli.text import clean


@dataclass(frozen=True)
class Found:
    """What a file of one kind holds, before it becomes a ModelFacts."""

    kind: str
    contexts: tuple[ContextFacts, ...]
    delegates: int | None = None
    soc_id: int | None = None
    htp_arch: int | None = None
    profile_level: int | None = None
    online_prepare: bool | None = None
    backends: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def distinct(regions: Iterable[tuple[Region, str]]) -> tuple[ContextFacts, ...]:
    """The context binaries of ``regions`` (each with its name for messages), equal ones once, in order.

    Raises ModelFileError for the first that is damaged.
    """
    return tuple({context.sha256: context for context in _each_place_once(regions)}.values())


def _each_place_once(regions: Iterable[tuple[Region, str]]) -> Iterator[ContextFacts]:
    seen: set[tuple[Path, int, int]] = set()
    taken: dict[Path, int] = {}
    budget = Budget()
    for region, name in regions:
        place = (region.path, region.start, region.size)
        if place in seen:
            continue
        seen.add(place)
        taken[region.path] = taken.get(region.path, 0) + region.size
        if taken[region.path] > len(region.data):  # hashing overlapping parts could take for ever
            raise ModelFileError(f"{clean(region.path.name, 300)} is damaged: its context binaries overlap")
        yield _context(region, name, budget)


def _context(region: Region, name: str, budget: Budget) -> ContextFacts:
    binary = context_binary.read(region, name, budget)
    soc = socs.by_id(binary.soc_id)
    return ContextFacts(
        path=str(region.path),
        offset=region.start,
        size=region.size,
        sha256=_digest(region),
        soc=soc.name if soc else None,
        binary=binary,
    )


def _digest(region: Region) -> str:
    if region.start == 0 and region.size == len(region.data):
        return sha256_of(region.path)
    return sha256_of_part(region.path, region.start, region.size)
