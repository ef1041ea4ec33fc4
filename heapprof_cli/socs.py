"""SoCs: names, QNN's numeric ids and HTP arches, from ``configs/socs.yaml``."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import yaml

from heapprof_cli import resources


@dataclass(frozen=True)
class Soc:
    """One SoC; ``htp_arch`` is 81 for V81."""

    name: str
    id: int
    htp_arch: int


@functools.cache
def all_socs() -> tuple[Soc, ...]:
    """Every known SoC."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content = yaml.load(resources.config("socs.yaml").read_text("utf-8"), Loader=loader)
    return tuple(Soc(**entry) for entry in content["socs"])


def by_id(soc_id: int | None) -> Soc | None:
    """The SoC with QNN's numeric id, or None."""
    return next((soc for soc in all_socs() if soc.id == soc_id), None)


def find(name: str) -> Soc | None:
    """The SoC of a name in any case; a variant such as SM8750P or SM8750-AC is its family's SM8750."""
    wanted = name.strip().upper()
    exact = next((soc for soc in all_socs() if soc.name == wanted), None)
    if exact is not None:
        return exact
    family = re.match(r"[A-Z]{2,3}[0-9]{4}", wanted)
    return next((soc for soc in all_socs() if family and soc.name == family[0]), None)


def family(name: str) -> str:
    """The family's name of a known SoC (SM8750P is SM8750), else the name in capitals."""
    found = find(name)
    return found.name if found else name.strip().upper()
