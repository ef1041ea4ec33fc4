"""A phone with another processor than this computer's: its programs run through QEMU's user mode emulator.

The kernel hands them to it (binfmt_misc), in an instance of the phone's own: since Linux 6.7 each user
namespace has one, so nothing of this is seen outside the phone.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import processes
from heapprof_cli.virtual import libc

_BINFMT = "/proc/sys/fs/binfmt_misc"
_UNAME = """#!{shell}
{uname} "$@" | {sed} 's/{own}/{machine}/g'
"""


@dataclass(frozen=True)
class Machine:
    """A processor that can be emulated. ``elf_machine`` is its number in ELF headers (EM_AARCH64 is 183)."""

    name: str
    abi: str
    elf_machine: int
    emulator: str
    libraries: str
    """The computer's folder with the C library of that processor."""


MACHINES = {
    machine.name: machine
    for machine in (Machine("aarch64", "arm64-v8a", 183, "/usr/bin/qemu-aarch64-static", "/usr/aarch64-linux-gnu"),)
}


def needed(name: str | None) -> Machine | None:
    """The machine to emulate, or None when the phone's is this computer's own.

    Raises ValueError for an unknown one, FileNotFoundError when the emulator or the libraries are missing.
    """
    if name is None or name == platform.machine():
        return None
    if name not in MACHINES:
        raise ValueError(f"no emulation of {name}: known are {', '.join(MACHINES)}")
    machine = MACHINES[name]
    for path in (machine.emulator, machine.libraries):
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path} is missing (Debian: packages qemu-user-static and libc6-arm64-cross)")
    return machine


def enter_user_namespace(uid: int, private: int) -> None:
    """Leave the computer's user namespace for one that knows root and ``uid`` under their own numbers.

    Only root can have two ids mapped; a helper outside writes the map. Raises OSError.
    """
    if os.geteuid() != 0:
        raise PermissionError("a phone with an emulated processor needs root for its user namespace")
    here = os.getpid()
    asking, answering = os.pipe()

    def write_maps() -> int:
        os.read(asking, 1)
        for kind in ("uid_map", "gid_map"):
            Path(f"/proc/{here}/{kind}").write_text(f"0 0 1\n{uid} {uid} 1\n")
        return 0

    helper = processes.fork(write_maps)
    os.close(asking)
    try:
        libc.unshare(private | libc.CLONE_NEWUSER)
    finally:
        os.write(answering, b"x")
        os.close(answering)
        status = os.waitpid(helper, 0)[1]
    if status:
        raise PermissionError("the phone's user ids could not be mapped")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def register(machine: Machine) -> None:
    """Have the kernel run the machine's programs through the emulator. Call it when /proc is mounted.

    Raises OSError where the kernel has no binfmt_misc for namespaces.
    """
    libc.mount("binfmt_misc", _BINFMT, "binfmt_misc", libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC)
    # ELF, 64 bit, little-endian, executable or shared object; F: the emulator is opened now, from our root.
    magic = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00" + machine.elf_machine.to_bytes(2, "little")
    mask = b"\xff" * 7 + b"\x00" + b"\xff" * 8 + b"\xfe\xff" + b"\xff\xff"
    Path(_BINFMT, "register").write_bytes(
        b":%b:M::%b:%b:%b:F" % (machine.name.encode(), _escaped(magic), _escaped(mask), machine.emulator.encode())
    )


def _escaped(data: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in data)


def _call(tool: str, program: str) -> str:
    """How ``tool`` is called; a program of many tools is told which by its first word."""
    return program if os.path.basename(program) == tool else f"{program} {tool}"


def install_uname(folder: Path, machine: Machine, programs: dict[str, str]) -> None:
    """A ``uname`` in the phone's /system/bin that names the emulated machine."""
    (folder / "uname").unlink(missing_ok=True)
    text = _UNAME.format(
        shell="/system/bin/sh",
        uname=_call("uname", programs["uname"]),
        sed=_call("sed", programs["sed"]),
        own=platform.machine(),
        machine=machine.name,
    )
    (folder / "uname").write_text(text, "utf-8")
    (folder / "uname").chmod(0o755)
