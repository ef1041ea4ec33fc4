#!/usr/bin/env python3
"""Measure what heap profiling, ledger and status cost the runner: paired runs on the real x86 library.

    python scripts/bench_runner.py [--pairs 15] [--megabytes 50] [--cache DIR]

Each pair runs the runner once with all three on and once with all three off, in changing order, on a
model of the size asked for, made with onnxruntime-qnn and kept in the cache folder. Both runs go
through the stand-in chained to the real library, which alone can't profile DSP memory on x86: real
contexts and executions, simulated heap events. Prints the median of the pairs' ratios; exit code 1
when it is above --limit.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "device_bin" / "build" / "linux-x86_64"
_ON = ("heap_profiling_path", "memory_ledger_path", "status_path")


def make_model(megabytes: int, folder: Path) -> Path:
    """A context binary of about this size: one quantized matrix product for SM8850. Runs in this process."""
    import numpy
    import onnxruntime
    import onnxruntime_qnn
    from onnx import TensorProto, helper, numpy_helper, save

    width = int((megabytes * 1e6) ** 0.5) // 64 * 64
    weights = numpy.random.default_rng(1).integers(-127, 128, (width, width), dtype=numpy.int8)
    zero = {"x": numpy.uint8(128), "w": numpy.int8(0), "y": numpy.uint8(128)}
    constants = [numpy_helper.from_array(weights, "weights")]
    for name, scale in (("x", 0.02), ("w", 0.01), ("y", 0.5)):
        constants.append(numpy_helper.from_array(numpy.float32(scale), f"{name}_scale"))
        constants.append(numpy_helper.from_array(numpy.array(zero[name]), f"{name}_zero"))

    def node(kind: str, given: str, made: str, name: str) -> object:
        return helper.make_node(kind, [given, f"{name}_scale", f"{name}_zero"], [made])

    nodes = [
        node("QuantizeLinear", "x", "x8", "x"),
        node("DequantizeLinear", "x8", "xd", "x"),
        node("DequantizeLinear", "weights", "wd", "w"),
        helper.make_node("MatMul", ["xd", "wd"], ["product"]),
        node("QuantizeLinear", "product", "y8", "y"),
        node("DequantizeLinear", "y8", "y", "y"),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", [ends[0]], [ends[1]], constants)
    source = folder / "source.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), source)
    onnxruntime.register_execution_provider_library("qnn", onnxruntime_qnn.get_library_path())
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "qnn"]
    options = onnxruntime.SessionOptions()
    for key, value in (("enable", "1"), ("embed_mode", "0"), ("file_path", str(folder / "context.onnx"))):
        options.add_session_config_entry(f"ep.context_{key}", value)
    backend = {"backend_path": onnxruntime_qnn.get_qnn_htp_path(), "htp_arch": "81", "soc_model": "87"}
    options.add_provider_for_devices(devices[:1], backend)
    onnxruntime.InferenceSession(source, sess_options=options)
    (made,) = folder.glob("*.bin")
    return made


def cached_model(megabytes: int, cache: Path) -> Path:
    """The model, made by a process of its own when it isn't there yet."""
    place = cache / f"matmul_{megabytes}mb.bin"
    if not place.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            code = f"import bench_runner, pathlib; bench_runner.make_model({megabytes}, pathlib.Path({scratch!r}))"
            environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
            subprocess.run([sys.executable, "-c", code], check=True, env=environment, stdout=subprocess.DEVNULL)
            (made,) = Path(scratch).glob("*.bin")
            made.rename(place)
    return place


def chained_libraries(folder: Path) -> Path:
    """The stand-in, chained to the real library of the package onnxruntime-qnn."""
    spec = importlib.util.find_spec("onnxruntime_qnn")
    if spec is None or spec.origin is None:
        sys.exit("onnxruntime-qnn is missing: install the extra 'test'")
    made = folder / "libraries"
    shutil.copytree(BUILT / "standin", made)
    (made / "standin.conf").write_text(f"chain = {Path(spec.origin).parent / 'libQnnHtp.so'}\n")
    return made


def cpu_seconds() -> float:
    """Processor time of all ended child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_once(model: Path, libraries: Path, folder: Path, on: bool) -> tuple[float, float]:
    """Seconds of one run: on the wall clock, and of processor time (which a busy machine blurs less)."""
    command: list[str | Path] = [BUILT / "heapprof_runner", f"--model={model}", "--log_level=1"]
    command += [f"--backend_library={libraries / 'libQnnHtp.so'}", f"--system_library={libraries / 'libQnnSystem.so'}"]
    command += [f"--{flag}={folder / flag}" for flag in _ON if on]
    start, cpu = time.perf_counter(), cpu_seconds()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start, cpu_seconds() - cpu


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--cache", type=Path, default=home / "heapprof" / "models")
    parser.add_argument("--limit", type=float, default=1.05, help="largest ratio that passes (default 1.05)")
    options = parser.parse_args()
    model = cached_model(options.megabytes, options.cache)
    ratios, cpu_ratios, offs = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        libraries = chained_libraries(folder)
        run_once(model, libraries, folder, on=True)
        for pair in range(options.pairs):
            seconds = {on: run_once(model, libraries, folder, on) for on in ((True, False), (False, True))[pair % 2]}
            ratios.append(seconds[True][0] / seconds[False][0])
            cpu_ratios.append(seconds[True][1] / seconds[False][1])
            offs.append(seconds[False][0])
    ratio = statistics.median(ratios)
    print(f"model {model.stat().st_size} bytes; {options.pairs} pairs; off: median {statistics.median(offs):.3f} s")
    print(f"on/off, wall time: median {ratio:.4f}, lowest {min(ratios):.4f}, highest {max(ratios):.4f}")
    print(f"on/off, processor time: median {statistics.median(cpu_ratios):.4f}")
    return 0 if ratio <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
