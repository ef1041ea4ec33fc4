"""What model files hold, as a table, as JSON, and as the differences of two."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence

from heapprof_cli.records import ContextFacts, GraphFacts, ModelFacts, TensorFacts
from heapprof_cli.render.json_result import SCHEMA_VERSION, model_identity
from heapprof_cli.text import plural, readable_bytes

_UNKNOWN = "unknown"


def models_json(models: Sequence[ModelFacts]) -> str:
    """``{"schema_version": 1, "models": [...]}`` of the command line's contract; unknown values are null."""
    fields = {"schema_version": SCHEMA_VERSION, "models": [model_fields(model) for model in models]}
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def model_fields(model: ModelFacts) -> dict[str, object]:
    """One model of the JSON."""
    return {
        **model_identity(model),
        "soc_model": model.soc_model,
        "profile_level": model.profile_level,
        "online_prepare": model.online_prepare,
        "contexts": [_context_fields(context) for context in model.contexts],
        "delegates": model.delegates,
        "warnings": list(model.warnings),
    }


def _context_fields(context: ContextFacts) -> dict[str, object]:
    binary = context.binary
    return {
        "sha256": context.sha256,
        "bytes": context.size,
        "soc": context.soc,
        "htp_arch": binary.htp_arch,
        "qnn_build": binary.qnn_build,
        "graphs": [_graph_fields(graph) for graph in binary.graphs],
        "soc_model": binary.soc_id,
        "core_api": binary.core_api,
        "backend_api": binary.backend_api,
        "blob_version": binary.blob_version,
        "offset": context.offset,
    }


def _graph_fields(graph: GraphFacts) -> dict[str, object]:
    return {
        "name": graph.name,
        "inputs": [_tensor_fields(tensor) for tensor in graph.inputs],
        "outputs": [_tensor_fields(tensor) for tensor in graph.outputs],
        "spill_fill_bytes": graph.spill_fill_bytes,
        "vtcm_bytes": graph.vtcm_bytes,
        "weight_bytes": graph.weight_bytes,
    }


def _tensor_fields(tensor: TensorFacts) -> dict[str, object]:
    return {"name": tensor.name, "dims": list(tensor.dims), "dtype": tensor.dtype, "bytes": tensor.bytes}


def models_text(models: Sequence[ModelFacts]) -> str:
    """A block of lines for each model."""
    return "\n".join("".join(f"{line}\n" for line in model_lines(model)) for model in models)


def model_lines(model: ModelFacts) -> Iterator[str]:
    """One model for people: facts, then each context with its graphs and tensors."""
    yield f"{model.name}: {_KINDS.get(model.kind, model.kind)}, {_size(model.size)}"
    yield from _aligned(
        [
            ("SoC", f"{model.soc or _UNKNOWN} (id {_shown(model.soc_model)}), HTP {_arch(model.htp_arch)}"),
            ("QNN build", model.qnn_build or _UNKNOWN),
            *_compiled(model),
            ("sha256", model.sha256),
            *(("warning", warning) for warning in model.warnings),
        ]
    )
    for number, context in enumerate(model.contexts, start=1):
        yield from _context_lines(number, context)


_KINDS = {"context_binary": "QNN context binary", "pte": "ExecuTorch program", "epcontext": "ONNX EPContext model"}


def _compiled(model: ModelFacts) -> Iterator[tuple[str, str]]:
    if model.delegates is not None:
        what = "delegate" if model.kind == "pte" else "EPContext node"
        yield "used by", f"{plural(model.delegates, what)}, {plural(len(model.contexts), 'distinct context')}"
    if model.profile_level is not None:
        yield "profile level", str(model.profile_level)
    if model.online_prepare is not None:
        yield "online_prepare", "yes" if model.online_prepare else "no"


def _context_lines(number: int, context: ContextFacts) -> Iterator[str]:
    binary = context.binary
    yield f"  context {number}: {_size(context.size)}, {plural(binary.graph_count, 'graph')}"
    yield (
        f"    {context.soc or _UNKNOWN}, HTP {_arch(binary.htp_arch)}, {binary.qnn_build or _UNKNOWN}, "
        f"API core {_shown(binary.core_api)} backend {_shown(binary.backend_api)} blob {_shown(binary.blob_version)}"
    )
    for graph in binary.graphs:
        yield f"    graph {graph.name}"
        sizes = (("spill-fill", graph.spill_fill_bytes), ("VTCM", graph.vtcm_bytes), ("weights", graph.weight_bytes))
        told = [f"{what} {_size(count)}" for what, count in sizes if count is not None]
        if told:
            yield f"      {', '.join(told)}"
        yield from _tensor_lines(graph)


def _tensor_lines(graph: GraphFacts) -> Iterator[str]:
    rows = [("in", tensor) for tensor in graph.inputs] + [("out", tensor) for tensor in graph.outputs]
    cells = [
        (side, tensor.name, tensor.dtype, " x ".join(map(str, tensor.dims)) or "scalar", _size(tensor.bytes))
        for side, tensor in rows
    ]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(4)]
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)]
        yield f"      {'  '.join(padded)}".rstrip()


def _aligned(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        yield f"  {label.ljust(width)}  {value}"


def differences_text(first: ModelFacts, second: ModelFacts) -> str:
    """The lines of the two models that differ, as a unified diff; empty when they hold the same."""
    before, after = list(model_lines(first)), list(model_lines(second))
    if before[1:] == after[1:]:
        return ""
    return "".join(
        f"{line}\n" for line in difflib.unified_diff(before, after, first.name, second.name, lineterm="", n=1)
    )


def differences_json(first: ModelFacts, second: ModelFacts) -> str:
    """Both models and the facts that differ: ``{"path": [first, second]}``."""
    old, new = model_fields(first), model_fields(second)
    fields = {
        "schema_version": SCHEMA_VERSION,
        "models": [old, new],
        "differences": {path: [a, b] for path, a, b in _differences("", old, new) if path != "name"},
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _differences(path: str, old: object, new: object) -> Iterator[tuple[str, object, object]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _differences(f"{path}.{key}" if path else key, old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from _differences(f"{path}[{index}]", a, b)
    elif old != new:
        yield path, old, new


def _size(count: int | None) -> str:
    if count is None:
        return "size unknown"
    return f"{count} bytes" if count < 1024 else f"{count} bytes ({readable_bytes(count)})"


def _arch(arch: int | None) -> str:
    return f"V{arch}" if arch else _UNKNOWN


def _shown(value: object) -> str:
    return _UNKNOWN if value is None else str(value)
