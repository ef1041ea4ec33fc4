"""How faults strike a sync stream."""

from __future__ import annotations

import os
from collections.abc import Callable

from heapprof_cli.virtual.channel import Channel
from heapprof_cli.virtual.faults import Fault, FaultPlan, Operation, Watch
from heapprof_cli.virtual.sync_files import SyncFailure

_WITH_CONTENT = ("SEND", "SND2", "RECV", "RCV2")


class SyncFaults:
    """Watches the requests of one stream. Methods raise ChannelClosed when a fault ended the stream,
    SyncFailure when the phone is to say that it failed."""

    def __init__(self, plan: FaultPlan, channel: Channel, strike: Callable[[Fault], None]) -> None:
        """``strike`` does what concerns the whole phone (drop, offline, reboot), on the event loop's thread."""
        self._plan = plan
        self._channel = channel
        self._strike = strike
        self._watch = Watch(plan, [])
        self._spoil_reply: Fault | None = None
        self._spoil_content: Fault | None = None
        self.cut_short = False
        """The rest of the content is left away."""

    def begin(self, command: str, path: str) -> None:
        """A request begins."""
        self.cut_short = False
        self._spoil_reply = self._spoil_content = None
        self._watch = self._plan.begin(Operation("sync:", command, path))
        fault = self._watch.at_start()
        if fault is None:
            return
        if fault.action in ("corrupt", "truncate"):
            if command in _WITH_CONTENT:
                self._spoil_content = fault
            else:
                self._spoil_reply = fault
        else:
            self._happen(fault)

    def content(self, data: memoryview) -> memoryview | bytes:
        """A piece of a file, as the other side gets it."""
        if self.cut_short:
            return b""
        fault, self._spoil_content = self._spoil_content, None
        fault = fault or self._watch.passing(len(data))
        if fault is None:
            return data
        if fault.action == "truncate":
            self.cut_short = True
            return data[: len(data) // 2]
        if fault.action == "corrupt":
            return corrupted(data)
        self._happen(fault)
        return data

    def reply(self, data: bytes) -> bytes:
        """An answer, as the computer gets it."""
        fault, self._spoil_reply = self._spoil_reply, None
        if fault is None:
            return data
        if fault.action == "corrupt":
            return data[:4] + corrupted(memoryview(data)[4:])
        self._channel.write(data[: len(data) // 2])
        self._channel.close()
        self._channel.wait_closed()
        return b""

    def _happen(self, fault: Fault) -> None:
        if fault.action == "fail":
            raise SyncFailure(fault.text)
        if fault.action == "garbage":
            self._channel.write(os.urandom(64))
            self._channel.close()
        elif fault.action == "refuse":
            self._channel.close()
        elif fault.action != "stall":
            self._channel.on_loop(lambda: self._strike(fault))
        self._channel.wait_closed()


def corrupted(data: memoryview) -> bytes:
    """``data`` with its first bytes changed."""
    return bytes(byte ^ 0x55 for byte in data[:16]) + bytes(data[16:])
