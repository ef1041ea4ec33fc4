"""ONNX models with EPContext nodes: QNN context binaries, embedded or in files beside the model.

Field numbers follow the published onnx.proto; the node's attributes are those of ONNX Runtime's
EPContext contract: ep_cache_context (bytes, or a path relative to the model), embed_mode (default 1),
main_context (default 1; 0 means that another node holds the context), source.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files.contexts import Found, distinct
from heapprof_cli.model_files.protobuf import FieldBudget, Message, ProtobufError, TooManyFields
from heapprof_cli.model_files.region import Region, mapped
from heapprof_cli.text import clean, plural

KIND = "epcontext"
_MODEL_GRAPH, _GRAPH_NODE = 7, 1
_NODE_OP, _NODE_ATTRIBUTE = 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_BYTES = 1, 3, 4
_OP = "EPContext"
_LONGEST_PATH = 4096
_MOST_FILES = 512
_WRITE_AGAIN = (
    "write it again: an onnxruntime session with the option ep.context_enable=1 makes the model and its context"
)


@dataclass
class _Node:
    """An EPContext node's attributes."""

    context: Region | None = None
    embedded: bool = True
    main: bool = True
    source: str = ""


def is_model(region: Region, name: str) -> bool:
    """Whether the file is an ONNX model: by its name, or by a first field `ir_version` before a graph."""
    if name.lower().endswith(".onnx"):
        return True
    if region.read(0, 1) != b"\x08":
        return False
    with contextlib.suppress(ProtobufError):
        return any(field.number == _MODEL_GRAPH for field in Message(region, FieldBudget(1000)).fields())
    return False


def read(region: Region, name: str) -> Found:
    """Raises ModelFileError with the reason: damaged, without a QNN context, or its context file is unusable."""
    try:
        nodes = list(_nodes(region))
    except TooManyFields:
        nodes = []  # a model of contexts has a few nodes: this one has far more, and they are operators
    except ProtobufError as error:
        raise ModelFileError(f"{clean(name, 300)} is a damaged ONNX model: {error}", hints=(_WRITE_AGAIN,)) from error
    if not nodes:
        raise ModelFileError(
            f"{clean(name, 300)} is an ONNX model without an EPContext node, so it holds no QNN context: heap "
            "profiling works only with contexts made from a binary",
            hints=("make a context of it: an onnxruntime session with the option ep.context_enable=1 writes one",),
        )
    ours = [node for node in nodes if not node.source or "qnn" in node.source.lower()]
    if not ours:
        raise ModelFileError(
            f"{clean(name, 300)} holds contexts of another backend ({clean(nodes[0].source, 60)}), not of QNN",
            hints=("compile it with onnxruntime's QNN execution provider",),
        )
    with contextlib.ExitStack() as stack:
        contexts = distinct(_contexts(stack, ours, region.path, name))
    if not contexts:
        raise _no_context(name)
    return Found(KIND, contexts, len(ours), warnings=tuple(_warnings(nodes, ours, len(contexts))))


def _nodes(region: Region) -> Iterator[_Node]:
    for graph in Message(region).messages(_MODEL_GRAPH):
        for node in graph.messages(_GRAPH_NODE):
            if node.text(_NODE_OP, 64) == _OP:
                yield _node(node)


def _node(message: Message) -> _Node:
    node = _Node()
    for attribute in message.messages(_NODE_ATTRIBUTE):
        name, number, content = "", 0, None
        for field in attribute.fields():
            if field.number == _ATTRIBUTE_NAME and field.region is not None:
                name = field.region.read(0, 64).decode("utf-8", "replace")
            elif field.number == _ATTRIBUTE_INT:
                number = field.value
            elif field.number == _ATTRIBUTE_BYTES:
                content = field.region
        if name == "ep_cache_context":
            node.context = content
        elif name == "embed_mode":
            node.embedded = number != 0
        elif name == "main_context":
            node.main = number != 0
        elif name == "source" and content is not None:
            node.source = content.read(0, 256).decode("utf-8", "replace")
    return node


def _contexts(stack: contextlib.ExitStack, nodes: list[_Node], model: Path, name: str) -> Iterator[tuple[Region, str]]:
    opened: dict[Path, Region] = {}
    for node in nodes:
        if node.context is None or node.context.size == 0:
            if node.main:
                raise _no_context(name)
            continue
        if node.embedded:
            yield node.context, f"the context in {name}"
            continue
        path = _beside(node.context, model, name)
        if path not in opened:
            if len(opened) >= _MOST_FILES:
                raise ModelFileError(f"{clean(name, 300)} refers to more than {_MOST_FILES} context files")
            opened[path] = stack.enter_context(mapped(path))
        yield opened[path], path.name


def _beside(reference: Region, model: Path, name: str) -> Path:
    """The context file that the model names. Raises ModelFileError when it leads out of the model's folder."""
    raw = reference.read(0, _LONGEST_PATH + 1)
    text = raw.decode("utf-8", "replace")
    shown = clean(text, 300)
    if "\0" in text or len(raw) > _LONGEST_PATH:
        raise ModelFileError(f"{clean(name, 300)} names a context file by no usable path: {shown}")
    folder = model.parent.resolve()
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a loop of links
        path = (folder / text).resolve()
        if path.is_relative_to(folder):
            if path.exists():
                return path
            raise ModelFileError(
                f"{clean(name, 300)} keeps its context in the file {shown}, which is missing beside it",
                hints=(f"put {shown} into the folder of {clean(name, 300)}; the two belong together",),
            )
    raise ModelFileError(
        f"{clean(name, 300)} names a context file outside its own folder: {shown}",
        hints=("only files inside the model's folder are read; move the file there and correct ep_cache_context",),
    )


def _no_context(name: str) -> ModelFileError:
    return ModelFileError(f"{clean(name, 300)} has an EPContext node without a context", hints=(_WRITE_AGAIN,))


def _warnings(nodes: list[_Node], ours: list[_Node], contexts: int) -> Iterator[str]:
    if len(nodes) > len(ours):
        yield f"{plural(len(nodes) - len(ours), 'EPContext node')} of another backend left out"
    if contexts < len(ours):
        yield f"{len(ours)} EPContext nodes share {plural(contexts, 'context')}: each distinct one is measured once"
