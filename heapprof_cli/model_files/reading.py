"""Telling model files apart by their content, and reading them without copying them into memory."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

from heapprof_cli import socs
from heapprof_cli.errors import ModelFileError
from heapprof_cli.file_hashes import sha256_of
from heapprof_cli.model_files import context_binary
from heapprof_cli.records import ModelFacts
from heapprof_cli.text import clean


def read_model(path: str | os.PathLike[str]) -> ModelFacts:
    """What the model file at ``path`` holds. Raises ModelFileError with the reason when it can't be used."""
    file = Path(path)
    name = file.name
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # before opening: a FIFO would block for ever
            raise ModelFileError(f"{clean(str(path), 300)} is not a regular file")
        with file.open("rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            if size == 0:
                raise ModelFileError(
                    f"{clean(name, 300)} is empty (0 bytes)", hints=("make or copy the model file again",)
                )
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
                _refuse_other_kinds(data, name)
                facts = context_binary.read(data, name)
        digest = sha256_of(file)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path, or mmap's refusal
        raise ModelFileError(
            f"can't read the model {clean(str(path), 300)}: {getattr(error, 'strerror', None) or error}",
            hints=("check the path and its permissions",),
        ) from error
    soc = socs.by_id(facts.soc_id)
    return ModelFacts(
        path=str(file),
        name=clean(name, 300),
        kind="context_binary",
        sha256=digest,
        size=size,
        soc=soc.name if soc else None,
        htp_arch=facts.htp_arch,
        qnn_build=facts.qnn_build,
        graph_count=facts.graph_count,
    )


def _refuse_other_kinds(data: mmap.mmap, name: str) -> None:
    if data[:16] == context_binary.SIGNATURE:
        return
    shown = clean(name, 300)
    what, hint = _other_kind(bytes(data[:64]), name.lower())
    raise ModelFileError(f"{shown} is no QNN context binary: {what}", hints=(hint,))


def _other_kind(head: bytes, name: str) -> tuple[str, str]:
    if head[4:8] == b"ET12":
        return (
            "it is an ExecuTorch program (.pte)",
            "this version measures context binaries; extract the program's QNN payload into a .bin",
        )
    if head[:4] == bytes.fromhex("cdab7856"):
        return (
            "it is an ExecuTorch QNN payload: a context binary behind a 256 byte prefix",
            "cut the first 256 bytes off",
        )
    if head[:4] == b"\x7fELF":
        return (
            "it is a shared library (a QNN model library?)",
            "make a context binary from it with qnn-context-binary-generator",
        )
    if head[4:8] == b"TFL3":
        return ("it is a TensorFlow Lite model", "convert it to a QNN context binary first")
    if head[:2] == b"PK":
        return (
            "it is a zip archive (a .dlc or .aar?)",
            "make a context binary from it with qnn-context-binary-generator",
        )
    if name.endswith(".onnx"):
        return (
            "it is an ONNX model",
            "make a context binary of it: an onnxruntime session with the option ep.context_enable=1 writes one",
        )
    return (
        "it does not start with a context binary's signature",
        "make one with qnn-context-binary-generator, or pass the .bin that your converter wrote",
    )
