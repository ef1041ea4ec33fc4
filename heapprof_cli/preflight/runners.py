"""Does the runner's file fit the device and this heapprof? Read out of the file alone, before it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import heapprof_cli
from heapprof_cli import elf
from heapprof_cli.preflight.findings import Finding, Severity, Situation
from heapprof_cli.preflight.libraries import wrong_system
from heapprof_cli.records import RUNNER_NAME
from heapprof_cli.text import clean

# What `heapprof_runner --version` prints lies in the file as it is (device_bin/runner/main.c).
_VERSION = re.compile(rb"heapprof_runner ([0-9][0-9A-Za-z.+-]{0,40}) ([a-z0-9_-]{1,40})\n")
_BUILD_AGAIN = "install heapprof again; in a checkout `heapprof runner build` builds it anew"


def machine(situation: Situation) -> Iterator[Finding]:
    """A runner of another machine or system ends on the phone with "No such file" or "Exec format error"."""
    runner, target = situation.bundle.runner, situation.target
    facts = elf.read(Path(runner.path))
    where = clean(runner.path, 300)
    if facts is None:
        text = f"{runner.name} is no program: not an ELF file, or a damaged one: {where}"
    elif (facts.machine, facts.bits) != (target.machine, 64):
        text = (
            f"{runner.name} is for {facts.machine} ({facts.bits} bit), "
            f"the device needs {target.machine} (64 bit): {where}"
        )
    elif wrong := wrong_system(target, facts):
        text = f"{runner.name} is for {wrong[0]}, the device has {wrong[1]}: {where}"
    else:
        return
    fix = _BUILD_AGAIN if runner.name == RUNNER_NAME else f"name a --build-folder that was built for {target.name}"
    yield Finding("runner-machine", Severity.ERROR, text, fix)


def version(situation: Situation) -> Iterator[Finding]:
    """heapprof's own runner must be of this heapprof: flags and status file change together with it."""
    runner = situation.bundle.runner
    if runner.name != RUNNER_NAME:
        return
    found = elf.search(Path(runner.path), _VERSION)
    words = _VERSION.fullmatch(found) if found else None
    told = words[1].decode() if words else "of an unknown version"
    if told != heapprof_cli.__version__:
        text = f"{runner.name} is {told}, heapprof is {heapprof_cli.__version__}: {clean(runner.path, 300)}"
        yield Finding("runner-version", Severity.ERROR, text, _BUILD_AGAIN)
