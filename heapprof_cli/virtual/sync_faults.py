"""How faults strike a sync stream."""

from __future__ import annotations

import os
from collections.abc import Callable

from heapprof_cli.virtual.channel import Channel
from heapprof_cli.virtual.faults import Fault, FaultPlan, Operation, Watch


class InjectedFailure(Exception):
    """The phone is to answer FAIL with this text."""


class SyncFaults:
    """Watches the requests of one stream. Methods raise ChannelClosed when a fault ended the stream,
    InjectedFailure when the phone is to say that it failed."""

    def __init__(self, plan: FaultPlan, channel: Channel, strike: Callable[[Fault], None]) -> None:
        """``strike`` does what concerns the whole phone (drop, offline, reboot), on the event loop's thread."""
        self._plan = plan
        self._channel = channel
        self._strike = strike
        self._watch = Watch(plan, [])
        self._reply_fault: Fault | None = None
        self.cut_short = False
        """The rest of the content is left away."""

    def begin(self, command: str, path: str) -> None:
        """A request begins."""
        self.cut_short = False
        self._reply_fault = None
        self._watch = self._plan.begin(Operation("sync:", command, path))
        if not self._watch:
            return
        fault = self._watch.at_start()
        if fault is None:
            return
        if fault.action in ("corrupt", "truncate", "garbage") and command in ("STAT", "STA2", "LST2"):
            self._reply_fault = fault
        elif fault.action in ("corrupt", "truncate"):
            self._start_of_content = fault
            self._reply_fault = None
            self._pending = fault
        else:
            self._happen(fault)

    _pending: Fault | None = None

    def incoming(self, data: memoryview) -> memoryview | bytes:
        """Content from the computer, as the phone gets it."""
        return self._content(data)

    def outgoing(self, data: memoryview) -> memoryview | bytes:
        """Content to the computer, as the computer gets it."""
        return self._content(data)

    def reply(self, data: bytes) -> bytes:
        """An answer, as the computer gets it."""
        fault, self._reply_fault = self._reply_fault, None
        if fault is None:
            return data
        if fault.action == "garbage":
            return os.urandom(len(data))
        if fault.action == "corrupt":
            return data[:4] + bytes(byte ^ 0x55 for byte in data[4:])
        self._channel.write(data[: len(data) // 2])
        self._channel.close()
        self._channel.wait_closed()
        return b""

    def _content(self, data: memoryview) -> memoryview | bytes:
        if self.cut_short:
            return b""
        fault, self._pending = self._pending, None
        fault = fault or (self._watch.passing(len(data)) if self._watch else None)
        if fault is None:
            return data
        if fault.action == "truncate":
            self.cut_short = True
            return data[: len(data) // 2]
        if fault.action == "corrupt":
            return bytes(byte ^ 0x55 for byte in data[:16]) + bytes(data[16:])
        self._happen(fault)
        return data

    def _happen(self, fault: Fault) -> None:
        if fault.action == "fail":
            raise InjectedFailure(fault.text)
        if fault.action == "garbage":
            self._channel.write(os.urandom(64))
            self._channel.close()
        elif fault.action == "refuse":
            self._channel.close()
        elif fault.action != "stall":
            self._channel.on_loop(lambda: self._strike(fault))
        self._channel.wait_closed()
