"""Files that hold no context binary: what they are, why that can't be measured, and what to make of them."""

from __future__ import annotations

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files.payload import MAGIC
from heapprof_cli.model_files.region import Region
from heapprof_cli.text import clean

_WHY = "heap profiling works only with contexts made from a binary"
_GENERATOR = "make a context binary of it with qnn-context-binary-generator"


def refusal(region: Region, name: str) -> ModelFileError:
    """The error for a file that is none of the kinds that can be measured."""
    what, hint = _explained(region, name.lower())
    return ModelFileError(f"{clean(name, 300)} is no QNN context binary: {what}", hints=(hint,))


def _explained(region: Region, name: str) -> tuple[str, str]:
    head = region.read(0, 16)
    if head[:4] == MAGIC:
        return (
            "it is an ExecuTorch QNN payload: a context binary behind a 256 byte prefix",
            "pass the .pte that it came from, or cut the first 256 bytes off",
        )
    if head[:4] == b"\x7fELF":
        return (
            f"it is a shared library; a QNN model library builds its graph on the phone, and {_WHY}",
            f"{_GENERATOR} --model THIS.so --backend libQnnHtp.so",
        )
    if head[4:8] == b"TFL3":
        return (
            f"it is a TensorFlow Lite model, which is compiled on the phone; {_WHY}",
            "convert it with qnn-tflite-converter (or qairt-converter), then qnn-context-binary-generator",
        )
    if head[:2] == b"PK":
        return _archive(region, name)
    return (
        "it does not start with a context binary's signature",
        "make one with qnn-context-binary-generator, or pass the .bin that your converter wrote",
    )


def _archive(region: Region, name: str) -> tuple[str, str]:
    if name.endswith(".dlc") or region.find(b"model.params", 0, 4096) >= 0 or region.find(b".dlc", 0, 4096) >= 0:
        return (
            f"it is a DLC, a graph that is compiled on the phone; {_WHY}",
            f"{_GENERATOR} --dlc_path THIS.dlc --backend libQnnHtp.so",
        )
    if name.endswith(".aar"):
        return (
            "it is an Android archive (.aar) of libraries, not a model",
            "pass it with --qnn-libs, and a context binary as the model",
        )
    return "it is a zip archive", "unpack it and pass the context binary in it"
