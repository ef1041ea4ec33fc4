"""Asking every phone of an adb server what it is."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device.cache import shared_store
from heapprof_cli.device.phone import Phone
from heapprof_cli.device.selection import READY, DeviceEntry, parse_devices, state_problem
from heapprof_cli.device.server import AdbServer
from heapprof_cli.errors import HeapprofError
from heapprof_cli.records import DeviceRow
from heapprof_cli.settings import DEFAULT_WORKSPACE
from heapprof_cli.text import clean


def list_devices(address: ServerAddress, workspace: str = DEFAULT_WORKSPACE) -> list[DeviceRow]:
    """A row for each phone, asked side by side. Raises DeviceError when no adb server answers."""
    server = AdbServer(address)
    server.ensure_running()
    entries = parse_devices(server.query("host:devices-l"))
    return list(_rows(server, entries, workspace))


def _rows(server: AdbServer, entries: list[DeviceEntry], workspace: str) -> Iterable[DeviceRow]:
    with ThreadPoolExecutor(max_workers=8) as pool:
        yield from pool.map(lambda entry: _row(server, entry, workspace), entries)


def _row(server: AdbServer, entry: DeviceEntry, workspace: str) -> DeviceRow:
    serial = clean(entry.serial, 200)
    if entry.state != READY:
        return DeviceRow(serial, entry.alias, entry.state, entry.model, problem=state_problem(entry.state))
    try:
        facts, _, lease = Phone(server, entry).survey(workspace, shared_store(workspace))
    except HeapprofError as error:
        return DeviceRow(serial, entry.alias, entry.state, entry.model, problem=error.message)
    return DeviceRow(
        serial,
        entry.alias,
        entry.state,
        entry.model,
        facts=facts,
        lease=str(lease) if lease and not lease.expired else None,
    )
