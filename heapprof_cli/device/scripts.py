"""The shell scripts that heapprof runs on a phone, as text: every foreign word in them is quoted.

They keep to what Android's mksh and toybox, busybox and plain POSIX systems share.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heapprof_cli import heap_file
from heapprof_cli.device.surroundings import TRIAL_NAME, conditions
from heapprof_cli.records import RUNNER_NAME

PROPERTIES: tuple[str, ...] = (
    "ro.product.model",
    "ro.product.cpu.abi",
    "ro.soc.model",
    "ro.build.version.release",
    "ro.build.fingerprint",
    "ro.heapprof.virtual",
    "sys.boot_completed",
)
MARKER = "started"
PID = "pid"
_WATCH_SECONDS = 0.5


@dataclass(frozen=True)
class RunFolder:
    """A fresh folder on the phone that belongs to one measurement, and the fresh names of run ``number`` in it."""

    workspace: str
    run_id: str
    number: int = 1

    def of_run(self, number: int) -> RunFolder:
        """The same folder, with the names of another runner process."""
        return replace(self, number=number)

    @property
    def reading_id(self) -> str:
        """What ties a reading to one runner process; begins with ``run_id``, by which all of them are found."""
        return self.run_id if self.number == 1 else f"{self.run_id}-{self.number}"

    @property
    def path(self) -> str:
        return f"{self.workspace}/runs/{self.run_id}"

    @property
    def heap_name(self) -> str:
        return f"heap_{self.reading_id}.txt"

    @property
    def status_name(self) -> str:
        return f"status_{self.reading_id}.json"

    @property
    def series_name(self) -> str:
        return f"series_{self.reading_id}.csv"

    @property
    def ledger_name(self) -> str:
        return f"ledger_{self.reading_id}.jsonl"

    @property
    def overdue_name(self) -> str:
        """The watchdog's note that it ended the run."""
        return f"overdue_{self.reading_id}"

    def file(self, name: str) -> str:
        return f"{self.path}/{name}"


def probe(workspace: str) -> str:
    """Prints what the device is, as ``key=value`` and getprop's ``[key]: [value]`` lines:
    machine, kernel, linker64, properties, SoC, and ``df``'s line for ``workspace`` or its nearest parent."""
    properties = " ".join(f"-e '[{name}]'" for name in PROPERTIES)
    return (
        'echo "machine=$(uname -m)"; echo "kernel=$(uname -r)"; '
        "[ -e /system/bin/linker64 ] && echo linker64=1; "
        f"command -v getprop >/dev/null 2>&1 && getprop | grep -F {properties}; "
        "[ -r /sys/devices/soc0/machine ] && "
        'echo "soc0=$(head -n 1 /sys/devices/soc0/machine)"; '
        f"d={shlex.quote(workspace)}; "
        'while [ -n "$d" ] && [ ! -d "$d" ]; do d="${d%/*}"; done; '
        'echo "df=$(df -kP "${d:-/}" 2>/dev/null | tail -n 1)"; '
    )


def prepare(folder: RunFolder, store: str) -> str:
    """Creates the run's folder, which must not exist yet, and the cache that it links to."""
    runs = shlex.quote(f"{folder.workspace}/runs")
    return (
        f"{_refuse_links(f'{folder.workspace}/runs', store, f'{store}/used')} umask 022; mkdir -p {runs} && "
        f"mkdir {shlex.quote(folder.path)} && mkdir -p {shlex.quote(store)}"
    )


def _refuse_links(*paths: str) -> str:
    """Ends the script where one of our folders is a link: it would lead us to files that are not ours."""
    return (
        f"for d in {' '.join(map(shlex.quote, paths))}; do "
        'if [ -h "$d" ]; then echo "$d is a symbolic link, which heapprof does not follow" >&2; exit 93; fi; done;'
    )


def start(
    folder: RunFolder,
    environment: Mapping[str, str],
    arguments: Sequence[str],
    program: str = RUNNER_NAME,
    watch_seconds: float = 0.0,
    folders: Sequence[str] = (),
) -> str:
    """Runs ``program`` in the run's folder, as the shell's own process, so that it gets the shell's SIGHUP.

    ``watch_seconds``: a watchdog beside it kills it after so long; for a program that has no time limit of its own.
    ``folders`` are made in the run's folder first.
    """
    exports = "; ".join(f"export {name}={shlex.quote(value)}" for name, value in environment.items())
    command = " ".join([f"./{program}", *map(shlex.quote, arguments)])
    made = "".join(f"mkdir -p {shlex.quote(name)} || exit 97; " for name in folders)
    watchdog = f"{_watchdog(folder, watch_seconds)} " if watch_seconds else ""
    return (
        f"cd {shlex.quote(folder.path)} || exit 97; chmod 755 {program} || exit 97; "
        f": > {MARKER} && echo $$ > {PID} || exit 97; {made}{watchdog}{exports}; exec {command}"
    )


def _watchdog(folder: RunFolder, seconds: float) -> str:
    """A child of the shell that outlives it and its connection: after ``seconds`` it leaves a note and kills what the
    shell has become. It ends soon after that one did, and kills no other process that got its number since.

    It is a shell of its own because mksh's subshells keep a copy of the stream, which adbd waits to see closed before
    it asks how the runner ended; until then that is a zombie, which still has a number but no exe.
    """
    rounds = math.ceil(seconds / _WATCH_SECONDS)
    script = (
        f"i=0; while [ $i -lt {rounds} ] && [ -e /proc/$1/exe ]; do sleep {_WATCH_SECONDS}; i=$((i+1)); done; "
        f"grep -q {_pattern(folder)} /proc/$1/cmdline && : > {folder.overdue_name} && kill -KILL $1"
    )
    return f"sh -c {shlex.quote(script)} watchdog $$ --run_id={folder.reading_id} </dev/null >/dev/null 2>&1 &"


def _pattern(folder: RunFolder) -> str:
    """Finds the command lines of every runner of a run, by what both kinds of them are given. Written so that neither
    the command line of a script that holds it nor grep's own matches."""
    return f"-e '-[-]heap_profiling_path=heap_{folder.run_id}' -e '-[-]run_id={folder.run_id}'"


def look(folder: RunFolder) -> str:
    """Says whether the run's heap file is ``fresh``, ``older`` than the run, or ``absent``; ``large`` where it is
    larger than two lines can be; ``overdue`` where the watchdog ended the run; ``has=NAME`` and ``sha256sum``'s line
    of every file there is; which other heap files lie in the workspace, where it is absent (``other=PATH``); the
    phone's conditions; and ``end``.
    """
    heap = shlex.quote(folder.heap_name)
    names = " ".join(map(shlex.quote, (folder.heap_name, folder.status_name, folder.series_name, folder.ledger_name)))
    return (
        f"cd {shlex.quote(folder.path)} || exit 97; "
        f"if [ ! -f {heap} ]; then echo heap=absent; "
        f"elif [ {heap} -ot {MARKER} ]; then echo heap=older; else echo heap=fresh; fi; "
        f"[ -f {heap} ] && [ $(wc -c < {heap}) -gt {heap_file.MAX_BYTES} ] && echo large; "
        f"[ -f {shlex.quote(folder.overdue_name)} ] && echo overdue; "
        f'for f in {names}; do [ -f $f ] && echo "has=$f" && sha256sum $f 2>/dev/null; done; '
        f"[ -f {heap} ] || find {shlex.quote(folder.workspace)} -type f -size -128 ! -name 'heap_{folder.run_id}*' "
        "-exec grep -lF 'DSP:before_context_created (bytes)' {} + 2>/dev/null | head -n 5 | "
        'while read -r f; do echo "other=$f"; done; ' + conditions() + "echo end"
    )


def stop(folder: RunFolder) -> str:
    """Ends every process of the run: asks first, then kills; prints ``left=N`` still alive."""
    find = f"grep -l {_pattern(folder)} /proc/[0-9]*/cmdline 2>/dev/null"
    return (
        f"k() {{ for f in $({find}); do p=${{f#/proc/}}; p=${{p%/cmdline}}; "
        '[ "$p" = $$ ] || kill "$1" "$p" 2>/dev/null; done; }; '
        f"n() {{ {find} | wc -l | tr -d ' '; }}; "
        "k -TERM; i=0; while [ $(n) -gt 0 ] && [ $i -lt 10 ]; do sleep 0.1; i=$((i+1)); done; "
        "k -KILL; i=0; while [ $(n) -gt 0 ] && [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done; "
        "echo left=$(n)"
    )


def clean(workspace: str) -> str:
    """Removes what heapprof keeps in a workspace, by its own names and nothing else; prints ``freed=KIB``.

    Ends with status 94 when something of it is left.
    """
    hexadecimal = "[0-9a-f]" * 16
    return (
        f"cd {shlex.quote(workspace)} 2>/dev/null || {{ echo freed=0; exit 0; }}; "
        f"{_refuse_links('runs', 'cache', 'cache/used')} "
        "set -- $(du -sk . 2>/dev/null); before=${1:-0}; "
        f"rm -rf runs/{hexadecimal}; rm -f {TRIAL_NAME}[0-9]*; rmdir runs 2>/dev/null; "
        f"cd cache 2>/dev/null && {{ rm -rf {hexadecimal * 4} .part.*.* verified verified.new; "
        f"cd used 2>/dev/null && {{ rm -f {hexadecimal * 4}; cd ..; rmdir used; }}; "
        "cd ..; rmdir cache; } 2>/dev/null; "
        "set -- $(du -sk . 2>/dev/null); freed=$((before-${1:-0})); "
        "[ $freed -gt 0 ] || freed=0; echo freed=$freed; "
        f"left=0; for f in runs/{hexadecimal} cache/{hexadecimal * 4}; do [ -e $f ] && left=94; done; "
        f"cd / && rmdir {shlex.quote(workspace)} 2>/dev/null; exit $left"
    )


def remove(folder: RunFolder) -> str:
    """Removes the run's folder, and the workspace where nothing else is in it."""
    runs = f"{folder.workspace}/runs"
    return (
        f"rm -rf {shlex.quote(folder.path)}; "
        f"rmdir {shlex.quote(runs)} {shlex.quote(folder.workspace)} 2>/dev/null; "
        f"[ ! -e {shlex.quote(folder.path)} ]"
    )
