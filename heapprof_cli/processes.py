"""The one place where processes are started: a small typed layer over subprocess, fork and asyncio."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import termios
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

Arguments = Sequence[str | Path]


@dataclass(frozen=True)
class Finished:
    """How a program ended; ``code`` is negative for a signal, as in :mod:`subprocess`."""

    code: int
    stdout: bytes
    stderr: bytes


def run(
    arguments: Arguments,
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
) -> Finished:
    """Run a program to its end and take what it says.

    Raises TimeoutError after ``timeout`` seconds (the program is killed), OSError when it can't be started.
    """
    try:
        done = subprocess.run(
            [os.fspath(argument) for argument in arguments],
            input=stdin,
            capture_output=True,
            env=dict(env) if env is not None else None,
            cwd=cwd,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{arguments[0]} did not end within {timeout:g} s") from None
    return Finished(done.returncode, done.stdout, done.stderr)


class Child:
    """A program that runs beside us, in a session of its own: the terminal's Ctrl-C does not reach it.

    Its standard input is a pipe from us (``stdin``), which ends with us, whatever ends us. Raises OSError.
    """

    def __init__(
        self,
        arguments: Arguments,
        *,
        stderr: int | IO[bytes],
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._process = subprocess.Popen(
            [os.fspath(argument) for argument in arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=dict(env) if env is not None else None,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stdin: IO[bytes] = self._process.stdin
        self.stdout: IO[bytes] = self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    def ended(self) -> bool:
        return self._process.poll() is not None

    def end(self, timeout: float) -> bool:
        """Close its input and wait; kill it after ``timeout`` seconds. True when it ended by itself."""
        with contextlib.suppress(OSError):
            self.stdin.close()
        try:
            self._process.wait(timeout)
            return True
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        finally:
            self.stdout.close()


# The shell is the program's parent, so that the process id it kills can't have become someone else's.
_TETHER = (
    'folder=$1; shift; "$@" >&2 & child=$!; echo "$child"; exec >/dev/null; read -r _; '
    'kill -KILL "$child"; wait "$child"; rm -rf -- "$folder"'
)


class Tethered:
    """A server that ends when we end, even by SIGKILL: a small shell holds it and reads a pipe from us.

    ``folder`` is its own and is removed with it; ``log`` gets what it prints. Raises OSError when it can't be started.
    """

    def __init__(self, arguments: Arguments, *, env: Mapping[str, str], folder: Path, log: IO[bytes]) -> None:
        self._holder = Child(["/bin/sh", "-c", _TETHER, "sh", folder, *arguments], stderr=log, env=env)
        self.pid = int(self._holder.stdout.readline() or -1)

    def alive(self) -> bool:
        return self.pid > 0 and not self._holder.ended() and process_state(self.pid) not in ("", "Z", "X")

    def stop(self) -> None:
        self._holder.end(timeout=10)


def process_state(pid: int) -> str:
    """The state letter of a process by proc(5): ``R``, ``S``, ``Z``, ...; empty when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


class Spawned:
    """A program started inside an asyncio loop, in a session of its own, on file descriptors of the caller."""

    def __init__(
        self,
        arguments: Arguments,
        *,
        stdin: int,
        stdout: int,
        stderr: int,
        env: Mapping[str, str],
        cwd: str,
        terminal: bool = False,
    ) -> None:
        """``terminal``: ``stdin`` is a terminal that becomes the program's controlling one. Raises OSError."""
        self._process = subprocess.Popen(
            [os.fspath(argument) for argument in arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_take_terminal if terminal else None,  # noqa: PLW1509  (one call, no locks)
        )
        self.pid = self._process.pid

    def signal(self, number: int) -> None:
        """Send a signal to this process alone; nothing happens when it has ended."""
        self._process.send_signal(number)

    async def wait(self) -> int:
        """The exit code; negative for a signal."""
        import asyncio  # slow to import, and only the virtual phone waits in a loop

        loop = asyncio.get_running_loop()
        try:
            descriptor = os.pidfd_open(self.pid)
        except OSError:  # a kernel before 5.3, or one that forbids it
            return await loop.run_in_executor(None, self._process.wait)
        ended = asyncio.Event()
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        return self._process.wait()


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def fork(work: Callable[[], int]) -> int:
    """Run ``work`` in a forked copy of this (single-threaded) process and end it there with its result.

    Returns the process id. An exception in ``work`` is told on stderr and ends the copy with code 70.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
