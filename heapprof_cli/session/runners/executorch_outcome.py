"""How ExecuTorch's runner ended, in words. It has no status file: exit status, signal and log must tell.

The log lines are those of pytorch/executorch; everything a log says comes from a phone and is cleaned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from heapprof_cli.artifacts.executorch import BACKEND, PROGRAM, knows_heap_profiling
from heapprof_cli.device.phone import Leavings
from heapprof_cli.device.shell import ShellResult
from heapprof_cli.errors import HeapprofError, RunnerError, StageTimeout
from heapprof_cli.records import Verdict
from heapprof_cli.session.judge import Judgement
from heapprof_cli.session.outcome import SIGNALS
from heapprof_cli.session.story import Story
from heapprof_cli.text import clean_lines

_LINES, _WIDTH = 400, 300
_ABORTED = 128 + 6
_UNKNOWN_FLAG = re.compile(r"unknown command line flag '?([\w-]{1,64})")
# bionic's linker, and glibc's.
_LINK_ERROR = re.compile(
    r'CANNOT LINK EXECUTABLE|library "([^"]{1,200})" not found|error while loading shared libraries: ([^:]{1,200}):'
)
_ASSERTION = re.compile(r"assert failed \(.{0,200}?\): (.+)")
_ERROR_LINE = re.compile(r"\[ERROR\]|^E \d\d:|\bCannot Open QNN library\b|dlopen failed")
_PREFIX = re.compile(r"^[A-Z] [0-9:.]+ executorch:[\w.]+:?\d*\] |^\[[A-Z]+\] (\[Qnn ExecuTorch\]: )?")
_VERBOSE = "look at the runner's output with -v"


def failure_of(shell: ShellResult, *, before: int | None, overdue: bool, seconds: float) -> HeapprofError | None:
    """Why the runner failed, or None when it ended well. ``overdue``: the watchdog ended it after ``seconds``;
    ``before``: the first line of the heap file, where it came so far."""
    when = "" if before is None else " after its first context was made"
    if overdue:
        return StageTimeout(
            f"the runner ran past its time limit of {seconds:g} s and was ended{when}",
            hints=("raise it with --timeout SECONDS; a hung DSP needs a reboot of the phone",),
        )
    if shell.status == 0:
        return None
    lines = _log(shell)
    return _not_started(shell.status, lines) or _ended_badly(shell.status, lines, when)


def _not_started(status: int, lines: Sequence[str]) -> HeapprofError | None:
    """Failures before the runner's own work: flags, libraries, permission."""
    flag = _first(_UNKNOWN_FLAG, lines)
    if flag:
        return RunnerError(
            f"{PROGRAM} does not know the flag --{flag[1]}: this build of ExecuTorch is too old, or another program",
            stage="start",
            hints=(
                "update ExecuTorch and build it again (heap profiling came in May 2026), and give --build-folder",
                "or measure with --runner native, which needs no ExecuTorch build",
            ),
        )
    link = _first(_LINK_ERROR, lines)
    if link:
        named = next((match for line in lines for match in _LINK_ERROR.finditer(line) if match[1] or match[2]), None)
        name = (named[1] or named[2]) if named else "a library"
        return RunnerError(
            f"{PROGRAM} can't be started: {name} is not on the phone",
            stage="start",
            hints=(
                f"put it into the build folder or beside the QNN libraries (ExecuTorch's own is {BACKEND})",
                "a build for another Android or another target links other libraries: build it for this device",
            ),
        )
    if status in (126, 127):
        return RunnerError(
            f"the phone can't execute {PROGRAM} (status {status}): {_tail(lines)}",
            stage="start",
            hints=("the workspace may be mounted noexec (choose another with --workspace), "
                   "or the build is for another kind of device",),
        )  # fmt: skip
    return None


def _ended_badly(status: int, lines: Sequence[str], when: str) -> HeapprofError:
    cause = _cause(lines)
    assertion = _first(_ASSERTION, lines)
    if status == _ABORTED and assertion:  # ExecuTorch's checks end the process that way
        return RunnerError(
            f"ExecuTorch gave up: {assertion[1]}" + (f"; first error: {cause}" if cause else ""),
            hints=(
                "check that the program was made for this SoC and by a QNN SDK no newer than these libraries, and by "
                "the version of ExecuTorch that the runner was built from",
            ),
        )
    told = cause or _tail(lines)
    if status > 128:
        signal = SIGNALS.get(status - 128, f"signal {status - 128}")
        return RunnerError(
            f"the runner was ended by {signal}{when}: {told}",
            hints=("a crash inside the QNN library often means a damaged model or libraries of different SDKs: take "
                   "all libraries from one SDK; SIGKILL often means that the phone had no memory left",),
        )  # fmt: skip
    return RunnerError(f"the runner failed (exit status {status}): {told}", hints=(_VERBOSE,))


def without_heap_file(story: Story, shell: ShellResult, leavings: Leavings) -> Judgement:
    """The runner ended well and wrote no heap file: the log, the program and the files tell why."""
    why, hint = _why_none(story, _log(shell))
    if leavings.other_heap_files:
        others = ", ".join(leavings.other_heap_files)
        why = f"{why}; the only heap file in the workspace is of another run and was not used: {others}"
        return Judgement(Verdict.STALE, why, hints=(hint,))
    return Judgement(Verdict.MISSING, f"there is no heap file: {why}", hints=(hint,))


def _why_none(story: Story, lines: Sequence[str]) -> tuple[str, str]:
    text = "\n".join(lines)
    model = story.models[0]
    native = "or measure with --runner native, which profiles whatever the program was compiled with"
    old = [a.name for a in story.artifacts if a.name == BACKEND and not knows_heap_profiling(a)]
    if old:
        return (f"{BACKEND} is older than the runner: it does not know heap profiling",
                "build runner and backend together, of one version of ExecuTorch")  # fmt: skip
    if "Heap profiling path is empty" in text:
        return ("the runner's backend was given no path for it",
                "runner and backend are of different versions: build them together")  # fmt: skip
    if "Not HTP backend but enable htp profiling" in text:
        return ("the HTP library delivered no DSP heap events, or a delegate is not for the HTP backend",
                "take the libraries from a newer QNN SDK, and check the program with `heapprof inspect`")  # fmt: skip
    if "Profile handle is null" in text or model.profile_level == 0:
        level = "was compiled with profile level 0, and this build of the runner did not override that" \
            if model.profile_level == 0 else "runs without a profile"  # fmt: skip
        return (f"profiling is off: {model.name} {level}", f"export it again with profile_level=2, {native}")
    return ("the runner ended well but wrote none, and its log does not say why", f"{_VERBOSE}, {native}")


def _log(shell: ShellResult) -> list[str]:
    """The last lines of both streams: on Android the program's log is on stderr, a library's on stdout."""
    return [line for stream in (shell.stdout, shell.stderr) for line in clean_lines(stream.text(), _LINES, _WIDTH)]


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next((match for line in lines if (match := pattern.search(line))), None)


def _cause(lines: Sequence[str]) -> str | None:
    """The first error of the log: later ones only pass it on."""
    line = next((line for line in lines if _ERROR_LINE.search(line)), None)
    return _PREFIX.sub("", line) if line else None


def _tail(lines: Sequence[str]) -> str:
    return " / ".join(_PREFIX.sub("", line) for line in lines[-3:]) or "it said nothing"
