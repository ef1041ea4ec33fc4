"""What of a phone, beside its identity, bears on a run: asked in the survey's shell call, read without trusting it.

Nodes, folders and the benign lines about them are those of public FastRPC logs; the levels of ``Thermal Status`` and
the types of a ``Temperature`` are Android's (android.os.PowerManager, android.os.Temperature).
"""

from __future__ import annotations

import math
import re
import shlex

from heapprof_cli.device.lease import LeaseState
from heapprof_cli.records import RUNNER_NAME, AdbVersions, Conditions, Surroundings
from heapprof_cli.text import clean

TRIAL_NAME = ".heapprof-try-"
# The compute DSP's nodes; adsprpc-smd serves all domains on older systems.
_NODES = "/dev/fastrpc-cdsp* /dev/adsprpc-smd*"
_DSP_FOLDERS = "/dsp /dsp/cdsp /vendor/dsp /vendor/dsp/cdsp /vendor/dsp/xdsp /usr/lib/dsp /usr/lib/dsp/cdsp"
_UNSIGNED_SHELL = "fastrpc_shell_unsigned_3"  # domain 3 is the compute DSP
_COPY_FOLDERS = ("/vendor/lib64", "/odm/lib64", "/system/lib64", "/vendor/dsp/cdsp", "/vendor/lib/rfsa/adsp")
# Runners of QNN models as /proc/PID/comm shows them: 15 characters.
_RUNNERS = (
    "qnn_executor_ru", "qnn_llama_runne", "llama_main", "genie-t2t-run", "genie-t2e-run", "genie-app", "qnn-net-run",
    "qnn-throughput-", "qnn-context-bin", "qnn-platform-va", "snpe-net-run", "snpe-throughput",
)  # fmt: skip
_COMM = 15
_MOST = 20
_MOST_DESCRIPTORS = 4000  # as root every process can be looked into, which must not take long
_NPU, _CPU, _SKIN = 9, 0, 3
_PLAUSIBLE_CELSIUS = (-40.0, 200.0)


def trial(workspace: str) -> str:
    """Makes a script in the workspace, or its nearest parent that exists, runs and removes it: ``trial=ok``,
    ``trial=write REASON`` or ``trial=execute REASON``. A mount (noexec) or SELinux may forbid what modes allow."""
    return (
        f'w={shlex.quote(workspace)}; while [ -n "$w" ] && [ ! -e "$w" ]; do w="${{w%/*}}"; done; '
        f'f="$w/{TRIAL_NAME}$$"; trap \'rm -f "$f"; exit 1\' HUP; '
        'if [ -n "$w" ] && [ ! -d "$w" ]; then echo "trial=write $w is not a folder"; '
        'elif e=$( { echo "#!$(command -v sh)" > "$f" && chmod 755 "$f"; } 2>&1 ); then '
        'if e=$("$f" 2>&1); then echo trial=ok; else echo "trial=execute $e"; fi; '
        'else echo "trial=write $e"; fi; rm -f "$f" 2>/dev/null; trap - HUP; '
    )


def look() -> str:
    """Prints ``node=r|- PATH``, ``dsp=FOLDER``, ``shell=PATH``, ``copy=PATH``, ``adsp=``, ``user=PID NAME`` and
    the conditions. Builtins wherever they will do: each program that a phone has to start costs milliseconds."""
    copies = " ".join(f"{folder}/libQnn*" for folder in _COPY_FOLDERS)
    return (
        "{ nodes=; [ -r /dev ] && echo dev=listed; "
        f"for f in {_NODES}; do case $f in *'*') continue ;; esac; "
        'nodes="$nodes $f"; if [ -r "$f" ]; then echo "node=r $f"; else echo "node=- $f"; fi; done; '
        f'for d in {_DSP_FOLDERS}; do [ -r "$d" ] && [ -x "$d" ] || continue; echo "dsp=$d"; '
        f'[ -e "$d/{_UNSIGNED_SHELL}" ] && echo "shell=$d/{_UNSIGNED_SHELL}"; done; '
        f"for f in {copies}; do case $f in *'*') continue ;; esac; echo \"copy=$f\"; done; "
        '[ -n "$ADSP_LIBRARY_PATH" ] && echo "adsp=$ADSP_LIBRARY_PATH"; '
        f"{_users()}{conditions()}}} 2>/dev/null; "
    )


def _users() -> str:
    """Processes with a FastRPC node open, as far as we may look into them, and those of known names."""
    return (
        'n=0; [ -n "$nodes" ] && for p in /proc/[0-9]*; do [ -r "$p/fd" ] || continue; '
        f'for f in "$p"/fd/*; do n=$((n+1)); [ $n -gt {_MOST_DESCRIPTORS} ] && break 2; '
        'for d in $nodes; do if [ "$f" -ef "$d" ]; then '
        'read -r c < "$p/comm" && echo "user=${p#/proc/} $c"; break 2; fi; done; done; done; '
        f"grep -sxE '{'|'.join(_RUNNERS)}' /dev/null /proc/[0-9]*/comm | head -n {_MOST}; "
    )


def conditions() -> str:
    """Prints ``governor=`` of every kind in use, ``gpu_governor=``, and what the thermal service says; where there is
    no such service, ``zone=TYPE VALUE`` of the DSP's and the CPU's sensors."""
    return (
        "{ g=; for f in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do "
        '[ -r "$f" ] && read -r v < "$f" && case " $g " in *" $v "*) ;; *) g="${g:+$g }$v" ;; esac; done; '
        'echo "governor=$g"; f=/sys/class/kgsl/kgsl-3d0/devfreq/governor; '
        '[ -r $f ] && read -r v < $f && echo "gpu_governor=$v"; '
        "if [ -x /system/bin/dumpsys ]; then /system/bin/dumpsys -t 2 thermalservice | "
        "grep -e '^Thermal Status:' -e '^Current temp' -e 'Temperature{' | head -n 100; "
        "else for z in /sys/class/thermal/thermal_zone*; do "
        '[ -r "$z/type" ] && read -r t < "$z/type" && case $t in nsp*|cdsp*|cpu*) '
        'read -r v < "$z/temp" && echo "zone=$t $v" ;; esac; done; fi; } 2>/dev/null; '
    )


def parse(text: str, adb: AdbVersions, lease: LeaseState | None) -> Surroundings:
    """What :func:`trial` and :func:`look` printed. A runner of heapprof while somebody has the ``lease`` is no other
    user of the DSP: it is waited for."""
    said: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        kept = said.setdefault(key, []) if equals and len(said) < 1000 else None
        if kept is not None and len(kept) < _MOST:
            kept.append(clean(value, 300))
    tried, _, reason = said.get("trial", [""])[0].partition(" ")
    nodes = [word.partition(" ") for word in said.get("node", [])]
    users = _named_users(said.get("user", []), text)
    ours = lease is not None and not lease.expired
    boot = re.search(r"^\[sys\.boot_completed\]: \[(\d*)\]", text, re.MULTILINE)
    return Surroundings(
        workspace_trial=tried or None,
        workspace_reason=reason.removeprefix("sh: ") or "no reason given",
        nodes=tuple(path for _, _, path in nodes) if nodes or "dev" in said else None,
        readable_nodes=tuple(path for right, _, path in nodes if right == "r"),
        dsp_folders=tuple(said.get("dsp", ())),
        unsigned_shells=tuple(said.get("shell", ())),
        vendor_copies=tuple(said.get("copy", ())),
        adsp_library_path=next(iter(said.get("adsp", ())), None),
        dsp_users=tuple(user for user in users if not (ours and user[1] == RUNNER_NAME[:_COMM])),
        booted=boot is not None and boot[1] == "1",
        conditions=parse_conditions(text),
        adb=adb,
    )


def _named_users(with_node: list[str], text: str) -> list[tuple[int, str]]:
    known = re.findall(r"^/proc/(\d{1,9})/comm:(.{1,15})$", text, re.MULTILINE)
    opened = [match.groups() for match in (re.fullmatch(r"(\d{1,9}) (.{1,15})", line) for line in with_node) if match]
    users = {int(pid): clean(name, 20) for pid, name in (*opened, *known)}
    return list(users.items())[:_MOST]


def parse_conditions(text: str) -> Conditions:
    """What :func:`conditions` printed."""
    status = re.search(r"^Thermal Status: (\d)$", text, re.MULTILINE)
    sensor, celsius = _hottest(text)
    return Conditions(
        governor=_word(text, "governor"),
        gpu_governor=_word(text, "gpu_governor"),
        thermal_status=int(status[1]) if status else None,
        temperature_celsius=celsius,
        temperature_sensor=sensor,
    )


def _word(text: str, key: str) -> str | None:
    found = re.search(rf"^{key}=(.+)$", text, re.MULTILINE)
    return clean(found[1], 80) or None if found else None


def _hottest(text: str) -> tuple[str | None, float | None]:
    """The hottest of the DSP's sensors, where there is none of the CPU's, then of the skin's."""
    _, current, after = text.partition("\nCurrent temp")
    told = re.findall(
        r"Temperature\{mValue=([-0-9.]{1,12}), mType=(-?\d{1,3}), mName=([^,}]{1,60}),", after if current else text
    )
    found = [(int(kind), clean(name, 60), value) for value, kind, name in told]
    for name, value in re.findall(r"^zone=(\S{1,60}) (-?\d{1,9})$", text, re.MULTILINE):
        # The kernel's unit is a thousandth of a degree; a few drivers say whole degrees.
        celsius = int(value) / 1000 if abs(int(value)) > _PLAUSIBLE_CELSIUS[1] else int(value)
        found.append((_CPU if name.startswith("cpu") else _NPU, clean(name, 60), str(celsius)))
    for wanted in (_NPU, _CPU, _SKIN):
        warm = [(number, name) for kind, name, value in found if kind == wanted and (number := _celsius(value))]
        if warm:
            celsius_of, sensor = max(warm)
            return sensor, celsius_of
    return None, None


def _celsius(text: str) -> float | None:
    """A plausible temperature; a sensor that is not there says 0.0."""
    try:
        value = float(text)
    except ValueError:
        return None
    low, high = _PLAUSIBLE_CELSIUS
    return round(value, 1) if math.isfinite(value) and low < value < high and value != 0 else None
