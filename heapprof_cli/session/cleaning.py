"""Removing what heapprof left on a phone, under the lease, so that no measurement loses its files."""

from __future__ import annotations

from heapprof_cli.device.phone import Phone, find_phone
from heapprof_cli.session.leasing import opened_run
from heapprof_cli.session.reporting import Reporter
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings


def clean_phone(settings: RunSettings, reporter: Reporter) -> int:
    """Remove run folders and cache of the workspace; the bytes freed.

    Raises BusyError while someone measures there, DeviceError when something can't be removed.
    """
    phone: Phone = find_phone(settings.server, settings.serial, settings.alias, settings.stall_timeout)
    story = Story(settings, reporter)
    with opened_run(phone, story):
        return phone.clean(settings.workspace)
