#!/usr/bin/env python3
"""Run damaged copies of a good context binary through the runner and the real x86 library.

    python scripts/damage_models.py [--count 1000] [--first 0] [--libraries DIR] [--model FILE]

Every copy (its damage, 1 byte to 8 KB, follows from its number alone) has to end with a result or a
clean, placed error: no hang, no lost status file, no crash of the supervising parent, no leftover.
Prints a count of how they ended; exit code 1 when one ended badly.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACED = {0: {"done"}, 22: {"failed"}, 23: {"failed"}, 24: {"failed"}, 30: {"crashed"}, 31: {"timed_out"}}
TIME_LIMIT = 20


def damaged(data: bytes, number: int) -> bytes:
    """The copy with this number: a run of random bytes somewhere, anywhere in the file."""
    rng = random.Random(number)
    size = min(len(data), int(2 ** rng.uniform(0, 13)))
    at = rng.randrange(len(data) - size + 1)
    return data[:at] + rng.randbytes(size) + data[at + size :]


def judge(runner: Path, libraries: Path, model: Path, folder: Path) -> tuple[str, str | None]:
    """How a run of ``model`` ended in words, and what is wrong with that (None: nothing)."""
    status_path = folder / "status.json"
    status_path.unlink(missing_ok=True)
    command: list[str | Path] = [
        runner,
        f"--backend_library={libraries / 'libQnnHtp.so'}",
        f"--system_library={libraries / 'libQnnSystem.so'}",
        f"--model={model}",
        f"--status_path={status_path}",
        f"--time_limit={TIME_LIMIT}",
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=3 * TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return "hang", "the runner outlived its own time limit"
    try:
        status = json.loads(status_path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return "no status", f"the status file is lost: {error}"
    how = f"{status['state']} in {status['stage']}" if done.returncode else "result"
    if status["error"] and status["error"]["code"]:
        how += f", code {status['error']['code']}"
    if status["signal_name"]:
        how += f", {status['signal_name']}"
    if status["state"] not in PLACED.get(done.returncode, set()):
        return how, f"exit code {done.returncode} with state {status['state']}"
    if done.returncode == 31:
        return how, "it ran into the time limit"
    if status["exit_code"] != done.returncode or bool(status["error"]) != bool(done.returncode):
        return how, "the status file and the exit code disagree"
    if list(folder.glob("*.tmp")):
        return how, "a temporary file was left"
    return how, None


def check(numbers: range, model: Path, runner: Path, libraries: Path) -> tuple[collections.Counter[str], list[str]]:
    """Runs these copies; how they ended, and the complaints."""
    data = model.read_bytes()
    ends: collections.Counter[str] = collections.Counter()
    complaints = []
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "damaged.bin"
        for number in numbers:
            copy.write_bytes(damaged(data, number))
            how, wrong = judge(runner, libraries, copy, Path(scratch))
            ends[how] += 1
            if wrong is not None:
                complaints.append(f"copy {number}: {how}: {wrong}")
    return ends, complaints


def real_libraries() -> Path:
    """The folder of the real libraries that the package onnxruntime-qnn carries."""
    spec = importlib.util.find_spec("onnxruntime_qnn")
    if spec is None or spec.origin is None:
        sys.exit("onnxruntime-qnn is missing: install the extra 'test', or give --libraries")
    return Path(spec.origin).parent


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--libraries", type=Path)
    parser.add_argument("--model", type=Path, default=ROOT / "device_bin/demo/conv_sm8850_v81_qnn2.51.bin")
    parser.add_argument("--runner", type=Path, default=ROOT / "device_bin/build/linux-x86_64/heapprof_runner")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.count)
    libraries = options.libraries or real_libraries()
    ends, complaints = check(numbers, options.model.resolve(), options.runner.resolve(), libraries.resolve())
    for how, count in ends.most_common():
        print(f"{count:6} {how}")
    for complaint in complaints:
        print(complaint)
    print(f"{options.count} damaged copies, {len(complaints)} of them ended badly")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
