"""The table of SoCs, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from heapprof_cli.socs import Soc

_HEADINGS = ("SoC", "id", "HTP", "VTCM", "sold as", "also", "from")


def socs_json(socs: Sequence[Soc]) -> str:
    """``{"schema_version": 1, "socs": [...]}``; unknown values are null."""
    entries = [
        {
            "name": soc.name,
            "id": soc.id,
            "htp_arch": soc.htp_arch,
            "vtcm_mb": soc.vtcm_mb,
            "marketing_name": soc.marketing,
            "spellings": list(soc.spellings),
            "source": soc.source,
        }
        for soc in socs
    ]
    return json.dumps({"schema_version": 1, "socs": entries}, indent=2, ensure_ascii=False) + "\n"


def socs_text(socs: Sequence[Soc]) -> str:
    """A line for each SoC, in columns."""
    rows = [_HEADINGS, *map(_row, sorted(socs, key=lambda soc: (soc.htp_arch, soc.name)))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def _row(soc: Soc) -> tuple[str, ...]:
    vtcm = f"{soc.vtcm_mb} MB" if soc.vtcm_mb else "-"
    spellings = ", ".join(soc.spellings) or "-"
    return soc.name, str(soc.id), f"V{soc.htp_arch}", vtcm, soc.marketing or "-", spellings, soc.source
