"""Do the QNN libraries fit the device, each other and the model? Read out of their ELF files alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from heapprof_cli import elf
from heapprof_cli.artifacts.qnn_build import release
from heapprof_cli.artifacts.resolving import SYSTEM_LIBRARIES
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.preflight.findings import Finding, Severity, Situation
from heapprof_cli.records import Artifact
from heapprof_cli.text import clean

_SKEL = re.compile(r"libQnnHtpV[0-9]+Skel\.so")
_STUB_OR_SKEL = re.compile(r"libQnnHtpV([0-9]+)(Stub|Skel)\.so")
_ONE_SDK = "take all libraries from one QNN SDK"
_GLIBC, _BIONIC = {"libc.so.6"}, {"libc.so", "liblog.so"}


def _qnn(situation: Situation) -> Iterator[tuple[Artifact, elf.ElfFacts]]:
    """QNN's own libraries whose ELF headers can be read."""
    for library in situation.bundle.libraries:
        if library.name.startswith("libQnn"):
            facts = elf.read(Path(library.path))
            if facts is not None:
                yield library, facts


def wrong_system(target: Target, facts: elf.ElfFacts) -> tuple[str, str] | None:
    """The system that an arm64 file was made for and the device's, when they differ; told by the libc it needs."""
    android = target.name.startswith("android")
    if target.machine != "aarch64" or facts.machine != "aarch64":
        return None
    if not (_GLIBC if android else _BIONIC).intersection(facts.needed):
        return None
    return ("Linux with glibc", "Android") if android else ("Android", "Linux with glibc")


def machines(situation: Situation) -> Iterator[Finding]:
    """Skel runs on the Hexagon (32 bit), everything else on the device's CPU."""
    for library, facts in _qnn(situation):
        wanted = ("hexagon", 32) if _SKEL.fullmatch(library.name) else (situation.target.machine, 64)
        if (facts.machine, facts.bits) != wanted:
            yield Finding(
                "library-machine",
                Severity.ERROR,
                f"{library.name} is for {facts.machine} ({facts.bits} bit), needed is {wanted[0]} ({wanted[1]} bit): "
                f"{clean(library.path, 300)}",
                "take it from the SDK's folder for this device: "
                + ("lib/hexagon-vNN/unsigned" if wanted[1] == 32 else situation.target.sdk_folders[0]),
            )


def systems(situation: Situation) -> Iterator[Finding]:
    """Libraries for Linux with glibc don't load on Android, nor the other way round."""
    for library, facts in _qnn(situation):
        wrong = wrong_system(situation.target, facts)
        if wrong is None:
            continue
        yield Finding(
            "library-system",
            Severity.ERROR,
            f"{library.name} is for {wrong[0]}, the device has {wrong[1]}: {clean(library.path, 300)}",
            f"take the libraries from {situation.target.sdk_folders[0]} of the SDK",
        )
        return  # all of one folder are the same: one finding says it


def names(situation: Situation) -> Iterator[Finding]:
    """A Stub or Skel of another arch under this arch's name: only its soname still tells."""
    for library, facts in _qnn(situation):
        told = _STUB_OR_SKEL.fullmatch(facts.soname or "")
        if told and _STUB_OR_SKEL.fullmatch(library.name) and facts.soname != library.name:
            yield Finding(
                "library-arch",
                Severity.ERROR,
                f"{library.name} is really {facts.soname} (HTP V{told[1]}), renamed: {clean(library.path, 300)}",
                _ONE_SDK,
            )


def needs(situation: Situation) -> Iterator[Finding]:
    """Libraries that are needed, are not sent, and are not part of a system, such as libc++_shared.so."""
    sent = {library.name for library in situation.bundle.libraries}
    for library, facts in _qnn(situation):
        if _SKEL.fullmatch(library.name):
            continue
        absent = [name for name in facts.needed if name not in sent and not name.startswith(SYSTEM_LIBRARIES)]
        if absent:
            yield Finding(
                "library-needs",
                Severity.WARNING,
                f"{library.name} needs {clean(', '.join(absent), 300)}: not beside it, perhaps not on the phone",
                "put it beside the other libraries and name their folder with --qnn-libs",
            )


def builds(situation: Situation) -> Iterator[Finding]:
    """All libraries must be of one build: a Stub of one SDK does not talk to the Skel of another."""
    known = {library.name: library.qnn_build for library in situation.bundle.libraries if library.qnn_build}
    if len(set(known.values())) > 1:
        told = ", ".join(f"{name} {build}" for name, build in sorted(known.items()))
        yield Finding("qnn-builds", Severity.ERROR, f"the libraries are of different QNN builds: {told}", _ONE_SDK)


def model_builds(situation: Situation) -> Iterator[Finding]:
    """Libraries refuse a context binary that a newer SDK made."""
    library = next((each for each in situation.bundle.libraries if each.name == "libQnnHtp.so"), None)
    if library is None or not library.qnn_build or situation.bundle.standin:
        return
    for model in situation.models:
        for build in dict.fromkeys(context.binary.qnn_build for context in model.contexts):
            if build and len(release(build)) == 3 and release(build) > release(library.qnn_build):
                yield Finding(
                    "model-build",
                    Severity.ERROR if situation.real_dsp else Severity.WARNING,
                    f"{model.name} was made by QNN {build}, the libraries are older: {library.qnn_build}",
                    "use a QNN SDK at least as new as the one that made the model, or make the model again",
                )
