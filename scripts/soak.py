"""Hundreds of runs under random faults: no wrong number, no litter, no hang.

    python scripts/soak.py [--runs 300] [--seed 1] [--phones 3]

Each run meets a fault of the fault matrix (or none, or a killed `heapprof`) on a virtual phone and reports
numbers that are its own alone, so that a stale or foreign one shows. Needs the repository's tests.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from heapprof_cli import resources
from heapprof_cli.virtual import VirtualPhone
from tests.conftest import clean_environment, litter, wait_until
from tests.faults.test_matrix import CELLS
from tests.faults.tools import runners

TARGET = "linux-x86_64"
LONGEST_SECONDS = 120


class Soak:
    """The shared state of all phones: what is left to do, and what came of it."""

    def __init__(self, runs: int, seed: int, home: Path) -> None:
        self.home = home
        self.left = [(number, random.Random(f"{seed} {number}")) for number in range(runs)]
        self.lock = threading.Lock()
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.problems: list[str] = []
        self.longest = 0.0

    def next(self) -> tuple[int, random.Random] | None:
        with self.lock:
            return self.left.pop() if self.left else None

    def note(self, outcome: str, seconds: float) -> None:
        with self.lock:
            self.outcomes[outcome] += 1
            self.longest = max(self.longest, seconds)
            print(f"{sum(self.outcomes.values())} {outcome} {seconds:.1f} s", flush=True)

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)
            print(f"PROBLEM {text}", flush=True)

    def work(self) -> None:
        with VirtualPhone() as phone:
            while (job := self.next()) is not None:
                self.one(phone, *job)

    def one(self, phone: VirtualPhone, number: int, chance: random.Random) -> None:
        before = chance.randrange(10**6, 10**9)
        after = before + chance.randrange(10**5)
        cell = chance.choice(CELLS)
        faulty = chance.random() < 0.85
        killed = chance.uniform(0.2, 2.0) if chance.random() < 0.1 else None
        name = f"run {number} {cell.name if faulty else 'no fault'}{' killed' if killed else ''}"
        if faulty:
            phone.faults.add(dataclasses.replace(cell.fault, skip=chance.randrange(2)))
        begin = time.monotonic()
        code, result = self.measure(phone, before, after, killed)
        seconds = time.monotonic() - begin
        self.judge(name, code, result, before, after)
        phone.faults.clear()
        self.check_litter(name, phone, killed is not None)
        self.note(str(code), seconds)

    def measure(
        self, phone: VirtualPhone, before: int, after: int, killed: float | None
    ) -> tuple[int, dict[str, object] | None]:
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            for library in (resources.device_build(TARGET) / "standin").glob("*.so"):
                (Path(folder) / library.name).symlink_to(library)
            (Path(folder) / "standin.conf").write_text(f"before = {before}\nafter = {after}\n")
            command = [
                sys.executable, "-m", "heapprof_cli", "run", "-q", "--format", "json", "--serial", phone.serial,
                "--adb-port", str(phone.adb_port), "--workspace", phone.workspace, "--qnn-libs", folder,
                "--stall-timeout", "3", "--timeout", "3", "--wait", "70", str(resources.demo_model()),
            ]  # fmt: skip
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment(self.home)
            )
            try:
                if killed is not None:
                    time.sleep(killed)
                    process.kill()
                out, _ = process.communicate(timeout=LONGEST_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return -999, None
        return process.returncode, json.loads(out) if out else None

    def judge(self, name: str, code: int, result: dict[str, object] | None, before: int, after: int) -> None:
        if code == -999:
            self.problem(f"{name}: hung")
        elif code == -9:
            return
        elif result is None or result["exit_code"] != code:
            self.problem(f"{name}: exit {code} and result {result}")
        elif code == 0 and (result["before_bytes"], result["after_bytes"]) != (before, after):
            self.problem(f"{name}: wrong numbers {result['before_bytes']} {result['after_bytes']}")
        elif code != 0 and (result["after_bytes"] is not None or result["before_bytes"] not in (None, before)):
            self.problem(f"{name}: a number of a failed run: {result['before_bytes']} {result['after_bytes']}")
        elif code not in (0, 4, 5, 7):
            self.problem(f"{name}: exit {code}: {result['error']}")

    def check_litter(self, name: str, phone: VirtualPhone, killed: bool) -> None:
        phone.connect()
        try:
            wait_until(lambda: not runners(phone), "a runner lives on")
        except AssertionError as error:
            self.problem(f"{name}: {error}")
        if killed:
            # Its lease and folder go with the next run on the phone.
            code, _ = self.measure(phone, 1, 1, None)
            if code != 0:
                self.problem(f"{name}: the run after it ended with {code}")
        if found := litter(phone):
            self.problem(f"{name}: litter {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phones", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heapprof-soak-") as home:
        soak = Soak(options.runs, options.seed, Path(home))
        threads = [threading.Thread(target=soak.work) for _ in range(options.phones)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"runs {sum(soak.outcomes.values())}, exit codes {dict(sorted(soak.outcomes.items()))}, "
          f"longest {soak.longest:.0f} s, problems {len(soak.problems)}")  # fmt: skip
    for problem in soak.problems:
        print(f"  {problem}")
    os._exit(1 if soak.problems or len(soak.outcomes) == 0 else 0)


if __name__ == "__main__":
    main()
