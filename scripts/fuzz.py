#!/usr/bin/env python3
"""Fuzz the device programs' parsers with libFuzzer, AddressSanitizer and UBSan.

    python scripts/fuzz.py [options|input_list|context_binary|behaviour ...] [--seconds 600] [--cc clang]

Needs a clang with libFuzzer (Debian: `apt-get install clang libclang-rt-dev`). Seeds lie in
device_bin/fuzz/seeds/NAME; what a run found worth keeping is merged into them with --keep. Exit code
1 when something was found; the input that shows it stays in the folder that is then named.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "device_bin"
RUNNER, STANDIN = FOLDER / "runner", FOLDER / "standin"
FILES = {
    "options": [RUNNER / name for name in ("options.c", "performance.c", "text.c", "files.c", "say.c", "failure.c")],
    "input_list": [RUNNER / name for name in ("input_list.c", "text.c", "files.c", "say.c", "failure.c")],
    "context_binary": [STANDIN / name for name in ("context_binary.c", "flatbuffer.c")],
    "behaviour": [STANDIN / "htp_behaviour.c"],
}
CLANGS = ("clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14")


def find_clang() -> str:
    """The first clang that is installed."""
    for name in CLANGS:
        if shutil.which(name):
            return name
    sys.exit("no clang is installed (Debian: apt-get install clang libclang-rt-14-dev)")


def build(name: str, compiler: str, folder: Path) -> Path:
    """The fuzzer of one parser."""
    made = folder / name
    flags = ["-std=c11", "-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
    includes: list[str | Path] = [
        "-D_GNU_SOURCE",
        '-DRUNNER_TARGET="fuzz"',
        "-I",
        FOLDER / "include",
        "-I",
        RUNNER,
        "-I",
        STANDIN,
    ]
    source = FOLDER / "fuzz" / f"fuzz_{name}.c"
    subprocess.run([compiler, *flags, *includes, source, *FILES[name], "-o", made, "-ldl", "-lpthread"], check=True)
    return made


def fuzz(name: str, fuzzer: Path, folder: Path, seconds: int, keep: bool) -> bool:
    """Runs one fuzzer; true when it found nothing."""
    seeds, corpus = FOLDER / "fuzz" / "seeds" / name, folder / f"{name}.corpus"
    corpus.mkdir()
    options = [f"-max_total_time={seconds}", "-max_len=8192", "-timeout=10", "-rss_limit_mb=1024"]
    options += ["-print_final_stats=1", f"-artifact_prefix={folder}/{name}-"]
    command: list[str | Path] = [fuzzer, *options, corpus, seeds]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    stats = [line for line in done.stderr.splitlines() if line.startswith(("stat::", "SUMMARY"))]
    print(f"{name}: {'nothing found' if done.returncode == 0 else 'FOUND SOMETHING'}")
    print("\n".join(f"    {line}" for line in stats))
    if done.returncode != 0:
        print(done.stderr[-4000:])
    elif keep:
        subprocess.run([fuzzer, "-merge=1", "-max_len=8192", seeds, corpus], capture_output=True, check=True)
    return done.returncode == 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="*", choices=[*FILES, []], metavar="NAME", help=f"of {', '.join(FILES)}")
    parser.add_argument("--seconds", type=int, default=600, help="for each (default 600)")
    parser.add_argument("--cc", help="a clang that has libFuzzer")
    parser.add_argument("--keep", action="store_true", help="merge what was found interesting into the seeds")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="heapprof-fuzz-"))
    compiler = options.cc or find_clang()
    clean = True
    for name in options.names or FILES:
        clean = fuzz(name, build(name, compiler, folder), folder, options.seconds, options.keep) and clean
    if clean:
        shutil.rmtree(folder)
    else:
        print(f"inputs that show it: {folder}")
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
