#!/usr/bin/env python3
"""Measure the history with 100,000 results: keeping one, and asking for some.

    python scripts/bench_history.py [--results 100000] [--repeats 9]

Prints the median seconds of an insert (aim: at most 5 ms) and of `heapprof history` with filters beyond
`heapprof --version`, which is the peer (aim: at most 0.3 s more). Exit code 1 when an aim is missed.
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

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from heapprof_cli.history import Filters, opened, record  # noqa: E402
from tests.history.made_results import result  # noqa: E402

_INSERT, _QUERY = 0.005, 0.3
QUERIES = {
    "newest 20": [],
    "one model, a month": ["--model", "model_7.bin", "--since", "2026-01-03", "--until", "2026-01-20"],
    "a pattern that fits none": ["--model", "nothing*"],
    "SoC and phone": ["--soc", "sm8850", "--phone", "phone-1"],
}


def seconds(words: list[str], place: Path) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "heapprof_cli", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "HEAPPROF_HISTORY": str(place)})
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "history.db"
        with opened(place) as store:
            for first in range(0, options.results, 1000):
                made = (_one(number) for number in range(first, first + 1000))
                store.add_all(made)
            count = store.count(Filters())
        inserts = []
        for number in range(100):
            document = _one(options.results + number)
            start = time.perf_counter()
            record(place, document)  # opens and closes the file, as a run does
            inserts.append(time.perf_counter() - start)
        insert = statistics.median(inserts)
        print(f"{count} results, {place.stat().st_size / 1e6:.0f} MB; insert: median {1000 * insert:.2f} ms, "
              f"slowest {1000 * max(inserts):.1f} ms")  # fmt: skip
        worst = 0.0
        for name, words in QUERIES.items():
            pairs = [
                (seconds(["history", *words], place), seconds(["--version"], place)) for _ in range(options.repeats)
            ]
            ours, peer = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
            worst = max(worst, ours - peer)
            print(f"{name:<25} {ours:.3f} s, start-up {peer:.3f} s: {ours - peer:.3f} s more, ratio {ours / peer:.2f}")
    return int(insert > _INSERT or worst > _QUERY)


def _one(number: int) -> dict[str, object]:
    name = f"model_{number % 50}.bin"
    return result(
        number, difference=number % 5000, made_as=number, model=[{"name": name, "sha256": f"{number % 50:064x}"}]
    )


if __name__ == "__main__":
    sys.exit(main())
