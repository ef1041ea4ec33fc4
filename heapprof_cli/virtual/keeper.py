"""The process that holds a virtual phone: it makes the phone's root, boots it, and leaves nothing behind.

It reads a pipe from whoever started it. When that pipe ends, for whatever reason, it ends the phone and
removes the phone's folder. It runs with few imports and one thread, so that it can fork.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  (imported late by asyncio, when its file is out of reach)
import contextlib
import os
import signal
import stat
from pathlib import Path
from typing import Any

from heapprof_cli import processes
from heapprof_cli.virtual import boot, compression, emulation, libc, sandbox, userland
from heapprof_cli.virtual.layout import Layout
from heapprof_cli.virtual.process_table import descendants
from heapprof_cli.virtual.removal import remove_tree

_OK = b"ok"


def main(settings: dict[str, Any]) -> None:
    """Run a phone by ``settings`` (see :class:`heapprof_cli.virtual.phone.VirtualPhone`) until stdin ends.

    Writes one line to stdout when the phone boots: ``ok PID ISOLATION``, or ``failed REASON``.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    libc.adopt_orphans()
    compression.features()  # loads the libraries while their files are in reach
    root = Path(settings["root"])
    pid = 0
    try:
        pid, said = _start(settings, root)
        os.write(1, f"{said}\n".encode())
        while pid and os.read(0, 4096):
            pass
    finally:
        _end(pid)
        if settings["temporary"]:
            remove_tree(root)


def _start(settings: dict[str, Any], root: Path) -> tuple[int, str]:
    reason = "not asked for"
    if settings["private_root"] is not False:
        pid, problem = _fork_phone(settings, root, isolated=True)
        if pid:
            return pid, f"ok {pid} namespaces"
        reason = problem
        if settings["private_root"]:
            return 0, f"failed no private root: {reason}"
    if settings["machine"] is not None:
        return 0, f"failed no phone with another processor without a private root ({reason})"
    if settings["data_size"] or settings["data_read_only"] or settings["data_no_exec"]:
        return 0, f"failed /data can't be a file system of its own without a private root ({reason})"
    if settings["files"]:
        return 0, f"failed no files beside /data without a private root ({reason})"
    pid, problem = _fork_phone(settings, root, isolated=False)
    return pid, f"ok {pid} none: {reason}" if pid else f"failed {problem}"


def _fork_phone(settings: dict[str, Any], root: Path, *, isolated: bool) -> tuple[int, str]:
    """Fork the phone's processes; the process id, or 0 and why not."""
    ours, theirs = os.pipe()

    def work() -> int:
        os.close(0)
        os.close(ours)
        libc.die_with_parent()
        return _become_phone(settings, root, isolated, theirs)

    pid = processes.fork(work)
    os.close(theirs)
    with open(ours, "rb") as report:
        said = report.read()
    if said == _OK:
        return pid, ""
    os.waitpid(pid, 0)
    return 0, said.decode("utf-8", "replace") or "it ended at once"


def _become_phone(settings: dict[str, Any], root: Path, isolated: bool, report: int) -> int:
    try:
        layout = _make_isolated(settings, root) if isolated else _make_plain(root)
        state = os.memfd_create("state")
        boot.write_state(state, settings["state"])
        plan = boot.BootPlan(layout, settings["port"], settings["control"], state, settings["reboot_seconds"])
        first = processes.fork(lambda: _first_process(plan, report))
    except OSError as error:
        os.write(report, str(error).encode())
        return 1
    os.close(report)
    os.close(plan.control)
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


def _first_process(plan: boot.BootPlan, report: int) -> int:
    libc.die_with_parent()
    try:
        if plan.layout.isolated:
            sandbox.mount_proc("")
            if plan.layout.machine:
                emulation.register(plan.layout.machine)
            sandbox.finish_root()
        else:
            libc.adopt_orphans()
    except OSError as error:
        os.write(report, str(error).encode())
        return 1
    os.write(report, _OK)
    os.close(report)
    return boot.boot_forever(plan)


def _make_isolated(settings: dict[str, Any], root: Path) -> Layout:
    programs = userland.find()
    machine = emulation.needed(settings["machine"])
    sandbox.enter_namespaces(emulated=machine is not None)
    os.umask(0o022)
    options = sandbox.DataOptions(settings["data_size"], settings["data_read_only"], settings["data_no_exec"])
    sandbox.build_root(root, programs, options, machine, settings["files"])
    return Layout(root, isolated=True, drop_user=True, machine=machine)


def _make_plain(root: Path) -> Layout:
    """A phone without namespaces: a folder, and the computer's own file systems around it."""
    drop = os.geteuid() == 0 and _others_can_reach(root)
    layout = Layout(root, isolated=False, drop_user=drop)
    sandbox.make_data(root / "data")
    system = root / "system/bin"
    system.mkdir(parents=True, exist_ok=True)
    userland.install(system, userland.find(), layout.shell, layout.properties)
    properties = Path(layout.properties)
    properties.parent.mkdir(parents=True, exist_ok=True)
    properties.touch()
    if drop:
        os.chown(properties, sandbox.SHELL_UID, sandbox.SHELL_UID)
    return layout


def _others_can_reach(folder: Path) -> bool:
    return all(part.stat().st_mode & stat.S_IXOTH for part in (folder, *folder.parents))


def _end(pid: int) -> None:
    """Kill the phone; with the namespace's first process everything in it dies."""
    if pid:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    while True:
        for left in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(left, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return
