"""Where QNN libraries may lie: each rule with the folders that it looks into, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import resources
from heapprof_cli.artifacts.archives import ENDINGS, unpacked
from heapprof_cli.artifacts.shipped import STANDIN_FOLDER
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.errors import PreflightError

_CACHE_ENTRY = re.compile(r"^QNN_SDK_ROOT:[A-Z]+=(.+)$", re.MULTILINE)
_LARGEST_CMAKE_CACHE = 16 * 1024 * 1024


@dataclass(frozen=True)
class Sources:
    """Where the user lets QNN libraries come from; the first one given counts.

    ``qnn_libs`` is a folder or an archive (.aar, .zip, .whl), ``build_folder`` an ExecuTorch build.
    """

    qnn_libs: Path | None = None
    qnn_sdk: Path | None = None
    standin: bool = False
    build_folder: Path | None = None


@dataclass(frozen=True)
class Rule:
    """One rule of the search, in words, and the folders it looks into."""

    name: str
    folders: tuple[Path, ...]


def chosen_rule(target: Target, htp_arch: int | None, sources: Sources) -> Rule:
    """The rule that decides. Raises PreflightError when no source was named at all."""
    if sources.qnn_libs is not None:
        return Rule(f"--qnn-libs {sources.qnn_libs}", tuple(_flat(sources.qnn_libs, target, htp_arch)))
    if sources.build_folder is not None:
        return _build_folder(sources.build_folder, sources.qnn_sdk, target, htp_arch)
    if sources.qnn_sdk is not None:
        return Rule(f"the QNN SDK {sources.qnn_sdk}", tuple(_sdk(sources.qnn_sdk, target, htp_arch)))
    if sources.standin:
        return Rule("the stand-in", (resources.device_build(target.name) / STANDIN_FOLDER,))
    raise PreflightError(
        "no QNN libraries were named, and heapprof may not ship Qualcomm's",
        hints=(
            "point --qnn-sdk (or QNN_SDK_ROOT) to a QAIRT/QNN SDK, or --qnn-libs to a folder, an .aar, a .zip or a "
            "wheel with libQnnHtp.so, libQnnSystem.so and the phone's Stub and Skel",
        ),
    )


def _flat(place: Path, target: Target, htp_arch: int | None) -> Iterator[Path]:
    """A folder with all files in it, an SDK, or an archive laid out as one of the usual packages."""
    root = unpacked(place) if place.is_file() and place.suffix.lower() in ENDINGS else place
    yield root
    yield from (root / pattern.split("/")[-1] for pattern in target.sdk_folders if "*" not in pattern)
    if target.machine == "aarch64":
        yield root / "jni/arm64-v8a"  # an .aar
    yield root / "onnxruntime_qnn"  # a wheel
    yield from _sdk(root, target, htp_arch)


def _build_folder(folder: Path, sdk: Path | None, target: Target, htp_arch: int | None) -> Rule:
    """An ExecuTorch build: libraries that lie in it, else those of the SDK that it was configured with."""
    root = sdk or _configured_sdk(folder)
    folders = [folder, folder / "lib", folder / "backends/qualcomm"]
    if root is not None:
        folders += _sdk(root, target, htp_arch)
    return Rule(f"--build-folder {folder}" + (f" and its SDK {root}" if root else ""), tuple(folders))


def _configured_sdk(folder: Path) -> Path | None:
    cache = folder / "CMakeCache.txt"
    try:
        if cache.stat().st_size > _LARGEST_CMAKE_CACHE:
            return None
        found = _CACHE_ENTRY.search(cache.read_text("utf-8", "replace"))
    except OSError:
        return None
    return Path(found[1].strip()) if found else None


def _sdk(root: Path, target: Target, htp_arch: int | None) -> list[Path]:
    """QAIRT 2.x keeps libraries in lib/TARGET, old QNN in target/TARGET/lib; SDKs may lie side by side."""
    roots = [root]
    if not (root / "lib").is_dir() and not (root / "target").is_dir():
        below = [child for child in _children(root) if (child / "lib").is_dir() or (child / "target").is_dir()]
        roots += sorted(below, key=_version, reverse=True)[:1]
    folders: list[Path] = []
    for each in roots:
        for pattern in target.sdk_folders:
            name = pattern.split("/")[-1]
            folders += _matching(each, pattern) + _matching(each, f"target/{name}/lib")
        if htp_arch is not None:
            folders.append(each / f"lib/hexagon-v{htp_arch}/unsigned")
            folders += [each / f"target/hexagon-v{htp_arch}/lib/unsigned", each / f"target/hexagon-v{htp_arch}/lib"]
    return folders


def _children(root: Path) -> list[Path]:
    try:
        return [child for child in root.iterdir() if child.is_dir()]
    except OSError:
        return []


def _matching(root: Path, pattern: str) -> list[Path]:
    if "*" not in pattern:
        return [root / pattern]
    return sorted(root.glob(pattern), key=_version, reverse=True)


def _version(folder: Path) -> list[int]:
    """The numbers in a folder's path: gcc11.2 is newer than gcc9.3."""
    return [int(number) for number in re.findall(r"\d+", folder.name if folder.name != "lib" else folder.parent.name)]
