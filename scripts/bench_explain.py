#!/usr/bin/env python3
"""Measure `heapprof explain` of big logs against `grep -c -i -E` for a few words of failures in the same file.

    python scripts/bench_explain.py [--megabytes 100] [--repeats 3]

Logs: ordinary logcat text with a failure at its end, failures from end to end, one line of half the size, lines that
nearly match, all the same and all different. Prints medians, the ratio to grep, and the peak RSS; exit code 1 when a
log takes more than 5 s or 150 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.diagnosis.ordinary import logcat  # noqa: E402

_MOST_SECONDS, _MOST_RSS = 5.0, 150 * 10**6
_FAILURE = (
    "[ERROR] [Qnn ExecuTorch]: QnnDsp <E> fastrpc memory map for fd: {n} with length: 811597824 failed with error: "
    "0x1\n"
    "[ERROR] [Qnn ExecuTorch]: QnnDsp <E> Failed to map weights buffer to device!\n"
    "[ERROR] [Qnn ExecuTorch]: Can't create context from binary. Error 1002.\n"
)
_WORDS = "error|fail|denied|mismatch|unable|fatal|abort|timed out|unknown"


def ordinary(size: int) -> Iterator[str]:
    block = logcat(2_000_000, 3)
    for _ in range(max(1, size // len(block))):
        yield block
    yield _FAILURE.format(n=58)


def failures(size: int) -> Iterator[str]:
    for number in range(size // len(_FAILURE)):
        yield _FAILURE.format(n=number % 100_000)


def one_line(size: int) -> Iterator[str]:
    for _ in range(size // 2 // 1_000_000):
        yield "error failed skel " * 55_555 + "x" * 10
    yield "\n" + _FAILURE.format(n=7)


def near_misses(size: int) -> Iterator[str]:
    line = "fastrpc memory map for fd: length: failed with error " * 70 + "\n"
    for number in range(size // len(line)):
        yield f"{number} {line}"


def bombs(size: int) -> Iterator[str]:
    """Near misses without two alike, even without their digits."""
    words = "fastrpc memory map for fd: length: failed with error " * 10
    digits = str.maketrans("0123456789", "ghijklmnop")
    for number in range(size // 1000):
        name = str(number).translate(digits)
        yield f"{words}{name} {(name * 80)[:400]}\n"


LOGS: dict[str, Callable[[int], Iterator[str]]] = {
    "ordinary": ordinary,
    "failures": failures,
    "one line": one_line,
    "near misses": near_misses,
    "bombs": bombs,
}


def timed(command: list[str]) -> tuple[float, int]:
    """Seconds and peak RSS in bytes of one process, whose exit code may be that of a search without a hit."""
    with tempfile.TemporaryFile() as output:  # grep stops at the first hit when it writes to /dev/null
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"{command} failed: {process.returncode}")
    return seconds, usage.ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, made in LOGS.items():
            log = Path(folder) / "log.txt"
            with log.open("w", encoding="utf-8") as file:
                file.writelines(made(options.megabytes * 10**6))
            ours = [sys.executable, "-m", "heapprof_cli", "explain", "--format", "json", str(log)]
            peer = ["grep", "-a", "-c", "-i", "-E", _WORDS, str(log)]
            pairs = [(timed(ours), timed(peer)) for _ in range(options.repeats)]
            seconds = statistics.median(mine[0] for mine, _ in pairs)
            grep = statistics.median(other[0] for _, other in pairs)
            rss = max(mine[1] for mine, _ in pairs)
            told = json.loads(subprocess.run(ours, capture_output=True, check=False).stdout)["findings"]
            print(
                f"{name:12} {log.stat().st_size / 1e6:6.1f} MB  {seconds:5.2f} s  grep {grep:5.2f} s  "
                f"ratio {seconds / grep:5.2f}  {rss / 1e6:4.0f} MB RSS  first: {told[0]['id'] if told else 'none'}",
                flush=True,
            )
            worst |= seconds > _MOST_SECONDS or rss > _MOST_RSS
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
