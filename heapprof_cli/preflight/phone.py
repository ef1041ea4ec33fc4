"""Is the phone, with the way to it, in a state to measure? From what the survey saw."""

from __future__ import annotations

from collections.abc import Iterator

from heapprof_cli.preflight.findings import Finding, Severity, Situation
from heapprof_cli.records import Conditions, DeviceFacts, Surroundings

_ABIS = {"arm64-v8a": "aarch64", "x86_64": "x86_64", "armeabi-v7a": "arm", "armeabi": "arm", "x86": "x86"}
# Hexagon versions of well-known SoCs from before QNN's HTP, which begins with V68.
_BEFORE_HTP = {"SDM845": 65, "SM8150": 66, "SM8250": 66}
_THROTTLING = ("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")
_ANOTHER_PLACE = "choose another place with --workspace, for example a folder below /data/local/tmp"


def _seen(device: DeviceFacts) -> Surroundings:
    return device.surroundings or Surroundings()


def adb_versions(device: DeviceFacts) -> Iterator[Finding]:
    """Two adb versions on one computer end each other's server, and with it the measurement."""
    adb = _seen(device).adb
    if adb.server is not None and adb.client is not None and adb.server != adb.client:
        yield Finding(
            "adb-versions",
            Severity.WARNING,
            f"the adb server is of version 1.0.{adb.server}, the adb on the PATH of 1.0.{adb.client}: "
            "whoever calls that one ends the server, and the measurement",
            "keep one adb on the PATH, then `adb kill-server` and run again",
        )


def booted(device: DeviceFacts) -> Iterator[Finding]:
    """A phone that is still booting has adb already, and its DSP services not yet."""
    if device.is_android and not _seen(device).booted:
        text = f"the phone {device.alias} has not finished booting (sys.boot_completed is not 1)"
        yield Finding("phone-state", Severity.WARNING, text, "wait until its home screen shows, then run again")


def before_htp(device: DeviceFacts) -> Iterator[Finding]:
    """Phones that no QNN HTP library runs on."""
    version = _BEFORE_HTP.get((device.soc or "").upper())
    if version is not None or (device.htp_arch or 68) < 68:
        text = f"the {device.soc} has a Hexagon V{version or device.htp_arch}; QNN's HTP begins with V68"
        yield Finding("htp", Severity.ERROR, text, "measure on a phone with an SM8350 or newer")


def executable(device: DeviceFacts) -> Iterator[Finding]:
    """Whether files in the workspace may be executed: a mount may forbid it (noexec), and so may SELinux."""
    seen = _seen(device)
    if seen.workspace_trial == "execute":
        text = f"files in the workspace may not be executed (noexec or SELinux): {seen.workspace_reason}"
        yield Finding("workspace", Severity.ERROR, text, _ANOTHER_PLACE)


def writable(device: DeviceFacts) -> Iterator[Finding]:
    """The doctor's alone: in a run the step that makes the run's folder tells it, in the phone's words."""
    seen = _seen(device)
    if seen.workspace_trial == "write":
        space = "No space" in seen.workspace_reason
        fix = "free some space on the phone; `heapprof clean` removes its cache" if space else _ANOTHER_PLACE
        yield Finding("workspace", Severity.ERROR, f"the workspace can't be written to: {seen.workspace_reason}", fix)


def library_path(device: DeviceFacts) -> Iterator[Finding]:
    """FastRPC splits ADSP_LIBRARY_PATH at semicolons; a list with colons is one folder that does not exist.

    heapprof sets its own for its runner; what the phone's shell has meets everything else that is started there.
    """
    path = _seen(device).adsp_library_path
    if path and ":" in path:
        yield Finding(
            "adsp-path",
            Severity.WARNING,
            f"ADSP_LIBRARY_PATH on the phone is separated by colons, which FastRPC takes for one folder: {path}",
            "separate with semicolons, in quotes; heapprof's own runs set their own and are not affected",
        )
    if path and "/vendor/lib64" in path:
        yield Finding(
            "adsp-path",
            Severity.WARNING,
            f"ADSP_LIBRARY_PATH on the phone leads to the system's own FastRPC libraries: {path}",
            "drop /vendor/lib64 from it; heapprof's own runs set their own and are not affected",
        )


def dsp_users(device: DeviceFacts) -> Iterator[Finding]:
    """The figure is the whole DSP's, so what others hold or free meanwhile is in it."""
    users = _seen(device).dsp_users
    if users:
        shown = ", ".join(f"{name} ({pid})" for pid, name in users[:4]) + (" and more" if len(users) > 4 else "")
        text = f"others use the DSP, whose whole heap is measured: {shown}"
        yield Finding("dsp-users", Severity.WARNING, text, "end them, or wait until they have ended, then run again")


def thermal(device: DeviceFacts) -> Iterator[Finding]:
    """A phone that throttles is slower than it is."""
    yield from throttling(_seen(device).conditions)


def throttling(conditions: Conditions, when: str = "") -> Iterator[Finding]:
    """The same of any moment, named by ``when``."""
    status = conditions.thermal_status
    if status:
        name = _THROTTLING[status] if status < len(_THROTTLING) else "unknown"
        level = f"thermal status {status}, {name}{_warmth(conditions)}"
        text = f"the phone throttles{when} ({level}): times are not its usual"
        yield Finding("thermal", Severity.WARNING, text, "let it cool down, take it off the charger, then run again")


def governor(device: DeviceFacts) -> Iterator[Finding]:
    """A governor that keeps clocks low: the heap is the same, times are not."""
    conditions = _seen(device).conditions
    low = [
        f"{part} governor {name}"
        for part, name in (("CPU", conditions.governor), ("GPU", conditions.gpu_governor))
        if name and "powersave" in name.split()
    ]
    if low:
        text = f"{' and '.join(low)}: clocks are kept low, times are not the phone's usual"
        yield Finding("governor", Severity.WARNING, text, "switch the phone's power saving off")


def told(conditions: Conditions) -> str:
    """The conditions as words; empty where the phone tells none."""
    status = conditions.thermal_status
    words = [
        f"CPU governor {conditions.governor}" if conditions.governor else "",
        f"GPU governor {conditions.gpu_governor}" if conditions.gpu_governor else "",
        f"thermal status {status}" if status is not None else "",
        _warmth(conditions).removeprefix(", "),
    ]
    return ", ".join(word for word in words if word)


def _warmth(conditions: Conditions) -> str:
    celsius = conditions.temperature_celsius
    return "" if celsius is None else f", {celsius:g} °C at {conditions.temperature_sensor}"


def abi(situation: Situation) -> Iterator[Finding]:
    """A program for another ABI ends with "No such file or directory": its loader is missing."""
    device, target = situation.device, situation.target
    machine = _ABIS.get(device.abi or "")
    if machine is not None and machine != target.machine:
        yield Finding(
            "abi",
            Severity.ERROR,
            f"the runner {target.name} is for {target.machine}, the phone's programs are {device.abi}",
            "leave --runner-target away; QNN's HTP needs a 64-bit system",
        )


def fastrpc(situation: Situation) -> Iterator[Finding]:
    """The way to the DSP. Without right to a node FastRPC goes through its HAL, which may refuse."""
    seen = _seen(situation.device)
    if not situation.real_dsp or seen.nodes is None:
        return
    if not seen.nodes:
        text = "the phone has no FastRPC node of its compute DSP (/dev/fastrpc-cdsp, /dev/adsprpc-smd)"
        fix = "check that this is a Snapdragon phone with a system of its maker; else reboot it"
        yield Finding("fastrpc", Severity.WARNING, text, fix)
    elif not seen.readable_nodes:
        text = f"the shell user may not open {', '.join(seen.nodes[:4])}: only FastRPC's HAL can reach the DSP"
        fix = "harmless where a log says `open thru HAL`; else a system that allows it (userdebug), or `adb root`"
        yield Finding("fastrpc", Severity.WARNING, text, fix)


def unsigned_pd(situation: Situation) -> Iterator[Finding]:
    """QNN's Skel is unsigned: it needs the unsigned process domain, whose shell the system must hold."""
    seen = _seen(situation.device)
    if situation.real_dsp and seen.dsp_folders and not seen.unsigned_shells:
        yield Finding(
            "unsigned-pd",
            Severity.WARNING,
            f"there is no fastrpc_shell_unsigned_3 in {', '.join(seen.dsp_folders[:4])}: "
            "the DSP may refuse unsigned libraries, which QNN's are",
            "install the DSP's runtime files of this system (on Linux boards the dspso package), or its full image",
        )


def vendor_copies(situation: Situation) -> Iterator[Finding]:
    """QNN libraries of the phone's own may be found instead of the ones sent."""
    found = _seen(situation.device).vendor_copies
    if situation.real_dsp and found:
        shown = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        yield Finding(
            "vendor-copies",
            Severity.WARNING,
            f"the phone has QNN libraries of its own: {shown}; heapprof's come first in both search paths",
            "if a log speaks of a Stub or lib id mismatch, use the QNN SDK of the phone's build",
        )
