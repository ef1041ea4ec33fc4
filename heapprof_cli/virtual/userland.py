"""What lies in the phone's /system/bin: Android's shell and tools, from Debian's mksh and toybox where installed.

Where they are not, the computer's own shell and coreutils stand in under the same names. Only names
that Android has are offered, so that a script that needs more fails here as it would on a phone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from heapprof_cli import processes

# Android 16's toybox (external/toybox/Android.bp), without what only root or a network can use,
# and the few tools that Android builds from elsewhere (awk, bc, gzip, dd, ...).
_TOOLS = """
awk base64 basename bc blkid blockdev cal cat chattr chgrp chmod chown chroot chrt cksum clear cmp comm cp
cpio cut date dd devmem df diff dirname dmesg dos2unix du echo egrep env expand expr fallocate false fgrep
file find flock fmt free fsync getconf getfattr getopt grep groups gunzip gzip head help hostname iconv id
inotifyd ionice iorenice iotop kill killall ln log logname losetup ls lsattr lsof md5sum microcom mkdir
mkfifo mknod mkswap mktemp more mount mountpoint mv nc nice nl nohup nproc nsenter od paste patch pgrep
pidof pkill pmap printenv printf prlimit ps pwd pwdx readelf readlink realpath renice rev rm rmdir sed seq
setfattr setsid sha1sum sha224sum sha256sum sha384sum sha512sum sleep sort split stat strings stty sync
sysctl tac tail tar taskset tee test time timeout top touch tr true truncate tty ulimit umount uname uniq
unix2dos unlink unshare uptime usleep uudecode uuencode uuidgen vmstat watch wc which whoami xargs xxd yes
zcat
"""

# mksh's printf is a program of its own, and its echo reads backslashes; other shells have a printf.
_GETPROP = """#!{shell}
if [ -n "$KSH_VERSION" ]; then say() {{ print -r -- "$1"; }}; else say() {{ printf '%s\\n' "$1"; }}; fi
while IFS= read -r line; do
    if [ $# -eq 0 ]; then
        say "[${{line%%=*}}]: [${{line#*=}}]"
    elif [ "${{line%%=*}}" = "$1" ]; then
        say "${{line#*=}}"
        exit 0
    fi
done < {properties}
[ $# -eq 0 ] || say "$2"
"""

PATH = (
    "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:"
    "/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin"
)
"""Android's own search path for programs."""


def find() -> dict[str, str]:
    """Which program of this computer stands for each of the phone's. It starts one, so call it before the
    phone's process namespace is entered: its first process would be that. Raises FileNotFoundError without any shell.
    """
    found = {"sh": _program("mksh") or _program("sh") or _missing("sh")}
    toybox = _program("toybox")
    applets = _applets(toybox)
    for tool in _TOOLS.split():
        program = toybox if tool in applets else _program(tool)
        if program:
            found[tool] = program
    return found | ({"toybox": toybox} if toybox else {})


def install(folder: Path, programs: Mapping[str, str], shell: str, properties: str) -> None:
    """Fill ``folder`` (the phone's /system/bin) with ``programs``. ``shell`` and ``properties`` are paths as the
    phone sees them: of its shell and of the file of its properties. Raises OSError."""
    for name, target in programs.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
    getprop = folder / "getprop"
    getprop.write_text(_GETPROP.format(shell=shell, properties=_quoted(properties)), "utf-8")
    getprop.chmod(0o755)


def _applets(toybox: str | None) -> frozenset[str]:
    """The tools that this toybox was built with."""
    if toybox is None:
        return frozenset()
    return frozenset(processes.run([toybox], timeout=10).stdout.decode("ascii", "replace").split())


def _program(name: str) -> str | None:
    """The program ``name`` of this computer, by a path with no links in its folders."""
    found = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin")
    if found is None:
        return None
    # The file itself may stay a link: busybox and its like tell their applets by the name they are called by.
    return os.path.join(os.path.realpath(os.path.dirname(found)), os.path.basename(found))


def _missing(name: str) -> str:
    raise FileNotFoundError(f"this computer has no {name}")


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"
