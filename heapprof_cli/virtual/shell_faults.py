"""How faults strike a shell."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from typing import Protocol

from heapprof_cli.virtual.faults import Fault, Watch
from heapprof_cli.virtual.streams import Stream


class _Shell(Protocol):
    @property
    def pid(self) -> int: ...


class ShellFaults:
    """Watches what one shell prints."""

    def __init__(self, watch: Watch, stream: Stream, strike: Callable[[Fault], None]) -> None:
        self._watch = watch
        self._stream = stream
        self._strike = strike

    async def output(self, content: memoryview, shell: _Shell) -> memoryview:
        """``content`` as the computer gets it; it is changed in place. Never returns when a fault ends the stream."""
        fault = self._watch.passing(len(content)) if self._watch else None
        if fault is None:
            return content
        if fault.action == "corrupt":
            content[:16] = bytes(byte ^ 0x55 for byte in content[:16])
            return content
        if fault.action == "kill":
            kill_group(shell.pid)
            return content
        if fault.action == "garbage":
            content[:] = os.urandom(len(content))
            return content
        if fault.action == "stall":
            await asyncio.get_running_loop().create_future()
        elif fault.action in ("truncate", "refuse", "fail"):
            self._stream.close()
            await asyncio.get_running_loop().create_future()
        else:
            self._strike(fault)
            await asyncio.get_running_loop().create_future()
        return content


def kill_group(pid: int) -> None:
    """SIGKILL to a shell and what it runs in its process group."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
