"""The phone's private root: namespaces and mounts, without being root where the kernel allows that.

Started as root, the mount and pid namespaces are enough and the phone's programs become uid 2000, like
adb's shell user. Started by an ordinary user, a user namespace shows that user as uid 2000.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.virtual import emulation, libc, userland

SHELL_UID = 2000
"""Android's AID_SHELL (system/core/libcutils/include/private/android_filesystem_config.h)."""

PROPERTIES = "/dev/__properties__/values"
BOOT_ID = "/dev/.boot_id"

_SHARED_FOLDERS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "gnu")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_PASSWD = "root:x:0:0::/:/system/bin/sh\nsystem:x:1000:1000::/:/system/bin/sh\nshell:x:2000:2000::/:/system/bin/sh\n"
_GROUP = "root:x:0:\nsystem:x:1000:\nshell:x:2000:\n"


@dataclass(frozen=True)
class DataOptions:
    """How /data is made: a folder of the computer, or a file system of its own of ``size`` bytes."""

    size: int | None = None
    read_only: bool = False
    no_exec: bool = False

    @property
    def mount_flags(self) -> int:
        """What sets it apart from an ordinary mount."""
        return (libc.MS_RDONLY if self.read_only else 0) | (libc.MS_NOEXEC if self.no_exec else 0)


def enter_namespaces(*, emulated: bool = False) -> None:
    """Leave the computer's mount, pid, host name and IPC namespaces; children form the phone.

    Raises OSError where the kernel or a container forbids it.
    """
    private = libc.CLONE_NEWNS | libc.CLONE_NEWPID | libc.CLONE_NEWUTS | libc.CLONE_NEWIPC
    if emulated:
        emulation.enter_user_namespace(SHELL_UID, private)
    elif os.geteuid() == 0:
        try:
            libc.unshare(private)
        except PermissionError:
            _enter_as_user(private)
    else:
        _enter_as_user(private)
    libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
    socket.sethostname("localhost")


def _enter_as_user(private: int) -> None:
    uid, gid = os.geteuid(), os.getegid()
    libc.unshare(private | libc.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{SHELL_UID} {gid} 1")
    Path("/proc/self/uid_map").write_text(f"{SHELL_UID} {uid} 1")


def become_shell_user() -> None:
    """Be uid 2000 without any capability, for good. Raises OSError."""
    libc.drop_bounding_set()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(SHELL_UID, SHELL_UID, SHELL_UID)
        os.setresuid(SHELL_UID, SHELL_UID, SHELL_UID)
    libc.drop_capabilities()
    libc.forbid_new_privileges()


def make_data(data: Path, mount_flags: int = 0) -> None:
    """The folders of a phone's /data, which belong to the shell user where they do on a phone.

    ``mount_flags``: it is a mount, which gets them.
    """
    for name, mode in (("local", 0o751), ("local/tmp", 0o771), ("media", 0o770), ("media/0", 0o770)):
        folder = data / name
        if not folder.exists():
            folder.mkdir(parents=True)
            folder.chmod(mode | (0o001 if name == "local/tmp" else 0))
            if os.geteuid() == 0 and name != "local":
                os.chown(folder, SHELL_UID, SHELL_UID)
    if mount_flags:
        libc.mount("none", str(data), None, libc.MS_REMOUNT | libc.MS_BIND | mount_flags | _locked_flags(data))


def build_root(
    root: Path,
    programs: Mapping[str, str],
    options: DataOptions,
    machine: emulation.Machine | None = None,
    files: Mapping[str, tuple[str, int]] | None = None,
) -> None:
    """Make ``root`` (a folder that holds ``data``) the root of this process: the phone's file systems.

    Call it after :func:`enter_namespaces`; nothing of it is seen outside. /proc comes with each boot
    (:func:`mount_proc`). ``programs`` are those of :func:`userland.find`, ``files`` further files as text and mode.
    Raises OSError.
    """
    data = os.open(root / "data", os.O_PATH | os.O_DIRECTORY)
    libc.mount("tmpfs", str(root), "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=755,size=16m")
    for name in ("data", "dev", "proc", "sys", "system/bin", "system/etc", "vendor", "storage", ".old"):
        (root / name).mkdir(parents=True)
    _share_folders(root)
    _make_devices(root / "dev")
    userland.install(root / "system/bin", programs, "/system/bin/sh", PROPERTIES)
    if machine:
        emulation.install_uname(root / "system/bin", machine, dict(programs))
    _make_etc(root)
    if options.size is None:
        libc.mount(f"/proc/self/fd/{data}", str(root / "data"), None, libc.MS_BIND)
    else:
        libc.mount("tmpfs", str(root / "data"), "tmpfs", libc.MS_NOSUID, f"mode=771,size={options.size}")
    os.close(data)
    make_data(root / "data", options.mount_flags)
    libc.pivot_root(str(root), str(root / ".old"))
    os.chdir("/")
    _make_files(files or {})


def finish_root() -> None:
    """Let go of the computer's file systems, and make the phone's root read-only.

    Call it when the first :func:`mount_proc` is done: a new /proc may only be mounted where one is visible.
    """
    libc.unmount("/.old", libc.MNT_DETACH)
    os.rmdir("/.old")
    libc.mount("none", "/", None, libc.MS_REMOUNT | libc.MS_BIND | libc.MS_RDONLY | _locked_flags(Path("/")))


def mount_proc(boot_id: str) -> None:
    """A /proc of this pid namespace, with ``boot_id``. Raises OSError."""
    Path(BOOT_ID).write_text(boot_id + "\n")
    libc.mount("proc", "/proc", "proc", libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC)
    libc.mount(BOOT_ID, "/proc/sys/kernel/random/boot_id", None, libc.MS_BIND)


def _make_files(files: Mapping[str, tuple[str, int]]) -> None:
    """Files of the phone whose root this process has: its links lead to the computer's programs, which stay as they
    are, read-only, and are replaced here, not written through."""
    for path, (text, mode) in files.items():
        place = Path("/", path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_text(text, "utf-8")
        place.chmod(mode)


def _share_folders(root: Path) -> None:
    """The computer's programs and libraries, read-only, at their own places."""
    for name in _SHARED_FOLDERS:
        source = Path("/", name)
        if source.is_symlink():
            (root / name).symlink_to(os.readlink(source))
        elif source.is_dir():
            (root / name).mkdir()
            _bind(source, root / name, libc.MS_RDONLY | libc.MS_NOSUID)


def _make_devices(dev: Path) -> None:
    libc.mount("tmpfs", str(dev), "tmpfs", libc.MS_NOSUID, "mode=755,size=16m")
    for name in _DEVICES:
        (dev / name).touch()
        libc.mount(f"/dev/{name}", str(dev / name), None, libc.MS_BIND)
    for name in ("pts", "shm", "__properties__"):
        (dev / name).mkdir()
    os.chmod(dev / "shm", 0o1777)
    libc.mount("devpts", str(dev / "pts"), "devpts", libc.MS_NOSUID | libc.MS_NOEXEC, "newinstance,ptmxmode=0666")
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0")):
        (dev / name).symlink_to(target)
    for name, number in (("stdout", 1), ("stderr", 2)):
        (dev / name).symlink_to(f"/proc/self/fd/{number}")
    values = dev / "__properties__/values"
    values.touch()
    if os.geteuid() == 0:
        os.chown(values, SHELL_UID, SHELL_UID)


def _make_etc(root: Path) -> None:
    etc = root / "system/etc"
    (etc / "passwd").write_text(_PASSWD)
    (etc / "group").write_text(_GROUP)
    (etc / "hosts").write_text("127.0.0.1 localhost\n")
    for name in ("ld.so.cache", "localtime", "alternatives"):  # what the computer's programs need to start
        source = Path("/etc", name)
        if source.exists():
            (etc / name).mkdir() if source.is_dir() else (etc / name).touch()
            _bind(source, etc / name, libc.MS_RDONLY | libc.MS_NOSUID)
    for link, target in (("etc", "/system/etc"), ("sdcard", "/data/media/0")):
        (root / link).symlink_to(target)


def _bind(source: Path, target: Path, flags: int) -> None:
    libc.mount(str(source), str(target), None, libc.MS_BIND | libc.MS_REC)
    libc.mount("none", str(target), None, libc.MS_REMOUNT | libc.MS_BIND | flags | _locked_flags(target))


def _locked_flags(path: Path) -> int:
    """The flags of the mount at ``path`` that an ordinary user's namespace must not take away."""
    have = os.statvfs(path).f_flag
    return sum(mount for known, mount in _flags() if have & known)


def _flags() -> Iterator[tuple[int, int]]:
    yield os.ST_RDONLY, libc.MS_RDONLY
    yield os.ST_NOSUID, libc.MS_NOSUID
    yield os.ST_NODEV, libc.MS_NODEV
    yield os.ST_NOEXEC, libc.MS_NOEXEC
    yield os.ST_NOATIME, 1024
    yield os.ST_NODIRATIME, 2048
    yield os.ST_RELATIME, 1 << 21
