#!/usr/bin/env python3
"""Measure `heapprof inspect` of a large context binary against Python that only imports the same modules.

    python scripts/bench_inspect.py [--pairs 9] [--megabytes 200] [--cache DIR]

The model is made with onnxruntime-qnn and kept in the cache folder. Prints medians, the ratio to
`python -c "import ..."`, and the peak RSS; the first inspection of a file also hashes it. Exit code 1
when the ratio is above --limit or the RSS above 64 MB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_runner import cached_model

_IMPORTS = (
    "import click, json, difflib, hashlib, mmap, platformdirs, yaml; "
    "import heapprof_cli.cli.main, heapprof_cli.cli.inspect, heapprof_cli.model_files, heapprof_cli.render.inspect"
)
_MOST_RSS = 64 * 1024 * 1024


def timed(command: list[str], environment: dict[str, str]) -> tuple[float, int]:
    """Seconds and peak RSS in bytes of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} failed")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--cache", type=Path, default=home / "heapprof" / "models")
    parser.add_argument("--limit", type=float, default=2.0)
    options = parser.parse_args()
    model = cached_model(options.megabytes, options.cache)
    inspect = [sys.executable, "-m", "heapprof_cli", "inspect", "--format", "json", str(model)]
    bare, warm, rss = [], [], 0
    with tempfile.TemporaryDirectory() as home_folder:
        environment = {**os.environ, "HOME": home_folder, "XDG_CACHE_HOME": home_folder}
        cold, rss = timed(inspect, environment)
        for _ in range(options.pairs):
            bare.append(timed([sys.executable, "-c", _IMPORTS], environment)[0])
            seconds, peak = timed(inspect, environment)
            warm.append(seconds)
            rss = max(rss, peak)
    ratio = statistics.median(warm) / statistics.median(bare)
    print(f"model {model.stat().st_size} bytes; imports: median {statistics.median(bare):.3f} s")
    print(f"inspect: first (hashes the file) {cold:.3f} s, later median {statistics.median(warm):.3f} s")
    print(f"ratio {ratio:.2f} (first {cold / statistics.median(bare):.2f}); peak RSS {rss / 1e6:.1f} MB")
    return 0 if ratio <= options.limit and rss <= _MOST_RSS else 1


if __name__ == "__main__":
    sys.exit(main())
