"""What a phone said of itself, read without trusting it."""

from __future__ import annotations

import re

from heapprof_cli import socs
from heapprof_cli.records import DeviceFacts
from heapprof_cli.text import clean


def device_facts(text: str, alias: str, serial: str) -> DeviceFacts:
    """What :func:`heapprof_cli.device.scripts.probe` printed, as facts; unknown ones are None."""
    values = _key_values(text)
    soc_text = values.get("ro.soc.model") or values.get("soc0")
    soc = socs.find(soc_text) if soc_text else None
    return DeviceFacts(
        alias=alias,
        serial=serial,
        machine=values.get("machine"),
        is_android="linker64" in values,
        model=values.get("ro.product.model"),
        soc=soc_text,
        htp_arch=soc.htp_arch if soc else None,
        android=values.get("ro.build.version.release"),
        abi=values.get("ro.product.cpu.abi"),
        fingerprint=values.get("ro.build.fingerprint"),
        kernel=values.get("kernel"),
        free_bytes=_free_bytes(values.get("df", "")),
        virtual=values.get("ro.heapprof.virtual") == "1",
    )


def _key_values(text: str) -> dict[str, str]:
    """``key=value`` and ``[key]: [value]`` lines of a phone, cleaned; empty values are left out,
    the first of a key counts."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"\[([^]]+)\]: \[(.*)\]", line) or re.match(r"([^=]+)=(.*)", line)
        shown = clean(match[2], 300) if match else ""
        if match and shown:
            values.setdefault(match[1], shown)
    return values


def _free_bytes(df_line: str) -> int | None:
    """Available bytes from a line of ``df -kP``: filesystem, blocks, used, available, percent, mount."""
    match = re.search(r"\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s", df_line + " ")
    return int(match[3]) * 1024 if match else None
