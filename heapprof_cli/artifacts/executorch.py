"""What ExecuTorch's runner needs on a phone: itself and its QNN backend, out of an ExecuTorch build folder.

The places are those of ExecuTorch's own host script (SimpleADB of backends/qualcomm/export_utils.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heapprof_cli import elf, resources
from heapprof_cli.artifacts.places import Sources
from heapprof_cli.artifacts.resolving import STANDIN_BUILD_MARK, Bundle, Candidate, artifact, needed_beside, resolve
from heapprof_cli.artifacts.shipped import STANDIN_EXECUTORCH
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.errors import PreflightError
from heapprof_cli.records import Artifact
from heapprof_cli.text import clean

PROGRAM = "qnn_executor_runner"
BACKEND = "libqnn_executorch_backend.so"
FLAG = b"heap_profiling_path"
_PLACES = {
    PROGRAM: ("examples/qualcomm/executor_runner", "examples/qualcomm", "", "bin"),
    BACKEND: ("backends/qualcomm", "", "lib"),
}
_BUILD = "build ExecuTorch's Qualcomm backend and examples again (backends/qualcomm/scripts/build.sh)"
_UPDATE = "update ExecuTorch to a version of May 2026 or newer, then " + _BUILD
_OTHERWISE = "or measure with --runner native, which needs no ExecuTorch build"


def resolve_executorch(target: Target, htp_arch: int | None, sources: Sources) -> Bundle:
    """ExecuTorch's runner and backend with the QNN libraries for ``target`` and HTP arch.

    Raises PreflightError: everything that is missing at once, a runner that is too old to write a heap file, or one
    that was built for another kind of device.
    """
    build = sources.build_folder
    if build is None and sources.standin:
        build = resources.device_build(target.name) / STANDIN_EXECUTORCH
    if build is None:
        raise PreflightError(
            "--runner executorch takes its program out of an ExecuTorch build, and none was named",
            stage="artifacts",
            hints=("name the build folder (build-android) with --build-folder", _OTHERWISE),
        )
    problems: list[PreflightError] = []
    qnn = _qnn(target, htp_arch, sources, problems)
    found = {name: _find(build, name) for name in _PLACES}
    program, backend = found[PROGRAM], found[BACKEND]
    if program is None or backend is None:
        problems.append(_missing([name for name, path in found.items() if path is None], build))
    checks = [_wrong_device(path, target) for path in (program, backend) if path is not None]
    checks.append(_too_old(program) if program is not None else None)
    problems += [problem for problem in checks if problem is not None]
    if qnn is None or program is None or backend is None or problems:
        raise _together(problems)
    return _bundle(qnn, build, program, backend)


def knows_heap_profiling(file: Artifact) -> bool:
    """Whether a runner or backend was built with heap profiling: older ones don't hold its option's name."""
    return elf.contains(Path(file.path), FLAG)


def _qnn(target: Target, arch: int | None, sources: Sources, problems: list[PreflightError]) -> Bundle | None:
    try:
        return resolve(target, arch, sources)
    except PreflightError as error:
        problems.append(error)
        return None


def _bundle(qnn: Bundle, build: Path, program: Path, backend: Path) -> Bundle:
    known = {library.name for library in qnn.libraries} | {BACKEND}
    folders = [build, build / "lib", *(Path(library.path).parent for library in qnn.libraries)]
    beside: dict[str, Path] = {}
    for path in (program, backend):
        beside.update(needed_beside(path, folders, known | set(beside)))
    own = [artifact(backend, BACKEND), *(artifact(path, name) for name, path in beside.items())]
    standin = any(elf.contains(path, STANDIN_BUILD_MARK.encode()) for path in (program, backend))
    return replace(
        qnn,
        runner=artifact(program, PROGRAM, executable=True),
        libraries=tuple(sorted((*qnn.libraries, *own), key=lambda library: library.name)),
        standin=qnn.standin or standin,
        candidates=(*qnn.candidates, *_candidates(build)),
    )


def _find(build: Path, name: str) -> Path | None:
    return next((path for place in _PLACES[name] if (path := build / place / name).is_file()), None)


def _candidates(build: Path) -> list[Candidate]:
    paths = [(name, build / place / name) for name, places in _PLACES.items() for place in places]
    return [Candidate(name, str(path), path.is_file(), path == _find(build, name)) for name, path in paths]


def _missing(names: Sequence[str], build: Path) -> PreflightError:
    looked = "; ".join(f"{name} in {', '.join(place or '.' for place in _PLACES[name])}" for name in names)
    return PreflightError(
        f"missing in the ExecuTorch build {clean(str(build), 300)}: {', '.join(names)}",
        hints=(f"looked for {looked}", _BUILD, _OTHERWISE),
    )


def _together(problems: Sequence[PreflightError]) -> PreflightError:
    hints = dict.fromkeys(hint for problem in problems for hint in problem.hints)
    return PreflightError("; ".join(problem.message for problem in problems), stage="artifacts", hints=hints)


def _wrong_device(path: Path, target: Target) -> PreflightError | None:
    """A file for another processor, or for the other C library of the right one."""
    facts = elf.read(path)
    if facts is None:
        return None
    android = target.name.startswith("android")
    if facts.machine != target.machine or facts.bits != 64:
        what = f"is for {facts.machine} ({facts.bits} bit), the device needs {target.machine} (64 bit)"
    elif android and "libc.so.6" in facts.needed:
        what = "is for Linux with glibc, the device has Android"
    elif not android and {"libc.so", "liblog.so"}.intersection(facts.needed):
        what = "is for Android, the device is Linux with glibc"
    else:
        return None
    return PreflightError(
        f"{path.name} {what}: {clean(str(path), 300)}",
        hints=("name the build folder for this device with --build-folder (build-android for a phone)",),
    )


def _too_old(program: Path) -> PreflightError | None:
    if elf.contains(program, FLAG):
        return None
    return PreflightError(
        f"{PROGRAM} is too old for heap profiling: it does not know the flag --heap_profiling_path: "
        f"{clean(str(program), 300)}",
        hints=(_UPDATE, _OTHERWISE),
    )
