"""The settings of a measurement, checked once; everything after this trusts them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heapprof_cli import performance, socs
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

DEFAULT_WORKSPACE = "/data/local/tmp/heapprof"
AUTO = "auto"
LEAST_CYCLES = 4  # fewer do not tell a leak from a one-time cost
NATIVE, EXECUTORCH = "native", "executorch"
RUNNERS = (NATIVE, EXECUTORCH)
_LONGEST_WORKSPACE = 200
# Preflight's and the doctor's checks, by the names that --skip takes.
CHECK_NAMES = (
    "abi", "adb-versions", "adsp-path", "artifacts", "conditions", "dsp-users", "fastrpc", "fit", "free-space",
    "governor", "htp", "library-arch", "library-machine", "library-needs", "library-system", "model-arch",
    "model-build", "model-file", "model-soc", "model-vtcm", "phone", "phone-busy", "phone-state", "qnn-builds",
    "runner-machine", "runner-version", "soc", "thermal", "unsigned-pd", "vendor-copies", "workspace",
)  # fmt: skip


@dataclass(frozen=True)
class RunSettings:
    """What ``heapprof run`` was asked to do. ``timeout`` is the runner's, in seconds; 0 means none.

    ``origins`` says of each option who set it: "flag", "environment NAME", "FILE:LINE" or "default".
    """

    models: tuple[Path, ...]
    server: ServerAddress
    serial: str | None = None
    alias: str | None = None
    soc: str = AUTO
    runner: str = NATIVE
    runner_target: str | None = None
    qnn_sdk: Path | None = None
    qnn_libs: Path | None = None
    build_folder: Path | None = None
    skip: frozenset[str] = frozenset()
    strict: bool = False
    perf_mode: int = 0
    profile_level: int | None = None  # the runner's own default
    log_level: int = 2
    input_list: Path | None = None
    iterations: int = 1
    warm_up: int = 0
    runs: int = 1
    cycles: int = 1
    warm_up_cycles: int = 0
    max_difference: int | None = None
    max_leak_per_cycle: int | None = None
    max_growth: str | None = None
    baseline: Path | None = None
    require_baseline: bool = False
    timeout: float = 600.0
    workspace: str = DEFAULT_WORKSPACE
    keep: bool = False
    cache: bool = True
    cache_limit: int = 8 * 1024**3
    wait: float = 0.0
    stall_timeout: float = 30.0
    bundle: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def used_profile_level(self) -> int:
        """The QNN profile level: heap events need basic (1); ExecuTorch's own scripts profile in detail (2)."""
        if self.profile_level is not None:
            return self.profile_level
        return 2 if self.runner == EXECUTORCH else 1

    def described(self) -> dict[str, object]:
        """The settings that shape the number, for the result; no serials, no host paths."""
        return {
            "soc": self.soc,
            "perf_mode": performance.MODES[self.perf_mode],
            "profile_level": self.used_profile_level,
            "log_level": self.log_level,
            "iterations": self.iterations,
            "warm_up": self.warm_up,
            "runs": self.runs,
            "cycles": self.cycles,
            "warm_up_cycles": self.warm_up_cycles,
            "max_difference_bytes": self.max_difference,
            "max_leak_per_cycle_bytes": self.max_leak_per_cycle,
            "max_growth": self.max_growth,
            "baseline": clean(self.baseline.name) if self.baseline else None,
            "input_list": clean(self.input_list.name) if self.input_list else None,
            "timeout_seconds": self.timeout,
            "workspace": clean(self.workspace),
            "keep": self.keep,
            "cache": self.cache,
        }


def check_workspace(text: str) -> str:
    """A folder on the phone that is safe to work in. Raises UsageError.

    ``:`` and ``;`` separate the entries of LD_LIBRARY_PATH and ADSP_LIBRARY_PATH and can't be quoted there.
    """
    folder = re.sub(r"/+", "/", text).rstrip("/")
    problem = None
    if not folder.startswith("/"):
        problem = "it must be an absolute path on the phone"
    elif any(part in (".", "..") for part in folder.split("/")):
        problem = "it may not hold '.' or '..'"
    elif folder.count("/") < 2:
        problem = "it must lie at least one folder below the top"
    elif any(c in folder for c in ":;") or any(ord(c) < 32 or ord(c) == 127 for c in folder):
        problem = "it may not hold ':', ';' or control characters"
    elif len(folder.encode("utf-8", "surrogateescape")) > _LONGEST_WORKSPACE:
        problem = f"it is longer than {_LONGEST_WORKSPACE} bytes"
    if problem:
        raise UsageError(f"--workspace {clean(text, 300)!r}: {problem}", hints=(f"the default is {DEFAULT_WORKSPACE}",))
    return folder


def check_skip(names: Iterable[str]) -> frozenset[str]:
    """The preflight checks to leave out. Raises UsageError with a suggestion for one that does not exist."""
    for name in names:
        if name not in CHECK_NAMES:
            near = difflib.get_close_matches(name, CHECK_NAMES, n=1)
            suggestion = f"did you mean {near[0]}? " if near else ""
            raise UsageError(
                f"unknown check {clean(name, 60)!r} for --skip", hints=(f"{suggestion}known: {', '.join(CHECK_NAMES)}",)
            )
    return frozenset(names)


def check_soc(text: str) -> str:
    """A known SoC's name (its family's spelling) or ``auto``. Raises UsageError with a suggestion."""
    if text.strip().lower() == AUTO:
        return AUTO
    found = socs.find(text)
    if found is not None:
        return found.name
    names = [soc.name for soc in socs.all_socs()]
    near = difflib.get_close_matches(text.strip().upper(), names, n=1, cutoff=0.5)
    suggestion = f"did you mean {near[0]}? " if near else ""
    raise UsageError(
        f"unknown SoC {clean(text, 60)!r} for --soc", hints=(f"{suggestion}known: {', '.join(sorted(names))}",)
    )


def check_seconds(value: float, option: str) -> float:
    """A number of seconds; below a millisecond counts as one, 0 means none. Raises UsageError for no number."""
    if not math.isfinite(value):
        raise UsageError(f"{option}: {value} is no number of seconds")
    return max(value, 0.001) if value > 0 else 0.0


def check_size(text: str, option: str) -> int:
    """Bytes of a size such as ``4096``, ``4 KiB``, ``1.5GB``. Raises UsageError."""
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmgt]?)(i?)b?\s*", text.lower(), re.ASCII)
    if match is None:
        raise UsageError(f"{option}: {clean(text, 60)!r} is no size", hints=("for example 4096, 4 KiB, 1.5 GB",))
    base = 1024 if match[3] or not match[2] else 1000
    factor: int = base ** " kmgt".index(match[2] or " ")
    return int(float(match[1]) * factor)


def check_perf_mode(text: str) -> int:
    """The number of a performance mode. Raises UsageError that lists the names."""
    number = performance.mode_number(text)
    if number is None:
        known = ", ".join(f"{i} {name}" for i, name in enumerate(performance.MODES))
        raise UsageError(f"unknown performance mode {clean(text, 60)!r} for --perf-mode", hints=(f"known: {known}",))
    return number
