"""Telling model files apart by their content, and reading them without copying them into memory."""

from __future__ import annotations

import os
from pathlib import Path

from heapprof_cli import socs
from heapprof_cli.errors import ModelFileError
from heapprof_cli.file_hashes import sha256_of
from heapprof_cli.model_files import context_binary, epcontext, other_kinds, pte
from heapprof_cli.model_files.contexts import Found, distinct
from heapprof_cli.model_files.region import Region, mapped
from heapprof_cli.records import ContextFacts, ModelFacts
from heapprof_cli.text import clean

_CONTEXT_BINARY = "context_binary"


def read_model(path: str | os.PathLike[str]) -> ModelFacts:
    """What the model file at ``path`` holds. Raises ModelFileError with the reason when it can't be used."""
    file = Path(path)
    try:
        with mapped(file) as region:
            found = _found(region, file.name)
            return _facts(file, region.size, found)
    except OSError as error:
        raise ModelFileError(f"can't read the model {clean(str(path), 300)}: {error.strerror}") from error


def _found(region: Region, name: str) -> Found:
    if region.read(0, 16) == context_binary.SIGNATURE:
        return Found(_CONTEXT_BINARY, distinct([(region, name)]))
    if pte.is_program(region):
        return pte.read(region, name)
    if epcontext.is_model(region, name):
        return epcontext.read(region, name)
    raise other_kinds.refusal(region, name)


def _facts(file: Path, size: int, found: Found) -> ModelFacts:
    first = found.contexts[0].binary if found.contexts else None
    soc_id = (first.soc_id if first else None) or found.soc_id
    soc = socs.by_id(soc_id)
    return ModelFacts(
        path=str(file),
        name=clean(file.name, 300),
        kind=found.kind,
        sha256=_digest(file, size, found),
        size=size,
        soc=soc.name if soc else None,
        htp_arch=(first.htp_arch if first else None) or found.htp_arch,
        qnn_build=first.qnn_build if first else None,
        graph_count=sum(context.binary.graph_count for context in found.contexts),
        soc_model=soc_id,
        profile_level=found.profile_level,
        online_prepare=found.online_prepare,
        contexts=found.contexts,
        delegates=found.delegates,
        backends=found.backends,
        warnings=(*found.warnings, *_disagreements(found)),
    )


def _digest(file: Path, size: int, found: Found) -> str:
    """The file's SHA-256: a context binary's own one, where the file is nothing else, is known already."""
    whole = (str(file), 0, size)
    known = (context.sha256 for context in found.contexts if (context.path, context.offset, context.size) == whole)
    return next(known, None) or sha256_of(file)


def _disagreements(found: Found) -> list[str]:
    """Parts of one model that were not made for the same SoC, or not by the same QNN."""
    warnings = []
    if len(socs_of := sorted({_soc_of(context) for context in found.contexts})) > 1:
        warnings.append(f"its contexts were made for different SoCs: {', '.join(socs_of)}")
    if len(builds := sorted({context.binary.qnn_build or "unknown" for context in found.contexts})) > 1:
        warnings.append(f"its contexts were made by different QNN builds: {', '.join(builds)}")
    arches = {context.binary.htp_arch for context in found.contexts} - {None}
    if found.htp_arch is not None and arches and arches != {found.htp_arch}:
        shown = ", ".join(f"V{arch}" for arch in sorted(arch for arch in arches if arch is not None))
        warnings.append(f"its compile spec says HTP V{found.htp_arch}, its context {shown}")
    return warnings


def _soc_of(context: ContextFacts) -> str:
    return context.soc or f"id {context.binary.soc_id}"
