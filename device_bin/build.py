#!/usr/bin/env python3
"""Build the device programs: ``heapprof_runner`` and the stand-in HTP libraries, per target.

One toolchain for all targets: the pinned PyPI package ``ziglang`` (clang and lld). Builds are
reproducible byte for byte and skipped when nothing they depend on has changed. Uses the standard
library only and imports nothing of ``heapprof_cli``, so that a build hook can call it.

    python device_bin/build.py [TARGET...] [--output DIR] [--cc COMMAND] [--force]
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

HERE = Path(__file__).resolve().parent
RUNNER = "heapprof_runner"
_PARTS = ("include", "runner", "standin", "standin_executorch", "android")
ANDROID = "android-arm64"
STANDINS = {"libQnnHtp.so": ("htp",), "libQnnSystem.so": ("system",)}
# The stand-in for ExecuTorch's runner and backend: for virtual phones, so never for Android.
EXECUTORCH = "standin_executorch"
EXECUTORCH_RUNNER, EXECUTORCH_BACKEND = "qnn_executor_runner", "libqnn_executorch_backend.so"
_EXECUTORCH_SHARED = {
    EXECUTORCH_RUNNER: ("runner/text.c", "runner/files.c"),
    EXECUTORCH_BACKEND: (
        "runner/library.c",
        "runner/failure.c",
        "runner/say.c",
        "runner/text.c",
        "standin/flatbuffer.c",
    ),
}
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
_LLD = (
    *("-m", "aarch64linux", "--hash-style=both", "--build-id=sha1", "--gc-sections", "--fatal-warnings", "-s"),
    *("-z", "defs", "-z", "text", "-z", "now", "-z", "relro", "-z", "noexecstack", "-z", "nocopyreloc"),
    *("-z", "max-page-size=16384", "--pack-dyn-relocs=none"),
)
_ZIG = (sys.executable, "-m", "ziglang")
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


# glibc 2.28 is that of Debian 10 and of the QNN libraries for Linux boards; API 28 is Android 9.
TARGETS = {
    target.name: target
    for target in (
        Target("android-arm64", "aarch64-linux-android.28"),
        Target("linux-arm64", "aarch64-linux-gnu.2.28"),
        Target("linux-x86_64", "x86_64-linux-gnu.2.28"),
    )
}


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
    if built.folder.name != ANDROID:
        files += [built.folder / EXECUTORCH / name for name in (EXECUTORCH_RUNNER, EXECUTORCH_BACKEND)]
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


@functools.cache
def _cache() -> str:
    """A folder for zig's cache: the user's own, or a new one where the home can't be written."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heapprof" / "zig"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home at all is a RuntimeError
        made = tempfile.mkdtemp(prefix="heapprof-zig-")
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        return made
    return str(folder)


def _run(command: Sequence[str | Path]) -> None:
    words = [str(word) for word in command]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "LC_ALL": "C"}
    cache = environment.setdefault("ZIG_GLOBAL_CACHE_DIR", _cache())
    environment.setdefault("ZIG_LOCAL_CACHE_DIR", cache)
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", env=environment, check=False)
    except OSError as error:
        raise BuildError(f"{words[0]} can't be started: {error.strerror}") from error
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(words)}\nfailed ({done.returncode}):\n{done.stdout}{done.stderr}")


def _build_all(target: Target, built: Built, cc: str | None) -> None:
    built.standin.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="heapprof-build-") as scratch:
        linker: Linker
        if target.name == ANDROID and cc is None:
            linker = BionicLinker(target, Path(scratch))
        else:
            linker = DriverLinker(target, Path(scratch), cc)
        files = {built.runner: linker.program(sources("runner"), RUNNER)}
        for name, parts in STANDINS.items():
            chosen = [file for file in sources("standin") if _belongs(file, parts)]
            files[built.standin / name] = linker.library(chosen, name)
        if target.name != ANDROID:
            executorch = DriverLinker(target, Path(scratch), cc)
            (built.folder / EXECUTORCH).mkdir(exist_ok=True)
            files.update(_executorch(executorch, built.folder / EXECUTORCH))
        for place, made in files.items():
            os.replace(_beside(made, place), place)


def _executorch(linker: DriverLinker, folder: Path) -> dict[Path, Path]:
    """Where each file of the stand-in for ExecuTorch goes, and the file that was made."""

    def files(name: str, own: Sequence[str]) -> list[Path]:
        return [*(HERE / EXECUTORCH / file for file in own), *(HERE / file for file in _EXECUTORCH_SHARED[name])]

    backend = linker.library(files(EXECUTORCH_BACKEND, ("backend.c", "delegates.c")), EXECUTORCH_BACKEND)
    runner = linker.program([*files(EXECUTORCH_RUNNER, ("main.c",)), backend], EXECUTORCH_RUNNER)
    return {folder / EXECUTORCH_RUNNER: runner, folder / EXECUTORCH_BACKEND: backend}


def _flags(target: Target) -> list[str]:
    maps = [f"-ffile-prefix-map={HERE}=device_bin", f'-DRUNNER_TARGET="{target.name}"']
    return [*_WARNINGS, *_CODE, *_HIDDEN, *maps, "-I", str(HERE / "include")]


class Linker(Protocol):
    """Makes files of C sources in a scratch folder."""

    def program(self, files: Sequence[Path], name: str) -> Path:
        """An executable; raises BuildError."""

    def library(self, files: Sequence[Path], name: str) -> Path:
        """A shared library; raises BuildError."""


class DriverLinker:
    """A compiler that finds its own libraries: zig for glibc, or one that the user names."""

    def __init__(self, target: Target, scratch: Path, cc: str | None) -> None:
        compiler = shlex.split(cc) if cc is not None else [*_ZIG, "cc", "-target", target.triple]
        self._compile = [*compiler, *_flags(target), "-D_GNU_SOURCE"]
        own = ["-Wl,-z,max-page-size=16384"] if target.name == ANDROID else ["-lpthread"]
        self._link = [*_LINK, "-s", "-ldl", *own]
        self._scratch = scratch

    def program(self, files: Sequence[Path], name: str, flags: Sequence[str] = ()) -> Path:
        return self._run(["-fPIE", "-pie", *flags], files, name)

    def library(self, files: Sequence[Path], name: str) -> Path:
        return self._run(["-fPIC", "-shared", f"-Wl,-soname,{name}", "-Wl,-z,defs"], files, name)

    def _run(self, kind: Sequence[str], files: Sequence[Path], name: str) -> Path:
        _run([*self._compile, *kind, *files, "-o", self._scratch / name, *self._link])
        return self._scratch / name


class BionicLinker:
    """Android without the NDK: own headers and start code, stub libraries made from a list of symbols.

    zig can compile for Android but has no bionic to link with; lld, given stubs as the NDK itself
    has them, needs none.
    """

    def __init__(self, target: Target, scratch: Path) -> None:
        clang_headers = _zig_folder() / "lib" / "include"
        own: list[str | Path] = ["-nostdinc", "-isystem", HERE / "android" / "include", "-isystem", clang_headers]
        code = ["-mno-outline-atomics", "-fno-emulated-tls"]
        self._compile: list[str | Path] = [*_ZIG, "cc", "-target", target.triple, *_flags(target), *code, *own]
        self._scratch = scratch
        self._stubs = scratch / "stubs"
        self._stubs.mkdir()
        for library, symbols in stub_symbols().items():
            self._make_stub(library, symbols)

    def program(self, files: Sequence[Path], name: str) -> Path:
        start = self._object(HERE / "android" / "crt.c", ["-fPIE", "-fno-stack-protector"])
        objects = self._objects([*files, HERE / "android" / "abi_check.c"], ["-fPIE"])
        kind = ["-pie", "--dynamic-linker=/system/bin/linker64", "-e", "_start"]
        return self._link(kind, [start, *objects], name)

    def library(self, files: Sequence[Path], name: str) -> Path:
        return self._link(["-shared", "-soname", name], self._objects(files, ["-fPIC"]), name)

    def _objects(self, files: Sequence[Path], flags: Sequence[str]) -> list[Path]:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return list(pool.map(lambda file: self._object(file, flags), files))

    def _object(self, file: Path, flags: Sequence[str]) -> Path:
        made = self._scratch / f"{file.stem}{'-'.join(flags)}.o"
        _run([*self._compile, *flags, "-c", file, "-o", made])
        return made

    def _link(self, kind: Sequence[str], objects: Sequence[Path], name: str) -> Path:
        made = self._scratch / name
        stubs = ["--as-needed", f"-L{self._stubs}", *(f"-l:{library}" for library in stub_symbols())]
        _run([*_ZIG, "ld.lld", *_LLD, *kind, "-o", made, *objects, *stubs])
        return made

    def _make_stub(self, library: str, symbols: Sequence[str]) -> None:
        source, made = self._scratch / f"{library}.S", self._scratch / f"{library}.o"
        versions = self._scratch / f"{library}.map"
        source.write_text("".join(f".globl {s}\n.type {s}, %function\n{s}: ret\n" for s in symbols))
        exported = f"global: {'; '.join(symbols)}; " if symbols else ""
        versions.write_text(f"LIBC {{ {exported}local: *; }};\n")
        _run([*self._compile[: len(_ZIG) + 3], "-c", source, "-o", made])
        shared: list[str | Path] = ["-shared", "-soname", library, "--version-script", versions, "--hash-style=both"]
        page = ["-z", "max-page-size=16384"]
        _run([*_ZIG, "ld.lld", "-m", "aarch64linux", *shared, *page, "-o", self._stubs / library, made])


def stub_symbols() -> dict[str, list[str]]:
    """The functions of bionic that may be used, by library (android/symbols.txt)."""
    found: dict[str, list[str]] = {}
    for line in (HERE / "android" / "symbols.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            library, *symbols = line.split()
            found.setdefault(library, []).extend(symbols)
    return found


def _zig_folder() -> Path:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise BuildError("the compiler is missing: install the package ziglang, or give --cc")
    return Path(spec.origin).parent


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
