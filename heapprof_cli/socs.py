"""SoCs: names, QNN's numeric ids and HTP arches, from ``configs/socs.yaml`` and a file of the user's."""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

from heapprof_cli import environment, resources
from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

VARIABLE = "HEAPPROF_SOCS"
_NUMBERS = {"id": (1, 100_000), "htp_arch": (1, 999), "vtcm_mb": (1, 1024)}
_chosen: Path | None = None


@dataclass(frozen=True)
class Soc:
    """One SoC; ``htp_arch`` is 81 for V81. ``spellings``: other names in ``ro.soc.model`` of the same SoC."""

    name: str
    id: int
    htp_arch: int
    vtcm_mb: int | None = None
    marketing: str | None = None
    spellings: tuple[str, ...] = ()
    source: str = "built in"


def use(path: Path | None) -> None:
    """Take further SoCs from the file ``path``; it counts more than the variable HEAPPROF_SOCS."""
    global _chosen
    _chosen = path
    all_socs.cache_clear()


@functools.cache
def all_socs() -> tuple[Soc, ...]:
    """Every known SoC. Raises UsageError that names the place in a user's file that is wrong."""
    known = {soc.name: soc for soc in _read(resources.config("socs.yaml"), "built in")}
    named = environment.snapshot().get(VARIABLE)
    path = _chosen or (Path(named) if named else None)
    if path is not None:
        known |= {soc.name: soc for soc in _read(path, "user")}
    return tuple(known.values())


def _read(path: Path, source: str) -> list[Soc]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    shown = clean(str(path), 300)
    try:
        content = yaml.load(path.read_text("utf-8"), Loader=loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"can't read the SoCs in {shown}: {clean(str(error), 300)}", hints=(_FORM,)) from error
    entries = content.get("socs") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise UsageError(f"{shown} holds no list `socs`", hints=(_FORM,))
    return [_soc(entry, f"{shown}, entry {number}", source) for number, entry in enumerate(entries, start=1)]


_FORM = "the form is `socs: [{name: SM8850, id: 87, htp_arch: 81}]`; vtcm_mb, marketing and spellings may be added"


def _soc(entry: object, place: str, source: str) -> Soc:
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: not a mapping", hints=(_FORM,))
    known = [field.name for field in fields(Soc) if field.name != "source"]
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise UsageError(f"{place}: unknown key {clean(str(key), 60)!r}", hints=(hint,))
    name = entry.get("name")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{2,32}", name):
        raise UsageError(f"{place}: 'name' must be a name such as SM8850", hints=(_FORM,))
    for key, (least, most) in _NUMBERS.items():
        value = entry.get(key)
        if (value is None and key == "vtcm_mb") or (type(value) is int and least <= value <= most):
            continue
        raise UsageError(f"{place} ({name}): '{key}' must be a number from {least} to {most}", hints=(_FORM,))
    spellings = entry.get("spellings") or []
    if not isinstance(spellings, list) or not all(isinstance(spelling, str) for spelling in spellings):
        raise UsageError(f"{place} ({name}): 'spellings' must be a list of names", hints=(_FORM,))
    marketing = entry.get("marketing")
    return Soc(
        name=name.upper(),
        id=entry["id"],
        htp_arch=entry["htp_arch"],
        vtcm_mb=entry.get("vtcm_mb"),
        marketing=clean(str(marketing), 80) if marketing else None,
        spellings=tuple(clean(spelling, 40).upper() for spelling in spellings),
        source=source,
    )


def by_id(soc_id: int | None) -> Soc | None:
    """The SoC with QNN's numeric id, or None."""
    return next((soc for soc in all_socs() if soc.id == soc_id), None)


def find(name: str) -> Soc | None:
    """The SoC of a name in any case; a variant such as SM8750P or SM8750-AC is its family's SM8750."""
    wanted = name.strip().upper()
    exact = next((soc for soc in all_socs() if wanted in (soc.name, *soc.spellings)), None)
    if exact is not None:
        return exact
    starts = [
        (len(spelling), soc)
        for soc in all_socs()
        for spelling in (soc.name, *soc.spellings)
        if wanted.startswith(spelling) and not wanted[len(spelling)].isdigit()
    ]
    return max(starts, key=lambda start: start[0])[1] if starts else None


def family(name: str) -> str:
    """The family's name of a known SoC (SM8750P is SM8750), else the name in capitals."""
    found = find(name)
    return found.name if found else name.strip().upper()


def variant_note(name: str | None) -> str | None:
    """What to tell when a phone's SoC is not known by its own name but by its family's or another spelling."""
    found = find(name) if name else None
    if name is None or found is None or found.name == name.strip().upper():
        return None
    return f"the phone says {clean(name, 40)}: taken as {found.name} (HTP V{found.htp_arch})"
