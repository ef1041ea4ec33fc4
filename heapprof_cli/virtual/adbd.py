"""The phone's adbd: takes connections of adb servers, serves their streams, and obeys the control channel."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import socket
from pathlib import Path
from typing import Any

from heapprof_cli.virtual import compression, properties, wire
from heapprof_cli.virtual.channel import Channel
from heapprof_cli.virtual.connection import Connection
from heapprof_cli.virtual.control import ControlServer
from heapprof_cli.virtual.faults import Fault, FaultPlan, Operation
from heapprof_cli.virtual.layout import Layout
from heapprof_cli.virtual.shell_faults import ShellFaults
from heapprof_cli.virtual.shell_request import ShellRequest, failed_at_once, parse_request
from heapprof_cli.virtual.shell_service import ShellService
from heapprof_cli.virtual.streams import Stream
from heapprof_cli.virtual.sync_faults import SyncFaults
from heapprof_cli.virtual.sync_service import SyncService
from heapprof_cli.virtual.userland import PATH

_FEATURES = (
    "shell_v2",
    "stat_v2",
    "ls_v2",
    "fixed_push_mkdir",
    "fixed_push_symlink_timestamp",
    "sendrecv_v2",
    "sendrecv_v2_dry_run_send",
    "delayed_ack",
)
"""What this adbd can do; nothing else is offered."""


def serve(layout: Layout, port: int, control: int, state: dict[str, Any], boot_id: str) -> dict[str, Any] | None:
    """Be adbd until the control channel ends (returns None) or the phone is to reboot (returns the state
    for the next boot)."""
    return asyncio.run(Adbd(layout, state, boot_id).run(port, control))


class Adbd:
    """The state of the phone while it runs; everything happens on one event loop."""

    def __init__(self, layout: Layout, state: dict[str, Any], boot_id: str) -> None:
        self.layout = layout
        self.boot_id = boot_id
        self.properties: dict[str, str] = state["properties"]
        self.authorized: bool = state["authorized"]
        self.latency: float = state["latency"]
        self.bandwidth: float | None = state["bandwidth"]
        self.variables: dict[str, str] = state["variables"]
        self.faults = FaultPlan()
        self.faults.load(state["faults"])
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._port = 0
        self._end: asyncio.Future[dict[str, Any] | None]

    async def run(self, port: int, control: int) -> dict[str, Any] | None:
        self._end = asyncio.get_running_loop().create_future()
        self._port = port
        self.write_properties()
        await self._listen()
        server = ControlServer(control, self)
        server.start(lambda: self.end(None))
        result = await self._end
        server.stop()
        self._stop_listening()  # first: nobody may connect to what ends
        self.drop_all()
        # Threads and shells end with the process; nothing of them is worth waiting for.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        return result

    def end(self, result: dict[str, Any] | None) -> None:
        if not self._end.done():
            self._end.set_result(result)

    def write_properties(self) -> None:
        """Put the properties where the phone's getprop reads them."""
        Path(self.layout.properties).write_text(properties.as_file(self.properties), "utf-8")

    # what a connection asks

    def banner(self) -> bytes:
        return wire.banner(self.properties, (*_FEATURES, *compression.features()))

    def connected(self, connection: Connection) -> None:
        self._connections.add(connection)

    def disconnected(self, connection: Connection) -> None:
        self._connections.discard(connection)

    def answers(self, connection: Connection) -> bool:
        fault = self.faults.begin(Operation("connect")).at_start()
        if fault is None:
            return True
        if fault.action == "garbage":
            connection.send_raw(os.urandom(64))
        elif fault.action not in ("stall", "refuse"):
            self.strike(connection, fault)
        return False

    def serve(self, connection: Connection, stream: Stream, service: str) -> bool:
        if service.startswith("reboot:"):
            asyncio.get_running_loop().call_soon(self.reboot)
            return True
        if service == "sync:":
            return self._serve_sync(connection, stream)
        request = parse_request(service)
        return request is not None and self._serve_shell(connection, stream, service, request)

    def _serve_sync(self, connection: Connection, stream: Stream) -> bool:
        fault = self.faults.begin(Operation("sync:")).at_start()
        if fault is not None:
            return self._spoil_start(connection, stream, fault)
        channel = Channel(stream, connection.give_back)
        stream.service = channel
        faults = SyncFaults(self.faults, channel, functools.partial(self.strike, connection))
        channel.start(SyncService(channel, self.layout, faults).run)
        return True

    def _serve_shell(self, connection: Connection, stream: Stream, service: str, request: ShellRequest) -> bool:
        watch = self.faults.begin(Operation(service))
        faults = ShellFaults(watch, stream, functools.partial(self.strike, connection))
        fault = faults.begin()
        if fault is not None and fault.action == "fail":
            self._say_and_close(stream, failed_at_once(request, fault.text))
            return True
        if fault is not None:
            return self._spoil_start(connection, stream, fault)
        try:
            stream.service = ShellService(stream, request, self.layout, self._environment(), faults)
        except OSError:
            logging.getLogger(__name__).exception("can't start a shell")
            return False
        return True

    def _spoil_start(self, connection: Connection, stream: Stream, fault: Fault) -> bool:
        """A fault instead of a service; False refuses it."""
        if fault.action in ("refuse", "fail"):
            return False
        if fault.action == "garbage":
            self._say_and_close(stream, os.urandom(64))
        elif fault.action in ("truncate", "corrupt", "kill"):
            self._say_and_close(stream, b"")
        elif fault.action != "stall":
            self.strike(connection, fault)
        return True

    def _say_and_close(self, stream: Stream, data: bytes) -> None:
        """Say one thing after the OKAY that opens the stream: servers lose what comes before it."""
        loop = asyncio.get_running_loop()
        loop.call_soon(stream.write, data)
        loop.call_soon(stream.close)

    def _environment(self) -> dict[str, str]:
        """adbd's environment for shells, as a phone's ``adb shell env`` shows it."""
        prefix, temporary = self.layout.prefix, self.layout.temporary
        machine = self.layout.machine
        emulated = {"QEMU_LD_PREFIX": machine.libraries} if machine else {}
        return {
            **emulated,
            "PATH": PATH if not prefix else f"{prefix}/system/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": self.layout.start_folder,
            "TMPDIR": temporary,
            "SHELL": self.layout.shell,
            "USER": "shell",
            "LOGNAME": "shell",
            "HOSTNAME": self.properties.get("ro.product.device", "localhost"),
            "ANDROID_ROOT": f"{prefix}/system",
            "ANDROID_DATA": f"{prefix}/data",
            "ANDROID_STORAGE": f"{prefix}/storage",
            "EXTERNAL_STORAGE": f"{prefix}/sdcard",
            **self.variables,
        }

    # what happens to the whole phone

    def strike(self, connection: Connection, fault: Fault) -> None:
        """A fault that concerns more than one stream."""
        if fault.action == "reboot":
            self.reboot()
        elif fault.action == "offline":
            self.go_away(fault.seconds)
        else:
            connection.drop()

    def drop_all(self) -> None:
        """Cut every connection."""
        for connection in list(self._connections):
            connection.drop()

    def go_away(self, seconds: float) -> None:
        """Cut every connection, and take none for a while."""
        self._stop_listening()
        self.drop_all()
        loop = asyncio.get_running_loop()
        loop.call_later(seconds, lambda: loop.create_task(self._listen()))

    def reboot(self) -> None:
        """End; the process above boots the phone again."""
        self.end(
            {
                "properties": self.properties,
                "authorized": self.authorized,
                "latency": self.latency,
                "bandwidth": self.bandwidth,
                "variables": self.variables,
                "faults": self.faults.dump(),
            }
        )

    def consent(self) -> None:
        """The user may have allowed the computers that wait."""
        for connection in self._connections:
            connection.consented()

    def _stop_listening(self) -> None:
        if self._server:
            self._server.close()
            self._server = None

    async def _listen(self) -> None:
        if self._server is not None:
            return
        listener = socket.socket()
        # The keeper holds the port by a bound socket that does not listen, so that nobody takes it meanwhile.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * wire.MAX_PAYLOAD)
        listener.bind(("127.0.0.1", self._port))
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), sock=listener)
