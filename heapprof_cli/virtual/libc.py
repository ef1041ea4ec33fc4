"""The system calls that Python does not offer, by way of the C library: namespaces, mounts, capabilities.

Numbers are Linux's (linux/sched.h, linux/mount.h, linux/prctl.h, linux/capability.h).
"""

from __future__ import annotations

import ctypes
import os
import signal

CLONE_NEWTIME = 0x00000080
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    _call("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2); the error names the target. Raises OSError."""
    try:
        _call(
            "mount",
            source.encode(),
            os.fsencode(target),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            data.encode() if data else None,
        )
    except OSError as error:
        raise OSError(error.errno, f"mount {kind or 'bind'} on {target}: {os.strerror(error.errno or 0)}") from None


def pivot_root(new: str, old: str) -> None:
    _call("pivot_root", os.fsencode(new), os.fsencode(old))


def unmount(target: str, flags: int) -> None:
    _call("umount2", os.fsencode(target), ctypes.c_int(flags))


def _prctl(option: int, value: int | bytes) -> None:
    argument = ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_ulong(value)
    zero = ctypes.c_ulong(0)
    _call("prctl", ctypes.c_int(option), argument, zero, zero, zero)


def die_with_parent() -> None:
    """The kernel kills this process when its parent ends. A later change of user undoes this."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Descendants whose parents end become children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_name(name: str) -> None:
    """The short name that ``ps`` shows for this process."""
    _prctl(_PR_SET_NAME, name.encode()[:15])


def forbid_new_privileges() -> None:
    """No set-user-id program gives this process or what it starts any more rights."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding_set() -> None:
    """No program can give this process, or what it starts, a capability again. Must come before the user changes."""
    for capability in range(64):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError:  # past the last one that this kernel knows, or not ours to drop
            break


def drop_capabilities() -> None:
    """Give up every capability that this process has."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    _call("capset", header, none)
