"""Faults that a virtual phone can be told to have: what, where, how often.

A fault matches an operation: a new connection, a service that is opened, or one request inside ``sync:``.
When as many bytes of content as asked for have passed in that operation, the fault happens.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

Action = Literal["drop", "stall", "refuse", "fail", "corrupt", "truncate", "garbage", "reboot", "offline", "kill"]
"""
===========  =========================================================================================
drop         the connection is cut (a pulled cable); the phone takes new ones at once
offline      the same, and the phone takes no new connections for ``seconds``
stall        the operation stops and never answers; the connection stays
refuse       the service is not opened (``service`` and ``connect`` only: no answer to the greeting)
fail         the phone says that it failed, with ``text``: FAIL in sync, stderr and exit code 1 in a shell
corrupt      the next piece of content is changed, nobody is told
truncate     the content ends early, and the rest goes on as if all was well (a shell: without an exit code)
garbage      bytes that make no sense come in place of an answer
reboot       the phone reboots
kill         the shell is killed by SIGKILL, with its whole session
===========  =========================================================================================
"""

_KINDS = {"STA2": "STAT", "LST2": "STAT", "LIS2": "LIST", "SND2": "SEND", "RCV2": "RECV"}


@dataclass(frozen=True)
class Fault:
    """One fault. Patterns are those of :mod:`fnmatch`; None matches anything."""

    action: Action
    service: str | None = None
    """``connect``, or a pattern for the service as the computer asks for it: ``sync:``, ``shell*grep*``."""
    command: str | None = None
    """The request in ``sync:``: STAT, LIST, SEND, RECV (every version of it), or exactly STA2, SND2, ..."""
    path: str | None = None
    """A pattern for the path of the request in ``sync:``."""
    after_bytes: int = 0
    """So much content passes before it happens: a file's bytes as sent, or what a shell prints. 0: at the start."""
    skip: int = 0
    """So many operations that match are left alone first."""
    times: int | None = 1
    """How often it happens; None: always."""
    text: str = "injected failure"
    seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.action not in get_args(Action):
            raise ValueError(f"no such fault: {self.action!r}")
        if self.command is not None and (self.action == "kill" or self.service not in (None, "sync:")):
            raise ValueError("a fault of a sync request is in sync:, where no shell can be killed")

    def matches(self, operation: Operation) -> bool:
        """Whether it is for this operation."""
        if operation.service == "connect" or self.service == "connect":
            return operation.service == self.service
        if self.service is not None and not fnmatch.fnmatchcase(operation.service, self.service):
            return False
        if operation.command is None:
            # What passes in sync: passes in its requests; the stream itself has no content.
            return self.command is None and not (operation.service == "sync:" and self.after_bytes > 0)
        if self.command is None and self.after_bytes <= 0:
            return False  # for a whole service: it strikes when that is opened
        if self.command not in (None, operation.command, operation.kind):
            return False
        return self.path is None or fnmatch.fnmatchcase(operation.path, self.path)


@dataclass(frozen=True)
class Operation:
    """What a fault may strike."""

    service: str
    command: str | None = None
    path: str = ""

    @property
    def kind(self) -> str | None:
        """The request without its version."""
        return _KINDS.get(self.command, self.command) if self.command else None


@dataclass
class _Armed:
    number: int
    fault: Fault
    seen: int = 0
    happened: int = 0

    @property
    def spent(self) -> bool:
        return self.fault.times is not None and self.happened >= self.fault.times


class FaultPlan:
    """The faults of one phone; used by every thread of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: list[_Armed] = []
        self._next = 1

    def add(self, fault: Fault) -> int:
        """Returns the number by which :meth:`happened` knows the fault."""
        with self._lock:
            self._armed.append(_Armed(self._next, fault))
            self._next += 1
            return self._next - 1

    def clear(self) -> None:
        with self._lock:
            self._armed.clear()

    def happened(self) -> dict[int, int]:
        """How often each fault happened, by its number."""
        with self._lock:
            return {armed.number: armed.happened for armed in self._armed}

    def begin(self, operation: Operation) -> Watch:
        """An operation begins; the faults that may strike it are in what this returns."""
        with self._lock:
            struck: list[_Armed] = []
            for armed in self._armed:
                if armed.spent or not armed.fault.matches(operation):
                    continue
                armed.seen += 1
                if armed.seen > armed.fault.skip:
                    struck.append(armed)
            return Watch(self, struck)

    def claim(self, armed: _Armed) -> bool:
        """The fault is about to happen: True when it still may."""
        with self._lock:
            if armed.spent:
                return False
            armed.happened += 1
            return True

    def dump(self) -> list[dict[str, Any]]:
        """All of it, for :meth:`load` after a reboot."""
        with self._lock:
            return [dataclasses.asdict(armed) for armed in self._armed]

    def load(self, state: Iterable[dict[str, Any]]) -> None:
        """The counterpart of :meth:`dump`."""
        with self._lock:
            self._armed = [_Armed(**{**entry, "fault": Fault(**entry["fault"])}) for entry in state]
            self._next = max((armed.number for armed in self._armed), default=0) + 1


class Watch:
    """One operation under watch: tells which fault happens now."""

    def __init__(self, plan: FaultPlan, armed: list[_Armed]) -> None:
        self._plan = plan
        self._armed = armed
        self._passed = 0

    def at_start(self) -> Fault | None:
        """The fault that happens before any content passes."""
        return self._first(lambda fault: fault.after_bytes <= 0)

    def passing(self, count: int) -> Fault | None:
        """The fault that happens within the next ``count`` bytes of content."""
        if not self._armed:
            return None
        self._passed += count
        return self._first(lambda fault: fault.after_bytes < self._passed)

    def _first(self, due: Callable[[Fault], bool]) -> Fault | None:
        for armed in self._armed:
            if due(armed.fault) and self._plan.claim(armed):
                self._armed.remove(armed)
                return armed.fault
        return None
