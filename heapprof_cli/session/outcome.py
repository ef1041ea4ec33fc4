"""How the runner ended, in words: which stage, which cause, what to do next."""

from __future__ import annotations

from heapprof_cli.errors import HeapprofError, RunnerError, StageTimeout
from heapprof_cli.records import Payload
from heapprof_cli.session.runner_status import RunnerExit, RunnerStatus
from heapprof_cli.text import clean

_NOT_SUPPORTED = 1000
SIGNALS = {1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
            11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM", 31: "SIGSYS"}  # fmt: skip

_STAGE_HINTS: dict[RunnerExit, str] = {
    RunnerExit.LOAD: "check that the QNN libraries are for this device and complete (all of one SDK)",
    RunnerExit.SETUP: "check Stub and Skel: the HTP device could not be opened with these libraries",
    RunnerExit.CREATE: "check that the model was made for this SoC and by an SDK no newer than these libraries",
    RunnerExit.EXECUTE: "check the inputs and the DSP's log (`adb logcat`)",
    RunnerExit.FREE: "look at the runner's output with -v",
    RunnerExit.WRITE: "check the free space on the phone",
    RunnerExit.INPUT: "correct the input list: one file per input tensor, each of its tensor's exact size",
    RunnerExit.USAGE: "runner and heapprof are of different versions: install heapprof again",
}


def failure_of(
    shell_status: int,
    status: RunnerStatus | None,
    stage_seen: str | None,
    tail: str,
    payloads: tuple[Payload, ...],
) -> HeapprofError | None:
    """Why the runner failed, or None when it ended well.

    ``shell_status`` is the exit status on the phone, ``stage_seen`` the last stage it announced,
    ``tail`` its last words.
    """
    if shell_status == RunnerExit.OK:
        return None
    stage = (status.stage if status else None) or stage_seen or "start"
    if shell_status in (126, 127):
        return RunnerError(
            f"the phone can't execute the runner (status {shell_status}): {tail or 'no reason given'}",
            stage="start",
            hints=("the workspace may be mounted noexec (choose another with --workspace), "
                   "or the device needs another --runner-target",),
        )  # fmt: skip
    if shell_status == RunnerExit.TIME_LIMIT:
        return StageTimeout(
            f"the runner ran past its time limit in the stage '{stage}' and was ended",
            hints=("raise it with --timeout SECONDS; a hung DSP needs a reboot of the phone",),
        )
    if shell_status == RunnerExit.CRASHED or shell_status > 128:
        return _crashed(shell_status, status, stage, tail)
    if status is not None and status.error_message is not None:
        return _explained(shell_status, status, stage, payloads)
    return RunnerError(
        f"the runner failed in the stage '{stage}' (exit status {shell_status}): {tail or 'it said nothing'}",
        hints=_hints(shell_status),
    )


def _crashed(shell_status: int, status: RunnerStatus | None, stage: str, tail: str) -> HeapprofError:
    number = shell_status - 128
    signal = (status.signal_name if status else None) or SIGNALS.get(number, f"signal {number}")
    return RunnerError(
        f"the runner was ended by {signal} in the stage '{stage}'" + (f": {tail}" if tail else ""),
        hints=(
            "a crash inside the QNN library often means a damaged model file or libraries of different SDKs: "
            "make the model again, take all libraries from one SDK",
        ),
    )


def _explained(shell_status: int, status: RunnerStatus, stage: str, payloads: tuple[Payload, ...]) -> HeapprofError:
    code = f" (error {status.error_code})" if status.error_code is not None else ""
    call = f" in {status.error_call}" if status.error_call else ""
    where = f" for {_model_name(status.error_model, payloads)}" if status.error_model else ""
    hints = _hints(shell_status)
    if status.error_code == _NOT_SUPPORTED and shell_status == RunnerExit.CREATE:
        hints = (
            "DSP heap profiling exists in the phone's libraries only: the x86_64 library is an emulator "
            "without a DSP; on a phone, use a QNN SDK that supports it",
        )
    return RunnerError(
        f"the runner failed in the stage '{stage}'{where}{call}{code}: {status.error_message}", hints=hints
    )


def _hints(shell_status: int) -> tuple[str, ...]:
    found = next((hint for code, hint in _STAGE_HINTS.items() if code == shell_status), None)
    return (found,) if found else ("look at the runner's output with -v",)


def _model_name(remote: str, payloads: tuple[Payload, ...]) -> str:
    """The user's name of the model that the runner knows as ``model_N.bin``."""
    for index, payload in enumerate(payloads):
        if remote.endswith(remote_name(index)):
            return payload.name
    return clean(remote, 100)


def remote_name(index: int) -> str:
    """The safe name under which context binary ``index`` lies on the phone."""
    return f"model_{index}.bin"
