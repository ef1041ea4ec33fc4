"""Deploying measured against its peers, in one run, medians of several rounds, as ratios.

The phone is virtual and on this computer; `adb` is adb 36. Ratios only: absolute times are this machine's.

    python scripts/bench_deploy.py [--rounds 5] [--only NAME]

push-random, push-compressible  one file of 200 MB against `adb push`                            (aim: at most 1.1)
ten-files                       ten files of 2 MB over a link with 20 ms latency, against ten
                                `adb push`es                                                     (aim: at most 0.5)
warm-run                        `heapprof run` with nothing changed: seconds beyond the runner's
                                own time (aim: at most 0.4), bytes sent (aim: 0), and against the
                                flow of ExecuTorch's script: workspace wiped, one `adb push` a
                                file, `adb shell`, `adb pull`; "deploy" is the part up to the
                                runner's start. Loopback moves 200 MB in less time than Python
                                starts, so the ratio there is for comparison alone
warm-run-cable                  the same over a link that carries 38 MB/s, the speed that `adb push`
                                of a model showed on a real phone                                (aim: at most 0.1)
warm-run-latency                the same over a link with 20 ms latency
preflight                       what the checks add to a warm run with libraries of 90 MB each: the preflight stage,
                                and what the survey asks beyond the phone's name, SoC and cache (aim: at most 0.15 s)
memory                          peak RSS while 2 GB are pushed                                   (aim: 100 MB)
version                         `heapprof --version` against `python -c "import click"`          (aim: at most 3)
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from heapprof_cli import resources
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device import cache
from heapprof_cli.device.phone import find_phone
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.file_hashes import sha256_of
from heapprof_cli.records import Artifact
from heapprof_cli.virtual import VirtualPhone, bundled_adb

MB = 1_000_000
CABLE = 38 * MB
"""Bytes a second over the USB cable of a phone: "model.pte: 1 file pushed, 0 skipped. 37.7 MB/s (1173739244 bytes in
29.715s)", from a public report of a model pushed to a Snapdragon phone."""
TARGET = "linux-x86_64"


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def paired(rounds: int, ours: Callable[[], object], peer: Callable[[], object]) -> tuple[float, float]:
    """Medians of both, taken in turn so that a drift of the machine meets both."""
    times: tuple[list[float], list[float]] = ([], [])
    ours(), peer()  # warm up
    for _ in range(rounds):
        times[0].append(seconds(ours))
        times[1].append(seconds(peer))
    return statistics.median(times[0]), statistics.median(times[1])


def tell(name: str, ours: float, peer: float, peer_name: str) -> None:
    print(f"{name:<18} ours {ours:.3f} s  {peer_name} {peer:.3f} s  ratio {ours / peer:.2f}", flush=True)


def make_file(path: Path, size: int, kind: str) -> Path:
    generator = random.Random(path.name)
    with path.open("wb") as file:
        for start in range(0, size, MB):
            count = min(MB, size - start)
            if kind == "random":
                file.write(generator.randbytes(count))
            else:
                file.write((b"weights %08d " % start) * (count // 17 + 1))
        file.truncate(size)
    return path


def make_model(path: Path, size: int) -> Path:
    """A context binary of ``size`` bytes: the demo's, its blob lengthened by random bytes."""
    base = bytearray(resources.demo_model().read_bytes())
    blob_offset = struct.unpack_from("<Q", base, 0x18)[0]
    base += random.Random(1).randbytes(size - len(base))
    struct.pack_into("<Q", base, 0x20, len(base) - blob_offset)
    path.write_bytes(base)
    return path


def artifact(path: Path) -> Artifact:
    return Artifact(path.name, str(path), path.name, sha256_of(path), path.stat().st_size)


class Bench:
    """One virtual phone and the tools to measure on it."""

    def __init__(self, phone: VirtualPhone, folder: Path, rounds: int) -> None:
        self.virtual = phone
        self.folder = folder
        self.rounds = rounds
        self.peer_deploys: list[float] = []
        self.address = ServerAddress(phone.adb_host, phone.adb_port)
        self.adb = [str(bundled_adb()), "-P", str(phone.adb_port), "-s", phone.serial]
        self.store = cache.shared_store(phone.workspace)
        self.shell(f"mkdir -p {self.store}")

    def shell(self, command: str) -> None:
        self.run([*self.adb, "shell", command])

    def run(self, command: list[str]) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.variables())

    def variables(self) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder)}

    def push(self, files: list[Artifact]) -> None:
        find_phone(self.address, self.virtual.serial).push(self.store, "0" * 16, files)

    def cold_push(self, kind: str) -> None:
        file = make_file(self.folder / f"{kind}.bin", 200 * MB, kind)
        wanted = artifact(file)
        ours, peer = paired(
            self.rounds,
            lambda: self.push([wanted]),
            lambda: self.run([*self.adb, "push", str(file), f"{self.store}/peer"]),
        )
        tell(f"push-{kind}", ours, peer, "adb push")

    def ten_files(self) -> None:
        files = [make_file(self.folder / f"part{i}.bin", 2 * MB, "random") for i in range(10)]
        wanted = [artifact(file) for file in files]

        def pushes() -> None:
            for file in files:
                self.run([*self.adb, "push", str(file), f"{self.store}/peer"])

        self.virtual.set_latency(0.010)  # each way
        ours, peer = paired(self.rounds, lambda: self.push(wanted), pushes)
        self.virtual.set_latency(0)
        tell("ten-files", ours, peer, "ten adb pushes")

    def warm_run(self, name: str) -> None:
        self.peer_deploys.clear()
        model = make_model(self.folder / "model.bin", 200 * MB)
        time.sleep(2.1)  # its hash is remembered only when it has settled
        command = [
            sys.executable, "-m", "heapprof_cli", "run", "-q", "--format", "json", "--adb-port", str(self.address.port),
            "--workspace", self.virtual.workspace, str(model),
        ]  # fmt: skip
        results: list[dict[str, object]] = []

        def ours() -> None:
            done = subprocess.run(command, check=True, capture_output=True, env=self.variables())
            results.append(json.loads(done.stdout))

        mine, peer = paired(self.rounds, ours, lambda: self.executorch_flow(model))
        warm = results[2:]
        own = statistics.median(self.stage(result, "run") for result in warm)
        sent = sum(a["bytes"] for result in warm for a in result["artifacts"] if a["sent"])  # type: ignore[attr-defined]
        tell(name, mine, peer, "one adb process a file")
        deploy = statistics.median(self.stage(result, "lease") + self.stage(result, "push") for result in warm)
        tell(f"  {name} deploy", deploy, statistics.median(self.peer_deploys), "one adb process a file")
        print(f"{'':<18} beyond the runner's own time: {mine - own:.3f} s; file bytes sent: {sent}", flush=True)

    def warm_run_over_a_cable(self) -> None:
        self.virtual.set_bandwidth(CABLE)
        self.warm_run("warm-run-cable")
        self.virtual.set_bandwidth(None)

    def warm_run_over_latency(self) -> None:
        self.virtual.set_latency(0.010)
        self.warm_run("warm-run-latency")
        self.virtual.set_latency(0)

    def preflight(self) -> None:
        libraries = self.folder / "libraries"
        libraries.mkdir()
        for file in (resources.device_build(TARGET) / "standin").glob("*.so"):
            # Bytes behind an ELF file's end change nothing but what it takes to read it.
            (libraries / file.name).write_bytes(file.read_bytes() + random.Random(file.name).randbytes(90 * MB))
        time.sleep(2.1)  # their hashes are remembered only when they have settled
        command = [
            sys.executable, "-m", "heapprof_cli", "run", "-q", "--format", "json", "--adb-port", str(self.address.port),
            "--workspace", self.virtual.workspace, "--qnn-libs", str(libraries), str(resources.demo_model()),
        ]  # fmt: skip
        results = []
        for _ in range(self.rounds + 2):
            done = subprocess.run(command, check=True, capture_output=True, env=self.variables())
            results.append(json.loads(done.stdout))
        stage = statistics.median(self.stage(result, "preflight") for result in results[2:])
        phone = find_phone(self.address, self.virtual.serial)
        closely, plain = paired(
            5 * self.rounds,
            lambda: phone.survey(self.virtual.workspace, self.store, closely=True),
            lambda: phone.survey(self.virtual.workspace, self.store),
        )
        tell("preflight survey", closely, plain, "survey without checks")
        print(f"{'preflight':<18} stage {stage:.3f} s; added to a run: {stage + closely - plain:.3f} s", flush=True)

    @staticmethod
    def stage(result: dict[str, object], name: str) -> float:
        stages: list[dict[str, object]] = result["stages"]  # type: ignore[assignment]
        return next(float(stage["seconds"]) for stage in stages if stage["name"] == name)  # type: ignore[arg-type]

    def executorch_flow(self, model: Path) -> None:
        """Wipe, one `adb push` for each file, run, pull: what ExecuTorch's host script does."""
        folder = RunFolder(self.virtual.workspace, "peer").path
        build = resources.device_build(TARGET)
        begin = time.perf_counter()
        self.shell(f"rm -rf {folder}; mkdir -p {folder}")
        files = [build / "heapprof_runner", *(build / "standin").glob("*.so"), model]
        for file in files:
            self.run([*self.adb, "push", str(file), folder])
        self.peer_deploys.append(time.perf_counter() - begin)
        flags = f"--model={model.name} --heap_profiling_path=heap.txt"
        self.shell(f"cd {folder} && chmod +x heapprof_runner && LD_LIBRARY_PATH=. ./heapprof_runner {flags}")
        self.run([*self.adb, "pull", f"{folder}/heap.txt", str(self.folder / "heap.txt")])

    def memory(self) -> None:
        file = make_file(self.folder / "huge.bin", 2000 * MB, "random")
        script = (
            "import sys; sys.path.insert(0, sys.argv[1]); import bench_deploy as b; "
            "from pathlib import Path; p = b.find_phone(b.ServerAddress('127.0.0.1', int(sys.argv[2])), sys.argv[3]); "
            "p.push(sys.argv[4], '0' * 16, [b.artifact(Path(sys.argv[5]))]); "
            # Not ru_maxrss: that remembers the process we were started from.
            "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent), str(self.address.port), self.virtual.serial,
             self.store, str(file)],
            check=True, capture_output=True, text=True, env=self.variables(),
        )  # fmt: skip
        print(f"{'memory':<18} peak RSS while pushing 2 GB: {int(done.stdout) * 1024 / MB:.0f} MB", flush=True)
        file.unlink()

    def version(self) -> None:
        ours, peer = paired(
            3 * self.rounds,
            lambda: self.run([sys.executable, "-m", "heapprof_cli", "--version"]),
            lambda: self.run([sys.executable, "-c", "import click"]),
        )
        tell("version", ours, peer, "import click")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="heapprof-bench-"))
    try:
        with VirtualPhone() as phone:
            bench = Bench(phone, folder, options.rounds)
            benches: dict[str, Callable[[], None]] = {
                "version": bench.version,
                "push-random": lambda: bench.cold_push("random"),
                "push-compressible": lambda: bench.cold_push("compressible"),
                "ten-files": bench.ten_files,
                "warm-run": lambda: bench.warm_run("warm-run"),
                "warm-run-cable": bench.warm_run_over_a_cable,
                "warm-run-latency": bench.warm_run_over_latency,
                "preflight": bench.preflight,
                "memory": bench.memory,
            }
            for name, work in benches.items():
                if options.only in (None, name):
                    work()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
