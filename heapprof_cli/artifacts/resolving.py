"""Finding the runner and the QNN libraries, naming everything that is missing at once."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import elf, resources
from heapprof_cli.artifacts.places import Sources, chosen_rule
from heapprof_cli.artifacts.qnn_build import qnn_build
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.errors import PreflightError
from heapprof_cli.file_hashes import sha256_of
from heapprof_cli.records import RUNNER_NAME, Artifact
from heapprof_cli.text import clean

STANDIN_BUILD_MARK = "heapprof-standin"
_STANDIN_SETTINGS = "standin.conf"
_STANDIN_LARGEST = 4 * 1024 * 1024
SYSTEM_LIBRARIES = (
    "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "libgcc_s.so",
    "libstdc++.so.6", "libatomic.so.1", "liblog.so", "libandroid.so",
    "libcdsprpc.so", "libadsprpc.so",
)  # fmt: skip


@dataclass(frozen=True)
class Bundle:
    """The files of a run besides its models. ``standin``: the heap numbers will be simulated."""

    runner: Artifact
    libraries: tuple[Artifact, ...]
    standin: bool
    origin: str
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """One place where a library was looked for; ``chosen`` where it was taken from there."""

    name: str
    path: str
    found: bool
    chosen: bool


def resolve(target: Target, htp_arch: int | None, sources: Sources) -> Bundle:
    """The runner and libraries for ``target`` and HTP arch (81 for V81).

    Raises PreflightError that names every missing file and every folder that was looked into.
    """
    runner = resources.device_build(target.name) / RUNNER_NAME
    rule = chosen_rule(target, htp_arch, sources)
    folders, origin = rule.folders, rule.name
    found: dict[str, Path] = {}
    missing: list[str] = [] if runner.is_file() else [f"{RUNNER_NAME} for {target.name}"]
    standin = _is_standin(_first(folders, "libQnnHtp.so"))
    names = _names(target, htp_arch, standin)
    for name in names:
        path = _first(folders, name)
        if path is not None:
            found[name] = path
        else:
            missing.append(name)
    if missing:
        raise _missing(missing, folders, origin, runner)
    for path in list(found.values()):
        found.update(needed_beside(path, folders, set(found)))
    found.update(_extras(target, folders, standin))
    return Bundle(
        runner=artifact(runner, RUNNER_NAME, executable=True),
        libraries=tuple(artifact(path, name) for name, path in sorted(found.items())),
        standin=standin,
        origin=origin,
        candidates=tuple(_candidates(names, folders)),
    )


def artifact(path: Path, remote_name: str, *, executable: bool = False) -> Artifact:
    """The record of a host file that goes to the phone as ``remote_name``."""
    digest = sha256_of(path)
    build = qnn_build(path, digest) if ".so" in path.suffixes else None
    return Artifact(remote_name, str(path), remote_name, digest, path.stat().st_size, executable, build)


def _candidates(names: Sequence[str], folders: Sequence[Path]) -> Iterator[Candidate]:
    for name in names:
        chosen = _first(folders, name)
        for folder in dict.fromkeys(folders):
            path = folder / name
            yield Candidate(name, str(path), path.is_file(), path == chosen)


def _names(target: Target, htp_arch: int | None, standin: bool) -> list[str]:
    names = ["libQnnHtp.so", "libQnnSystem.so"]
    if target.on_dsp and not standin:
        if htp_arch is None:
            raise PreflightError(
                "the HTP arch is unknown, so Stub and Skel can't be chosen: neither the phone nor the model tells it",
                hints=("name the SoC with --soc, for example --soc SM8850",),
            )
        names += [f"libQnnHtpV{htp_arch}Stub.so", f"libQnnHtpV{htp_arch}Skel.so"]
    return names


def _first(folders: Iterable[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


@functools.cache
def _is_standin(htp: Path | None) -> bool:
    if htp is None or htp.stat().st_size > _STANDIN_LARGEST:
        return False
    return elf.contains(htp, STANDIN_BUILD_MARK.encode())


def needed_beside(library: Path, folders: Sequence[Path], known: set[str]) -> dict[str, Path]:
    """Libraries that ``library`` needs and that come with it: in its own search path or folders.

    Wheels rename their C++ runtime (libc++-71bc274c.so.1.0), so such names can't be listed in advance.
    """
    found: dict[str, Path] = {}
    waiting = [library]
    while waiting:
        current = waiting.pop()
        facts = elf.read(current)
        if facts is None:
            continue
        own = [Path(part.replace("$ORIGIN", str(current.parent))) for part in facts.run_path if "$ORIGIN" in part]
        for name in facts.needed:
            if name in known or name in found or "/" in name or name.startswith(SYSTEM_LIBRARIES):
                continue
            path = _first([current.parent, *own, *folders], name)
            if path is not None:
                found[name] = path
                waiting.append(path)
    return found


def _extras(target: Target, folders: Sequence[Path], standin: bool) -> dict[str, Path]:
    """Files that go along where they exist: the stand-in's settings; the graph compiler, as ExecuTorch does."""
    names = [_STANDIN_SETTINGS] if standin else ["libQnnHtpPrepare.so"] if target.on_dsp else []
    return {name: path for name in names if (path := _first(folders, name)) is not None}


def _missing(names: Sequence[str], folders: Sequence[Path], origin: str, runner: Path) -> PreflightError:
    hints = []
    if not runner.is_file():
        hints.append(f"the runner should lie at {runner}: install heapprof again, or build it with device_bin/build.py")
    if any(name.startswith("lib") for name in names):
        places = ", ".join(clean(str(folder), 300) for folder in folders) or "no folder"
        hints.append(f"looked in: {places}")
        hints.append("take all libraries from one QNN SDK; it must be at least as new as the one that made the model")
    return PreflightError(f"missing ({clean(origin, 300)}): {', '.join(names)}", stage="artifacts", hints=hints)
