"""ExecuTorch programs (.pte): every QNN delegate, what it was compiled for, and its context binary.

A FlatBuffer with identifier ET12; an extended header `eh00` at byte 8 tells where segments begin. Field
numbers follow the published schema/program.fbs of pytorch/executorch. The many values of a program (its
tensors) are never looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files import qnn_options
from heapprof_cli.model_files.context_binary import SIGNATURE
from heapprof_cli.model_files.contexts import Found, distinct
from heapprof_cli.model_files.flatbuffer import FlatBuffer, FlatBufferError, Table
from heapprof_cli.model_files.payload import unwrapped
from heapprof_cli.model_files.qnn_options import QnnOptions
from heapprof_cli.model_files.region import Region
from heapprof_cli.text import clean, plural

KIND = "pte"
IDENTIFIER = b"ET12"
_EXTENDED = b"eh00"
_PLANS, _INLINE_DATA, _SEGMENTS = 1, 3, 4
_DELEGATES = 7
_ID, _PROCESSED, _COMPILE_SPECS = 0, 1, 2
_LOCATION, _INDEX = 0, 1
_KEY, _VALUE = 0, 1
_BACKEND = "QnnBackend"
_SPEC_KEY = "qnn_compile_spec"
_EXPORT_AGAIN = "export the program again, or copy it again from where it was made"


@dataclass(frozen=True)
class _Layout:
    """Where the program's FlatBuffer ends and where its segments lie."""

    program_bytes: int
    segment_base: int


@dataclass(frozen=True)
class _Delegate:
    options: QnnOptions | None
    payload: Region


def is_program(region: Region) -> bool:
    """Whether the file says that it is an ExecuTorch program."""
    return region.read(4, 4) == IDENTIFIER


def read(region: Region, name: str) -> Found:
    """Raises ModelFileError with the reason when the program is damaged or has nothing to do with QNN."""
    try:
        delegates = tuple(_delegates(region, name))
    except FlatBufferError as error:
        raise _bad(name, str(error)) from error
    options = [delegate.options for delegate in delegates if delegate.options is not None]
    online = any(o.online_prepare for o in options)
    payloads = [unwrapped(delegate.payload, name) for delegate in delegates]
    if online:  # a graph to be compiled on the phone; seldom a context binary
        payloads = [payload for payload in payloads if payload.read(0, 16) == SIGNATURE]
    contexts = distinct((payload, _named(name)) for payload in payloads)
    first = options[0] if options else None
    levels = [o.profile_level for o in options]
    return Found(
        kind=KIND,
        contexts=contexts,
        delegates=len(delegates),
        soc_id=first.soc_id if first else None,
        htp_arch=first.htp_arch if first else None,
        profile_level=min(levels) if levels else None,
        online_prepare=online if options else None,
        backends=tuple(sorted({qnn_options.BACKENDS.get(o.backend, "unknown") for o in options})),
        warnings=tuple(_warnings(options, len(delegates), len(contexts), online)),
    )


def _named(name: str) -> str:
    return f"the QNN payload of {name}"


def _layout(region: Region, name: str) -> _Layout:
    head = region.read(8, 32)
    if head[:4] != _EXTENDED:
        return _Layout(region.size, 0)
    if len(head) < 24:
        raise _bad(name, "its header is cut off")
    length, program, base = struct.unpack_from("<IQQ", head, 4)
    segments = struct.unpack_from("<Q", head, 24)[0] if length >= 32 and len(head) == 32 else 0
    if program > region.size or base > region.size or base + segments > region.size:
        raise ModelFileError(
            f"{clean(name, 300)} is cut off: its header announces {max(program, base + segments)} bytes, "
            f"the file has {region.size}",
            hints=(_EXPORT_AGAIN,),
        )
    return _Layout(program, base)


def _delegates(region: Region, name: str) -> Iterator[_Delegate]:
    layout = _layout(region, name)
    program = FlatBuffer(region.data, region.start, region.start + layout.program_bytes).root()
    others = set()
    found = False
    for plan in program.tables(_PLANS):
        for delegate in plan.tables(_DELEGATES):
            backend = clean(delegate.text(_ID, 256) or "", 60)
            if backend == _BACKEND:
                found = True
                yield _Delegate(_options(delegate), _payload(region, layout, program, delegate, name))
            else:
                others.add(backend or "unnamed")
    if not found:
        raise _without_qnn(name, others)


def _options(delegate: Table) -> QnnOptions | None:
    for spec in delegate.tables(_COMPILE_SPECS):
        if spec.text(_KEY, 256) == _SPEC_KEY:
            return qnn_options.parse_options(spec.blob(_VALUE) or b"")
    return None


def _payload(region: Region, layout: _Layout, program: Table, delegate: Table, name: str) -> Region:
    place = delegate.table(_PROCESSED)
    if place is None:
        raise FlatBufferError("a QNN delegate does not say where its payload is")
    index = place.unsigned(_INDEX, 4, 0) or 0
    if place.unsigned(_LOCATION, 1, 0):
        segment = program.table_of(_SEGMENTS, index)
        offset, size = segment.unsigned(0, 8, 0) or 0, segment.unsigned(1, 8, 0) or 0
        payload = region.part(layout.segment_base + offset, size) if layout.segment_base else None
    else:
        first, size = program.table_of(_INLINE_DATA, index).blob_range(0) or (0, 0)
        payload = region.part(first - region.start, size)
    if payload is None:
        raise _bad(name, "a payload lies outside the file")
    if payload.size == 0:
        raise _bad(name, "a QNN delegate's payload is empty")
    return payload


def _warnings(options: list[QnnOptions], delegates: int, contexts: int, online: bool) -> Iterator[str]:
    if len(options) < delegates:
        yield f"{plural(delegates - len(options), 'QNN delegate')} without a compile spec"
    if options and not online and min(o.profile_level for o in options) == 0:
        yield (
            "compiled with profile level 0: ExecuTorch's own runner writes no heap file for it unless it is given "
            "--profile_level; heapprof's native runner measures it anyway"
        )
    if online:
        yield (
            "compiled with online_prepare: the phone makes the context from a graph, and heap "
            "profiling works only with contexts made from a binary"
        )
    if 0 < contexts < delegates:
        shared = f"{delegates} delegates share {plural(contexts, 'payload')}"
        yield f"{shared}: the native runner measures each distinct one once"
    for backend in sorted({o.backend for o in options} - {qnn_options.HTP}):
        yield f"a delegate is for the {qnn_options.BACKENDS.get(backend, 'unknown')} backend, not for HTP"


def _without_qnn(name: str, others: set[str]) -> ModelFileError:
    has = f"its delegates are for {', '.join(sorted(others)[:5])}" if others else "it has no delegate at all"
    return ModelFileError(
        f"{clean(name, 300)} is an ExecuTorch program without a QNN delegate: {has}",
        hints=(
            "lower the model with ExecuTorch's Qualcomm backend; only contexts on the HTP have a DSP heap to measure",
        ),
    )


def _bad(name: str, why: str) -> ModelFileError:
    return ModelFileError(f"{clean(name, 300)} is a damaged ExecuTorch program: {why}", hints=(_EXPORT_AGAIN,))
