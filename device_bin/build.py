#!/usr/bin/env python3
"""Build the device programs: ``heapprof_runner`` and the stand-in HTP libraries, per target.

One toolchain for all targets: the pinned PyPI package ``ziglang`` (clang and lld). Builds are
reproducible byte for byte and skipped when nothing they depend on has changed. Uses the standard
library only and imports nothing of ``heapprof_cli``, so that a build hook can call it.

    python device_bin/build.py [TARGET...] [--output DIR] [--cc COMMAND] [--force]
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNNER = "heapprof_runner"
_PARTS = ("include", "runner", "standin")
STANDINS = {"libQnnHtp.so": ("htp",), "libQnnSystem.so": ("system",)}
_WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wvla", "-Wmissing-prototypes", "-Wstrict-prototypes")
_CODE = (
    "-Os",
    "-g0",
    "-fno-sanitize=all",
    "-fstack-protector-strong",
    "-ffunction-sections",
    "-fdata-sections",
    # Nothing unwinds C frames on a device; the tables would be a tenth of the file.
    "-fno-asynchronous-unwind-tables",
)
_LINK = ("-Wl,--gc-sections", "-Wl,-z,relro,-z,now,-z,noexecstack", "-Wl,--build-id=none")
_HIDDEN = ("-fvisibility=hidden", "-fno-ident")


class BuildError(Exception):
    """A compiler or linker call failed; the text holds its output."""


@dataclass(frozen=True)
class Built:
    """What a build left: the folder, the runner's file and the folder of the stand-in libraries."""

    folder: Path
    runner: Path
    standin: Path


@dataclass(frozen=True)
class Target:
    """A platform to build for; ``triple`` is zig's name of it."""

    name: str
    triple: str


TARGETS = {target.name: target for target in (Target("linux-x86_64", "x86_64-linux-gnu.2.28"),)}


def build(target: str, output_dir: Path | None = None, cc: str | None = None, force: bool = False) -> Built:
    """Build everything for ``target`` into ``output_dir/target`` unless it is there already.

    ``cc`` is a compiler command of the user's (an NDK's clang, say) instead of zig's. Safe to call
    from several processes at once. Raises BuildError, and KeyError for an unknown target.
    """
    chosen = TARGETS[target]
    folder = (output_dir or HERE / "build") / target
    built = Built(folder, folder / RUNNER, folder / "standin")
    folder.mkdir(parents=True, exist_ok=True)
    stamp = _fingerprint(chosen, cc)
    # Beside the folder, which is packed into the wheel whole.
    recorded = folder.with_name(f".{target}.inputs")
    with _locked(folder.with_name(f".{target}.lock")):
        if force or not _is_current(built, recorded, stamp):
            recorded.unlink(missing_ok=True)
            _build_all(chosen, built, cc)
            recorded.write_text(stamp)
    return built


def _is_current(built: Built, recorded: Path, stamp: str) -> bool:
    files = [built.runner, *(built.standin / name for name in STANDINS)]
    return recorded.is_file() and recorded.read_text() == stamp and all(file.is_file() for file in files)


def sources(part: str) -> list[Path]:
    """The C files of ``runner`` or ``standin``, sorted, so that links are reproducible."""
    return sorted((HERE / part).glob("*.c"))


def _fingerprint(target: Target, cc: str | None) -> str:
    """A hash of everything that a build depends on."""
    digest = hashlib.sha256(f"{target}{cc}{_zig_version() if cc is None else ''}".encode())
    sources_of = (path for part in _PARTS for path in (HERE / part).rglob("*") if path.is_file())
    for file in sorted([Path(__file__).resolve(), *sources_of]):
        digest.update(f"\n{file.relative_to(HERE)}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _zig_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ziglang")
    except PackageNotFoundError as error:
        raise BuildError("the compiler is missing: install the package ziglang, or give --cc") from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str | Path]) -> None:
    words = [str(word) for word in command]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "LC_ALL": "C"}
    # A home that can't be written must not stop zig, whose cache lies there by default.
    cache = environment.setdefault("ZIG_GLOBAL_CACHE_DIR", f"{tempfile.gettempdir()}/heapprof-zig-{os.getuid()}")
    environment.setdefault("ZIG_LOCAL_CACHE_DIR", cache)
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(words)}\nfailed ({done.returncode}):\n{done.stdout}{done.stderr}")


def _compiler(target: Target, cc: str | None) -> list[str]:
    if cc is not None:
        return shlex.split(cc)
    return [sys.executable, "-m", "ziglang", "cc", "-target", target.triple]


def _build_all(target: Target, built: Built, cc: str | None) -> None:
    built.standin.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="heapprof-build-") as scratch:
        _build_glibc(target, built, _compiler(target, cc), Path(scratch))


def _flags(target: Target) -> list[str]:
    maps = [f"-ffile-prefix-map={HERE}=device_bin", f'-DRUNNER_TARGET="{target.name}"', "-D_GNU_SOURCE"]
    return [*_WARNINGS, *_CODE, *_HIDDEN, *maps, "-I", str(HERE / "include")]


def _build_glibc(target: Target, built: Built, compiler: list[str], scratch: Path) -> None:
    link = [*_LINK, "-s", "-ldl", "-lpthread"]
    flags = _flags(target)
    temporary = scratch / RUNNER
    _run([*compiler, *flags, "-fPIE", "-pie", *sources("runner"), "-o", temporary, *link])
    os.replace(_beside(temporary, built.runner), built.runner)
    for name, parts in STANDINS.items():
        chosen = [file for file in sources("standin") if _belongs(file, parts)]
        temporary = scratch / name
        shared = ["-fPIC", "-shared", f"-Wl,-soname,{name}", "-Wl,-z,defs"]
        _run([*compiler, *flags, *shared, *chosen, "-o", temporary, *link])
        os.replace(_beside(temporary, built.standin / name), built.standin / name)


def _belongs(file: Path, parts: tuple[str, ...]) -> bool:
    """``htp_*.c`` and ``system_*.c`` are for one library each, all others for both."""
    others = {"htp", "system"} - set(parts)
    return file.stem.split("_")[0] not in others


def _beside(source: Path, destination: Path) -> Path:
    """Copy ``source`` next to ``destination``: a rename across file systems is not atomic."""
    copy = destination.with_name(f".{destination.name}.{os.getpid()}")
    copy.write_bytes(source.read_bytes())
    copy.chmod(0o755)
    return copy


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0, or 1 after a failed build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: all ({', '.join(TARGETS)})")
    parser.add_argument("--output", type=Path, help="folder to build into (default: build beside this file)")
    parser.add_argument("--cc", help="compiler command instead of zig's")
    parser.add_argument("--force", action="store_true", help="build even if nothing changed")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target: {', '.join(unknown)} (known: {', '.join(TARGETS)})")
    for name in options.targets or TARGETS:
        try:
            built = build(name, options.output, options.cc, options.force)
        except BuildError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{built.runner} ({built.runner.stat().st_size} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
