"""Choosing a phone: exactly one, or a failure that says why and what to do. Pure functions on adb's text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from heapprof_cli.errors import DeviceError
from heapprof_cli.text import clean, plural

READY = "device"

_STATES: dict[str, tuple[str, str]] = {
    "unauthorized": (
        "the phone has not allowed this computer to debug it",
        "unlock the phone and confirm 'Allow USB debugging'; if no dialog appears, revoke USB debugging "
        "authorizations in its developer options and plug it in again",
    ),
    "authorizing": (
        "the phone is still being asked to allow debugging",
        "confirm the dialog on the phone, then try again",
    ),
    "connecting": ("the connection to the phone is not complete yet", "try again in a few seconds"),
    "offline": (
        "the adb server lost contact with the phone",
        "plug the phone in again (network phone: `adb disconnect` and `adb connect` it), or reboot it",
    ),
    "no permissions": (
        "this user may not open the phone's USB device",
        "add a udev rule for the phone (Debian: package android-sdk-platform-tools-common, group plugdev), "
        "then plug it in again",
    ),
    "recovery": ("the phone is in recovery mode", "reboot it into Android: `adb reboot`"),
    "rescue": ("the phone is in rescue mode", "reboot it into Android: `adb reboot`"),
    "sideload": ("the phone is waiting for a sideload", "finish or cancel it on the phone, then reboot it"),
    "bootloader": ("the phone is in its bootloader", "boot it into Android: `fastboot reboot`"),
    "host": ("this is an adb host and no phone", "choose another device"),
}

_OTHER_STATE = ("it can't run programs in this state", "boot it into Android")


@dataclass(frozen=True)
class DeviceEntry:
    """One line of ``host:devices-l``."""

    serial: str
    state: str
    model: str | None = None

    @property
    def alias(self) -> str:
        return alias_of(self.serial)


def alias_of(serial: str) -> str:
    """A stable name that stands for a serial where the serial itself must not appear."""
    return "phone-" + hashlib.sha256(b"heapprof alias\0" + serial.encode("utf-8", "replace")).hexdigest()[:8]


def parse_devices(text: str) -> list[DeviceEntry]:
    """The entries of adb's long device list; lines that are none are passed over."""
    entries = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 2 or line.startswith(("*", "List of devices")):
            continue
        rest = line.strip()[len(words[0]) :].strip()
        state = "no permissions" if rest.startswith("no permissions") else words[1]
        details = dict(word.split(":", 1) for word in words[2:] if ":" in word)
        entries.append(DeviceEntry(words[0], clean(state, 40), _optional(details.get("model"))))
    return entries


def _optional(value: str | None) -> str | None:
    return clean(value.replace("_", " "), 100) if value else None


def choose(entries: Sequence[DeviceEntry], wanted: str | None) -> DeviceEntry:
    """The one phone to measure: ``wanted`` is a serial or an alias, or None for the only ready one.

    Raises DeviceError: none, not found, ambiguous, or in a state in which it can't be used.
    """
    if wanted is not None:
        return _usable(_named(entries, wanted))
    if not entries:
        raise DeviceError(
            "no phone is connected to the adb server",
            hints=(
                "plug a phone in and switch on USB debugging in its developer options",
                "no phone at hand? `heapprof demo` measures on a built-in virtual phone",
            ),
        )
    ready = [entry for entry in entries if entry.state == READY]
    if len(ready) == 1:
        return ready[0]
    if not ready and len(entries) == 1:
        return _usable(entries[0])
    problem = "are ready: which one?" if ready else "are connected, none is ready"
    raise DeviceError(
        f"{plural(len(ready or entries), 'phone')} {problem} ({_listing(ready or entries)})",
        hints=("name one with --serial: its serial, or the alias shown here; `heapprof devices` lists them",),
    )


def _named(entries: Sequence[DeviceEntry], wanted: str) -> DeviceEntry:
    for entry in entries:
        if wanted in (entry.serial, entry.alias):
            return entry
    known = f"known here: {_listing(entries)}" if entries else "no phone is connected to this adb server"
    raise DeviceError(
        f"no phone '{clean(wanted, 100)}' is connected to the adb server; {known}",
        hints=("check --serial (or ANDROID_SERIAL), --host and --adb-port; `heapprof devices --show-serial`",),
    )


def _usable(entry: DeviceEntry) -> DeviceEntry:
    if entry.state == READY:
        return entry
    why, fix = _STATES.get(entry.state, _OTHER_STATE)
    raise DeviceError(
        f"the phone {entry.alias} is in the state '{entry.state}': {why}",
        hints=(fix,),
        transient=entry.state in ("offline", "connecting", "authorizing"),
    )


def state_problem(state: str) -> str:
    """Why a phone in ``state`` can't be used, and the fix, in one sentence."""
    why, fix = _STATES.get(state, _OTHER_STATE)
    return f"{why}: {fix}"


def _listing(entries: Sequence[DeviceEntry]) -> str:
    shown = [f"{e.alias}{' ' + e.model if e.model else ''} [{e.state}]" for e in entries[:10]]
    return ", ".join(shown) + (f" and {len(entries) - 10} more" if len(entries) > 10 else "")
