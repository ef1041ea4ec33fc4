"""Runs a context binary through onnxruntime-qnn: a reference for the runner's outputs.

    python ort_reference.py MODEL.bin GRAPH ELEMENT_TYPE FOLDER INPUT=DIMS... -- OUTPUT=DIMS...

Writes FOLDER/INPUT.raw (random, fixed seed) and FOLDER/OUTPUT.raw. A process of its own: it loads
the vendor's libraries.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper, save


def tensors(words: list[str]) -> dict[str, list[int]]:
    pairs = (word.split("=") for word in words)
    return {name: [int(size) for size in dims.split(",")] for name, dims in pairs}


def wrap(model: Path, graph: str, kind: int, ins: dict, outs: dict, folder: Path) -> Path:
    """An ONNX model whose only node is the context binary."""
    node = helper.make_node(
        "EPContext",
        list(ins),
        list(outs),
        name=graph,
        domain="com.microsoft",
        main_context=1,
        embed_mode=1,
        ep_cache_context=model.read_bytes(),
        source="qnn",
        partition_name=graph,
    )
    values = [[helper.make_tensor_value_info(n, kind, d) for n, d in side.items()] for side in (ins, outs)]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(helper.make_graph([node], "g", *values), opset_imports=opsets, ir_version=9)
    path = folder / "wrapped.onnx"
    save(made, path)
    return path


def session(path: Path) -> onnxruntime.InferenceSession:
    onnxruntime.register_execution_provider_library("qnn", onnxruntime_qnn.get_library_path())
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "qnn"]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices[:1], {"backend_path": onnxruntime_qnn.get_qnn_htp_path()})
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return onnxruntime.InferenceSession(path, sess_options=options)


def main() -> None:
    model, graph, element, folder = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    middle = sys.argv.index("--")
    ins, outs = tensors(sys.argv[5:middle]), tensors(sys.argv[middle + 1 :])
    random = numpy.random.default_rng(7)
    feeds = {}
    for name, dims in ins.items():
        if element == "float32":
            feeds[name] = random.standard_normal(dims).astype(numpy.float32)
        else:
            feeds[name] = random.integers(0, 256, dims).astype(numpy.uint8)
        feeds[name].tofile(folder / f"{name}.raw")
    kind = TensorProto.FLOAT if element == "float32" else TensorProto.UINT8
    results = session(wrap(model, graph, kind, ins, outs, folder)).run(list(outs), feeds)
    for name, value in zip(outs, results, strict=True):
        value.tofile(folder / f"{name}.raw")


if __name__ == "__main__":
    main()
