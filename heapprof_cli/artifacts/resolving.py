"""Finding the runner and the QNN libraries, naming everything that is missing at once."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import elf, resources
from heapprof_cli.artifacts.shipped import STANDIN_FOLDER
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.errors import PreflightError
from heapprof_cli.file_hashes import sha256_of
from heapprof_cli.records import RUNNER_NAME, Artifact
from heapprof_cli.text import clean

STANDIN_BUILD_MARK = "heapprof-standin"
_STANDIN_SETTINGS = "standin.conf"
_STANDIN_LARGEST = 4 * 1024 * 1024
_SYSTEM_LIBRARIES = (
    "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "libgcc_s.so", "liblog.so",
    "libcdsprpc.so", "libadsprpc.so",
)  # fmt: skip


@dataclass(frozen=True)
class Sources:
    """Where the user lets QNN libraries come from; the first one given counts."""

    qnn_libs: Path | None = None
    qnn_sdk: Path | None = None
    standin: bool = False


@dataclass(frozen=True)
class Bundle:
    """The files of a run besides its models. ``standin``: the heap numbers will be simulated."""

    runner: Artifact
    libraries: tuple[Artifact, ...]
    standin: bool
    origin: str


def resolve(target: Target, htp_arch: int | None, sources: Sources) -> Bundle:
    """The runner and libraries for ``target`` and HTP arch (81 for V81).

    Raises PreflightError that names every missing file and every folder that was looked into.
    """
    runner = resources.device_build(target.name) / RUNNER_NAME
    folders, origin = _folders(target, htp_arch, sources)
    found: dict[str, Path] = {}
    missing: list[str] = [] if runner.is_file() else [f"{RUNNER_NAME} for {target.name}"]
    standin = _is_standin(_first(folders, "libQnnHtp.so"))
    for name in _names(target, htp_arch, standin):
        path = _first(folders, name)
        if path is not None:
            found[name] = path
        else:
            missing.append(name)
    if missing:
        raise _missing(missing, folders, origin, runner)
    for path in list(found.values()):
        found.update(_needed_beside(path, folders, set(found)))
    found.update(_extras(target, folders, standin))
    return Bundle(
        runner=artifact(runner, RUNNER_NAME, executable=True),
        libraries=tuple(artifact(path, name) for name, path in sorted(found.items())),
        standin=standin,
        origin=origin,
    )


def artifact(path: Path, remote_name: str, *, executable: bool = False) -> Artifact:
    """The record of a host file that goes to the phone as ``remote_name``."""
    return Artifact(remote_name, str(path), remote_name, sha256_of(path), path.stat().st_size, executable)


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


def _folders(target: Target, htp_arch: int | None, sources: Sources) -> tuple[list[Path], str]:
    if sources.qnn_libs is not None:
        root = sources.qnn_libs
        inside = [root / pattern.split("/")[-1] for pattern in target.sdk_folders if "*" not in pattern]
        return [root, *inside, *_sdk_folders(root, target, htp_arch)], f"--qnn-libs {root}"
    if sources.qnn_sdk is not None:
        return _sdk_folders(sources.qnn_sdk, target, htp_arch), f"the QNN SDK {sources.qnn_sdk}"
    if sources.standin:
        return [resources.device_build(target.name) / STANDIN_FOLDER], "the stand-in"
    raise PreflightError(
        "no QNN libraries were named, and heapprof may not ship Qualcomm's",
        hints=(
            "point --qnn-sdk (or QNN_SDK_ROOT) to a QAIRT/QNN SDK, or --qnn-libs to a folder with "
            "libQnnHtp.so, libQnnSystem.so and the phone's Stub and Skel",
        ),
    )


def _sdk_folders(root: Path, target: Target, htp_arch: int | None) -> list[Path]:
    folders: list[Path] = []
    for pattern in target.sdk_folders:
        folders += sorted(root.glob(pattern), key=_version, reverse=True) if "*" in pattern else [root / pattern]
    if htp_arch is not None:
        folders.append(root / f"lib/hexagon-v{htp_arch}/unsigned")
    return folders


def _version(folder: Path) -> list[int]:
    """The numbers in a folder's name: gcc11.2 is newer than gcc9.3."""
    return [int(number) for number in re.findall(r"\d+", folder.name)]


def _first(folders: Iterable[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


@functools.cache
def _is_standin(htp: Path | None) -> bool:
    if htp is None or htp.stat().st_size > _STANDIN_LARGEST:
        return False
    return elf.contains(htp, STANDIN_BUILD_MARK.encode())


def _needed_beside(library: Path, folders: Sequence[Path], known: set[str]) -> dict[str, Path]:
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
            if name in known or name in found or "/" in name or name.startswith(_SYSTEM_LIBRARIES):
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
