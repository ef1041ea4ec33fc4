"""How faults strike a shell."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

from heapprof_cli.virtual.faults import Fault, Watch
from heapprof_cli.virtual.streams import Stream
from heapprof_cli.virtual.sync_faults import corrupted


class ShellFaults:
    """Watches one shell from its start. ``strike`` does what concerns the whole phone (drop, offline, reboot)."""

    def __init__(self, watch: Watch, stream: Stream, strike: Callable[[Fault], None]) -> None:
        self._watch = watch
        self._stream = stream
        self._strike = strike
        self._spoil_output: Fault | None = None

    def begin(self) -> Fault | None:
        """The fault that happens instead of the shell, if any: ``fail``, or one for a whole service."""
        fault = self._watch.at_start()
        if fault is None or fault.action not in ("corrupt", "kill"):
            return fault
        self._spoil_output = fault
        return None

    def started(self, pid: int) -> None:
        """The shell runs."""
        if self._spoil_output and self._spoil_output.action == "kill":
            self._spoil_output = None
            kill_group(pid)

    async def output(self, content: memoryview, pid: int) -> memoryview:
        """``content`` as the computer gets it; it may be changed in place. Never returns when the stream is to end."""
        fault, self._spoil_output = self._spoil_output, None
        fault = fault or self._watch.passing(len(content))
        if fault is None:
            return content
        if fault.action == "corrupt":
            content[:] = corrupted(content)
        elif fault.action == "kill":
            kill_group(pid)
        elif fault.action == "garbage":
            self._stream.write(os.urandom(64))
            self._stream.close()
            await _for_ever()
        elif fault.action in ("truncate", "refuse", "fail"):
            self._stream.close()
            await _for_ever()
        else:
            if fault.action != "stall":
                self._strike(fault)
            await _for_ever()
        return content


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def kill_group(pid: int) -> None:
    """SIGKILL to a shell and what it runs in its process group."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
