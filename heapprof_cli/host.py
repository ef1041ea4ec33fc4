"""This computer as others see it in a lease, and whether one of its processes still lives."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import socket
from pathlib import Path


def user_name() -> str:
    """Who runs heapprof; the numeric id where it has no name."""
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())


def identity() -> str:
    """A name of this computer in which process ids are unique: host name, kernel boot and pid namespace.

    Containers may share a host name and not their process ids; so the name alone would not do.
    """
    space = ""
    for source in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id"):
        with contextlib.suppress(OSError):
            space += Path(source).read_text("utf-8").strip()
    with contextlib.suppress(OSError):
        space += os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()[:40]}-{hashlib.sha256(space.encode()).hexdigest()[:8]}"


def process_lives(pid: int) -> bool:
    """Whether a process of this computer has the id ``pid``."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True  # another user's
    return True
