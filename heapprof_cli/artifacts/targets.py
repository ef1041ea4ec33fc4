"""Runner targets: which device program and which QNN libraries a kind of device needs."""

from __future__ import annotations

from dataclasses import dataclass

from heapprof_cli.errors import PreflightError
from heapprof_cli.records import DeviceFacts
from heapprof_cli.text import clean


@dataclass(frozen=True)
class Target:
    """One kind of device. ``sdk_folders`` are glob patterns of the QNN SDK's folder for it.

    ``on_dsp``: the HTP library talks to a real DSP and needs Stub and Skel; on x86_64 it is an emulator.
    """

    name: str
    machine: str
    sdk_folders: tuple[str, ...]
    on_dsp: bool


# Folder names of the SDK: lib/aarch64-android as in ExecuTorch's scripts; the Linux ones carry the
# compiler they were built with, newest first when sorted in reverse.
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("android-arm64", "aarch64", ("lib/aarch64-android",), True),
        Target("linux-arm64", "aarch64", ("lib/aarch64-oe-linux-gcc*", "lib/aarch64-ubuntu-gcc*"), True),
        Target("linux-x86_64", "x86_64", ("lib/x86_64-linux-clang",), False),
    )
}

_MACHINES = {"aarch64": "arm64", "arm64": "arm64", "armv8l": "arm64", "x86_64": "x86_64", "amd64": "x86_64"}


def choose_target(device: DeviceFacts, wanted: str | None) -> Target:
    """The target of a device: ``wanted`` when given, else from its ``uname -m`` and whether it has bionic.

    Raises PreflightError when no runner exists for the device.
    """
    if wanted is not None:
        machine = _MACHINES.get(device.machine or "", device.machine)
        if machine is not None and not wanted.endswith(f"-{machine}"):
            raise PreflightError(
                f"--runner-target {wanted}: this device's processor is {clean(machine, 40)}, which can't run it",
                hints=("leave --runner-target away: it follows from the device",),
            )
        return TARGETS[wanted]
    system = "android" if device.is_android else "linux"
    name = f"{system}-{_MACHINES.get(device.machine or '', device.machine or 'unknown')}"
    if name not in TARGETS:
        raise PreflightError(
            f"there is no runner for this device: it says machine '{clean(device.machine or 'unknown', 40)}', "
            f"{'Android' if device.is_android else 'Linux without bionic'}",
            hints=(f"runners exist for {', '.join(TARGETS)}; name one with --runner-target if the device can run it",),
        )
    return TARGETS[name]
