"""The phone's log (logcat) of the time of a run, and of it only what is about that run.

Asked for where a run failed. Other apps log and crash at the same time, so a line counts only when a process of the
run wrote it, when it names one, or when the kernel or FastRPC's daemons say something of the DSP or of memory.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from heapprof_cli.device.scripts import MARKER, PID, RunFolder

_MOST_BYTES = 4 * 1024 * 1024
_TOMBSTONE_LINES = 60  # its head: signal, abort message, the first frames
_PROGRAMS = r"heapprof_runner|qnn_executor_runner"
_DAEMONS = r"[ac]dsprpcd"
_KERNEL = r"adsprpc|fastrpc|cdsp|lowmemorykiller|oom|[Oo]ut of memory|avc:"
_SECONDS = 10  # a logcat that does not answer is ended on the phone
_CRASHES = r" F (DEBUG|crash_dump[0-9]*) *:"
# threadtime: "12-07 10:00:00.123  1234  1240 E tag     : text"
_LINE = re.compile(r"^\d\d-\d\d +[\d:.]+ +(\d+) +\d+ [VDIWEFS] (.*?) *: ?(.*)$", re.ASCII)
# What a kernel's line is about, where that is one process: a kill, a denial.
_ABOUT = re.compile(
    r"\bpid[=:] ?(\d{1,10})|\bcomm=\"?([^\" ]{1,64})|(?:Killed process|Killing|Kill) (?:'[^']{1,64}' \()?(\d{1,10})"
)
_CRASHED = re.compile(r"\bpid: (\d{1,10}), tid: ")


def window(folder: RunFolder, pid: int | None) -> str:
    """Prints the log since the run began, as the phone's own clock has it, threadtime format.

    ``pid``: of the process that did the work, where the runner told it; the runner's own lies in the run's folder.
    Prints nothing where there is no logcat or no clock to ask.
    """
    more = "" if pid is None else f"|{int(pid)}"
    head = "^[0-9-]+ +[0-9:.]+ +"
    # $p is a number or nothing: it is checked before it gets into the pattern.
    others = f"|{_PROGRAMS}|{_DAEMONS}|{_CRASHES}|{head}0 +0 .*({_KERNEL})"
    pattern = f'{shlex.quote(head)}"($p{more}) "{shlex.quote(others)}'
    return (
        f"cd {shlex.quote(folder.path)} || exit 97; command -v logcat >/dev/null 2>&1 || exit 0; "
        f"w='timeout {_SECONDS}'; command -v timeout >/dev/null 2>&1 || w=; "
        f"t=$(date -r {MARKER} '+%m-%d %H:%M:%S.000' 2>/dev/null); [ -n \"$t\" ] || exit 0; "
        f"p=$(cat {PID} 2>/dev/null); case \"$p\" in ''|*[!0-9]*) p=none;; esac; "
        "for b in main,system,crash kernel; do "
        '$w logcat -d -b "$b" -v threadtime -T "$t" 2>/dev/null; done | '
        f"grep -E -e {pattern} | head -c {_MOST_BYTES}; exit 0"
    )


def of_the_run(text: str, pids: Iterable[int]) -> list[str]:
    """The lines of :func:`window` without other programs' crashes, kills and denials, each crash's report cut."""
    ours = {str(pid) for pid in pids}
    lines = text.splitlines()
    reports: dict[str, bool] = {}
    for line in lines:
        found = _LINE.match(line)
        crashed = _CRASHED.search(line) if found and _crash_report(found[2]) else None
        if found and crashed:
            reports[found[1]] = crashed[1] in ours or re.search(_PROGRAMS, line) is not None
    kept: list[str] = []
    counts: dict[str, int] = {}
    for line in lines:
        found = _LINE.match(line)
        if found and _crash_report(found[2]):
            counts[found[1]] = counts.get(found[1], 0) + 1
            if not reports.get(found[1]) or counts[found[1]] > _TOMBSTONE_LINES:
                continue
        if found and found[1] == "0" and _about_others(found[3], ours):
            continue
        kept.append(line)
    return kept


def _about_others(text: str, ours: set[str]) -> bool:
    """Whether a kernel's line is about one process, and that is none of the run's."""
    about = [word for match in _ABOUT.finditer(text) for word in match.groups() if word]
    return bool(about) and not ours.intersection(about) and re.search(_PROGRAMS, text) is None


def _crash_report(tag: str) -> bool:
    return tag == "DEBUG" or tag.startswith("crash_dump")
