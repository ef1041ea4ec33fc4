"""A model's context binaries as files of their own, named by their content, for as long as they are needed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from heapprof_cli.errors import ModelFileError
from heapprof_cli.records import ContextFacts, ModelFacts, Payload
from heapprof_cli.text import clean

_BLOCK = 1 << 20


def refuse_unmeasurable(model: ModelFacts) -> None:
    """Raises ModelFileError when a readable model holds no context binary to measure."""
    if model.online_prepare:
        raise ModelFileError(
            f"{model.name} was compiled with online_prepare: its context is made on the phone from a graph, and heap "
            "profiling needs a context made from a binary",
            hints=("export it again without online_prepare (ExecuTorch: online_prepare=False, no --online_prepare)",),
        )
    if not model.contexts:
        raise ModelFileError(f"{model.name} holds no context binary", hints=("export or convert it again",))


@contextlib.contextmanager
def extracted(models: Sequence[ModelFacts]) -> Iterator[tuple[Payload, ...]]:
    """Every distinct context binary of each model, as files; copies are removed at the end.

    A context binary that is a file already is used where it lies. Raises ModelFileError when a file
    changed since it was read, or there is no space for the copies.
    """
    with contextlib.ExitStack() as stack:
        folder: Path | None = None
        payloads = []
        for model in models:
            refuse_unmeasurable(model)
            for number, context in enumerate(model.contexts, start=1):
                name = model.name if len(model.contexts) == 1 else f"{model.name} (context {number})"
                path = Path(context.path)
                if context.offset or context.size != _size(path, model.name):
                    folder = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heapprof-")))
                    path = _copied(context, folder, model.name)
                payloads.append(Payload(name, str(path), context.sha256, context.size, context.binary.qnn_build))
        yield tuple(payloads)


def _size(path: Path, name: str) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ModelFileError(f"{name} can't be read any more: {error.strerror}") from error


def _copied(context: ContextFacts, folder: Path, name: str) -> Path:
    target = folder / f"{context.sha256}.bin"
    if target.exists():
        return target
    try:
        with open(context.path, "rb") as source, target.open("wb") as copy:
            source.seek(context.offset)
            left = context.size
            while left and (block := source.read(min(_BLOCK, left))):
                copy.write(block)
                left -= len(block)
    except OSError as error:
        free = shutil.disk_usage(folder).free
        raise ModelFileError(
            f"can't copy the context of {name} out into {clean(str(folder), 200)}: {error.strerror}",
            hints=(f"{context.size} bytes are needed there, {free} are free; TMPDIR chooses another place",),
        ) from error
    if left:
        raise ModelFileError(f"{name} became shorter while it was read", hints=("is it still being written?",))
    return target
