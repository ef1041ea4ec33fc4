"""The phone's first process: it starts adbd (:mod:`.adbd`), takes in orphans, and reboots the phone.

With a private root it is process 1 of the phone's pid namespace, so that the kernel ends the whole phone
with it; without, it is the one to whom the kernel gives the orphans, and ends them itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapprof_cli import processes
from heapprof_cli.virtual import adbd, libc, sandbox
from heapprof_cli.virtual.layout import Layout
from heapprof_cli.virtual.process_table import descendants

REBOOT = 3
"""adbd's exit code when it asks for a reboot."""


@dataclass(frozen=True)
class BootPlan:
    """What every boot of one phone shares."""

    layout: Layout
    port: int
    control: int
    state: int
    reboot_seconds: float


def boot_forever(plan: BootPlan) -> int:
    """Start adbd, again after each reboot it asks for; ends when adbd ends otherwise."""
    libc.set_name("init")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        boot_id = str(uuid.uuid4())
        if plan.layout.isolated:
            _restart_clock()
            Path(sandbox.BOOT_ID).write_text(boot_id + "\n")
        code = _reap_until(processes.fork(lambda: _run_adbd(plan, boot_id)))  # noqa: B023  (forked at once)
        _end_everything(plan.layout.isolated)
        if code != REBOOT:
            return code
        time.sleep(plan.reboot_seconds)


def _run_adbd(plan: BootPlan, boot_id: str) -> int:
    if plan.layout.drop_user:
        sandbox.become_shell_user()
    else:
        libc.forbid_new_privileges()
    libc.die_with_parent()
    libc.set_name("adbd")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    reboot = adbd.serve(plan.layout, plan.port, plan.control, read_state(plan.state), boot_id)
    if reboot is None:
        return 0
    write_state(plan.state, reboot)
    return REBOOT


def read_state(descriptor: int) -> dict[str, Any]:
    """What the phone remembers over a reboot, from the memory file ``descriptor``."""
    state: dict[str, Any] = json.loads(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
    return state


def write_state(descriptor: int, state: dict[str, Any]) -> None:
    """The counterpart of :func:`read_state`."""
    data = json.dumps(state).encode()
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, data, 0)


def _restart_clock() -> None:
    """The next child sees an uptime that begins now. Kernels before 5.6 can't; the uptime is the computer's there."""
    with contextlib.suppress(OSError):
        libc.unshare(libc.CLONE_NEWTIME)
        Path("/proc/self/timens_offsets").write_text(f"boottime -{int(time.clock_gettime(time.CLOCK_BOOTTIME))} 0\n")


def _reap_until(pid: int) -> int:
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _end_everything(isolated: bool) -> None:
    """Kill every process of the phone but this one, and wait until none is left."""
    while True:
        if isolated:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # in a pid namespace of our own: the phone, nothing else
        else:
            for pid in descendants(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return
