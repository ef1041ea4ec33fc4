"""The lease: one measurement at a time on a phone, because the DSP heap figure is the whole DSP's.

It is a folder on the phone, made with ``mkdir`` (atomic everywhere), outside any workspace, so that
all workspaces, hosts and adb servers meet at the same place; only a system without Android's shared
folder has it in the workspace. It expires by the phone's own uptime:
no host's clock matters, and a reboot ends it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from heapprof_cli.text import clean

SECONDS = 60
RENEW_SECONDS = 15.0
_SHARED_FOLDER = "/data/local/tmp"
_NAME = ".heapprof-lease"
_UNFINISHED_SECONDS = 15


@dataclass(frozen=True)
class Owner:
    """Who measures: ``token`` is the run's id; ``host`` and ``pid`` name the process that holds the lease."""

    token: str
    user: str
    host: str
    pid: int

    @classmethod
    def of(cls, token: str, user: str, host: str, pid: int) -> Owner:
        """With names that are one word each, as the phone gives them back."""
        return cls(_word(token), _word(user), _word(host), pid)

    def line(self) -> str:
        """One word for each field; safe for the shell and to read back."""
        return " ".join((_word(self.token), _word(self.user), _word(self.host), str(self.pid)))


@dataclass(frozen=True)
class LeaseState:
    """A lease as the phone tells it. ``seconds_left`` is None where the owner's line is not written yet."""

    owner: Owner | None
    seconds_left: int | None

    @property
    def expired(self) -> bool:
        """Whether it is nobody's any more, though it still lies there."""
        return self.seconds_left is not None and self.seconds_left <= 0

    def __str__(self) -> str:
        if self.owner is None:
            return "someone who is just taking it"
        left = f", {self.seconds_left} s left" if self.seconds_left is not None else ""
        return f"{self.owner.user} on {self.owner.host} (process {self.owner.pid}{left})"


def _word(text: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in text)
    return kept[:64] or "unknown"


def _place(workspace: str) -> str:
    fallback = shlex.quote(workspace)
    return (
        f"if [ -d {_SHARED_FOLDER} ] && [ -w {_SHARED_FOLDER} ]; then L={_SHARED_FOLDER}/{_NAME}; "
        f"else mkdir -p {fallback} && L={fallback}/{_NAME}; fi; "
        # Builtins only: each program that a phone has to start costs milliseconds.
        "up() { read -r u _ < /proc/uptime; u=${u%%.*}; }; up; "
        "boot=none; [ -r /proc/sys/kernel/random/boot_id ] && read -r boot < /proc/sys/kernel/random/boot_id; "
        'own() { o=; [ -r "$L/owner" ] && read -r o < "$L/owner"; }; '
    )


def take(workspace: str, owner: Owner, gone: str | None) -> str:
    """Takes the lease, or says who has it: prints ``lease=taken``, ``lease=busy TOKEN USER HOST PID LEFT``, or
    ``lease=impossible`` with the reason on stderr.

    A lease is broken when it has expired, when the phone has rebooted since, or when it is that of the
    token ``gone``, whose owner is known to be dead; then ``broken=TOKEN`` is printed first. Only one of
    several breakers can make the folder that stands for breaking that very lease.
    """
    token = _word(owner.token)
    return _place(workspace) + (
        f"gone={shlex.quote(gone or '-')}; "
        f'put() {{ up; echo "$((u+{SECONDS})) $boot {owner.line()}" > "$L/owner.{token}" && '
        f'mv "$L/owner.{token}" "$L/owner"; }}; '
        'try() { if e=$(mkdir "$L" 2>&1); then '
        'if put; then rm -rf "$L".old.*; echo lease=taken; else rm -rf "$L"; echo lease=impossible; fi; exit 0; fi; }; '
        # Twice: its holder may have given it back between our mkdir and the look at it.
        '[ ! -e "$L" ] || [ -d "$L" ] || { echo lease=impossible; echo "$L is in the way: remove it" >&2; exit 0; }; '
        'try; [ -d "$L" ] || try; [ -d "$L" ] || { echo lease=impossible; echo "$e" >&2; exit 0; }; '
        "own; set -- $o; "
        # No owner line: being taken right now, or its taker died in between.
        'if [ $# -lt 6 ]; then at=$(stat -c %Y "$L" 2>/dev/null || echo 0); '
        f"if [ $(($(date +%s)-at)) -gt {_UNFINISHED_SECONDS} ]; then set -- 0 none unfinished - - 0; "
        "else echo lease=busy; exit 0; fi; fi; "
        'if [ "$2" = "$boot" ] && [ "$1" -gt "$u" ] && [ "$3" != "$gone" ]; then '
        'echo "lease=busy $3 $4 $5 $6 $(($1-u))"; exit 0; fi; '
        'B="$L.break.$3"; '
        # A breaker that died leaves its folder; after a while it counts no more.
        'if [ -d "$B" ] && [ $(($(date +%s)-$(stat -c %Y "$B" 2>/dev/null || echo 0))) -gt 30 ]; then '
        'rmdir "$B" 2>/dev/null; fi; '
        'if mkdir "$B" 2>/dev/null; then '
        'was=$o; own; if [ "$o" = "$was" ]; then '
        f'echo "broken=$3"; mv "$L" "$L.old.{token}" && rm -rf "$L.old.{token}"; fi; '
        'rmdir "$B"; try; fi; '
        "echo lease=busy"
    )


def renew(workspace: str, owner: Owner) -> str:
    """Prolongs the lease if it is still ours; prints ``lease=renewed`` or ``lease=lost``."""
    token = _word(owner.token)
    return _place(workspace) + (
        f'own; set -- $o; if [ "$3" = {token} ]; then '
        f'up; echo "$((u+{SECONDS})) $boot {owner.line()}" > "$L/owner.{token}" && mv "$L/owner.{token}" "$L/owner" && '
        "echo lease=renewed; else echo lease=lost; fi"
    )


def release(workspace: str, owner: Owner) -> str:
    """Gives the lease back if it is ours; prints ``lease=released`` unless it still stands."""
    token = _word(owner.token)
    return _place(workspace) + (
        f'own; set -- $o; if [ "$3" = {token} ]; then '
        f'mv "$L" "$L.old.{token}" && rm -rf "$L.old.{token}"; fi; '
        f'own; set -- $o; [ "$3" = {token} ] || echo lease=released'
    )


def show(workspace: str) -> str:
    """Prints ``lease=free`` or ``lease=busy TOKEN USER HOST PID LEFT`` (LEFT may be below zero: expired)."""
    return _place(workspace) + (
        "own; set -- $o; "
        'if [ $# -lt 6 ] || [ "$2" != "$boot" ]; then echo lease=free; '
        'else echo "lease=busy $3 $4 $5 $6 $(($1-u))"; fi'
    )


def parse(text: str) -> LeaseState | None:
    """The state that ``take`` or ``show`` printed; None only where neither said that the lease is busy."""
    for line in text.splitlines():
        if line.startswith("lease=busy"):
            words = line.split()[1:]
            if len(words) != 5 or not words[3].isdigit():
                return LeaseState(None, None)
            token, user, host, pid, left = (clean(word, 80) for word in words)
            seconds = int(left) if left.lstrip("-").isdigit() else None
            return LeaseState(Owner(token, user, host, int(pid[:9])), seconds)
    return None
