"""The channel between whoever owns a virtual phone and the phone itself: one JSON object a line, each answered."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from heapprof_cli.virtual.faults import Fault
from heapprof_cli.virtual.process_table import running_processes

if TYPE_CHECKING:
    from heapprof_cli.virtual.adbd import Adbd

_ANSWER_SECONDS = 15.0


class ControlError(Exception):
    """The phone is gone, does not answer, or could not do what was asked."""


class ControlClient:
    """The owner's end. Every call raises ControlError when the phone is gone."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._end.settimeout(_ANSWER_SECONDS)
        self._lines = end.makefile("rb")
        self._lock = threading.Lock()

    def ask(self, request: str, **arguments: Any) -> Any:
        """Have the phone do ``request``; its result."""
        with self._lock:
            try:
                self._end.sendall(json.dumps({"do": request, **arguments}).encode() + b"\n")
                line = self._lines.readline()
            except OSError as error:
                raise ControlError(f"the virtual phone does not answer: {error}") from None
        if not line:
            raise ControlError("the virtual phone ended")
        answer = json.loads(line)
        if "error" in answer:
            raise ControlError(answer["error"])
        return answer["result"]

    def close(self) -> None:
        self._lines.close()
        self._end.close()


class ControlServer:
    """The phone's end."""

    def __init__(self, descriptor: int, adbd: Adbd) -> None:
        self._descriptor = descriptor
        self._adbd = adbd
        self._rest = b""
        self._loop = asyncio.get_running_loop()

    def start(self, at_end: Callable[[], None]) -> None:
        """Answer requests until :meth:`stop`; ``at_end`` is called when the owner is gone."""
        os.set_blocking(self._descriptor, False)
        self._loop.add_reader(self._descriptor, self._read, at_end)

    def stop(self) -> None:
        self._loop.remove_reader(self._descriptor)

    def _read(self, at_end: Callable[[], None]) -> None:
        try:
            data = os.read(self._descriptor, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            at_end()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            os.write(self._descriptor, json.dumps(self._answer(json.loads(line))).encode() + b"\n")

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"result": getattr(self, f"_do_{request.pop('do')}")(**request)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _do_boot_id(self) -> str:
        return self._adbd.boot_id

    def _do_processes(self) -> list[tuple[int, str]]:
        return running_processes(self._adbd.layout.isolated)

    def _do_properties(self, values: dict[str, str]) -> None:
        self._adbd.properties.update(values)
        self._adbd.write_properties()

    def _do_authorize(self, authorized: bool) -> None:
        self._adbd.authorized = authorized
        self._adbd.consent()

    def _do_latency(self, seconds: float) -> None:
        self._adbd.latency = seconds

    def _do_bandwidth(self, rate: float | None) -> None:
        self._adbd.bandwidth = rate

    def _do_drop(self) -> None:
        self._adbd.drop_all()

    def _do_offline(self, seconds: float) -> None:
        self._adbd.go_away(seconds)

    def _do_reboot(self) -> None:
        self._loop.call_soon(self._adbd.reboot)

    def _do_add_fault(self, fault: dict[str, Any]) -> int:
        return self._adbd.faults.add(Fault(**fault))

    def _do_clear_faults(self) -> None:
        self._adbd.faults.clear()

    def _do_faults(self) -> dict[int, int]:
        return self._adbd.faults.happened()
