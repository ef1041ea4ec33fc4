#!/usr/bin/env python3
"""Run three models on 4 threads for 200 cycles and check the accounting and the memory.

    python scripts/soak_runner.py [--cycles 200] [--standin-only]

Once on the stand-in, whose memory shows the runner's own, and once on the stand-in chained to the
real x86 library. The simulated leak of 4096 bytes a cycle has to come out exactly, in every cycle.
The runner's resident memory may vary by 64 KB over the second half of the cycles. The real library
keeps thread stacks and buffers of 5.5 MB in its own and malloc's pools, taken and given back in
steps: its runs may vary by two of them. Exit code 1 when one of this fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "device_bin" / "build" / "linux-x86_64"
NAMES = ("conv_sm8850_v81_qnn2.51.bin", "two_graphs_sm8850_v81_qnn2.51.bin", "three_in_two_out_qnn2.51.bin")
LEAK, BEFORE = 4096, 928212
OWN_LIMIT, REAL_LIMIT = 64 * 1024, 11 * 1024 * 1024


def real_library() -> Path:
    """The real libQnnHtp.so that the package onnxruntime-qnn carries."""
    spec = importlib.util.find_spec("onnxruntime_qnn")
    if spec is None or spec.origin is None:
        sys.exit("onnxruntime-qnn is missing: install the extra 'test', or give --standin-only")
    return Path(spec.origin).parent / "libQnnHtp.so"


def soak(cycles: int, chain: Path | None, limit: int) -> bool:
    """One run; prints what it showed; true when all is as it must be."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "libraries"
        shutil.copytree(BUILT / "standin", folder)
        conf = f"leak_per_cycle = {LEAK}\n" + (f"chain = {chain}\n" if chain else "")
        (folder / "standin.conf").write_text(conf)
        command: list[str | Path] = [BUILT / "heapprof_runner", f"--cycles={cycles}", "--threads=4", "--log_level=1"]
        command += [f"--model={ROOT / 'tests/models/good' / name}" for name in NAMES]
        command += [f"--backend_library={folder}/libQnnHtp.so", f"--system_library={folder}/libQnnSystem.so"]
        outputs = ("heap_profiling_path", "heap_series_path", "memory_ledger_path", "status_path")
        command += [f"--{flag}={scratch}/{flag}" for flag in outputs]
        done = subprocess.run(command, capture_output=True, check=False)
        series = (Path(scratch) / "heap_series_path").read_text().splitlines()[1:]
        ledger = [json.loads(line) for line in (Path(scratch) / "memory_ledger_path").read_text().splitlines()]
    wanted = [f"{i},{BEFORE + LEAK * (i - 1)},{BEFORE + LEAK * i}" for i in range(1, cycles + 1)]
    sizes = [row["rss_bytes"] for row in ledger if row["checkpoint"] == "after_free"][cycles // 2 :]
    span, growth = max(sizes) - min(sizes), sizes[-1] - sizes[0]
    print(f"{'chained to the real library' if chain else 'stand-in'}: exit code {done.returncode}")
    print(f"  slope of {LEAK} bytes exact in {sum(a == b for a, b in zip(series, wanted, strict=False))} of {cycles}")
    print(f"  resident memory over the last {len(sizes)} cycles: {sizes[-1]} at the end, span {span}, growth {growth}")
    return done.returncode == 0 and series == wanted and span <= limit


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--standin-only", action="store_true")
    options = parser.parse_args()
    good = soak(options.cycles, None, OWN_LIMIT)
    if not options.standin_only:
        good = soak(options.cycles, real_library(), REAL_LIMIT) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
