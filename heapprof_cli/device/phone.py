"""One phone, as a measurement sees it: its facts, a fresh folder, files, the runner, what it left."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import heap_file, socs
from heapprof_cli.device import scripts
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.selection import DeviceEntry
from heapprof_cli.device.server import AdbServer
from heapprof_cli.device.shell import ShellResult, run_shell
from heapprof_cli.device.sync import sync_session
from heapprof_cli.errors import DeviceError, HeapprofError, StageTimeout
from heapprof_cli.records import Artifact, DeviceFacts
from heapprof_cli.text import clean

_SHORT_SECONDS = 20.0
_RUNNER_GRACE_SECONDS = 10.0
_STATUS_LIMIT = 1 << 20
_OTHER_FILES_SHOWN = 5


@dataclass(frozen=True)
class Leavings:
    """What lies in the run's folder after the runner ended."""

    heap: bytes | None
    heap_is_older: bool
    other_heap_files: tuple[str, ...]
    status: bytes | None


class Phone:
    """A phone that is ready, reached through one adb server."""

    def __init__(self, server: AdbServer, entry: DeviceEntry, alias: str | None = None) -> None:
        self._server = server
        self._serial = entry.serial
        self.alias = alias or entry.alias

    def probe(self, workspace: str) -> DeviceFacts:
        """What the phone says of itself, in one shell call; free space is that at ``workspace``."""
        result = self._shell(scripts.probe(workspace), "device")
        values = _key_values(result.stdout.text())
        soc_text = values.get("ro.soc.model") or values.get("soc0")
        soc = socs.find(soc_text) if soc_text else None
        return DeviceFacts(
            alias=self.alias,
            serial=self._serial,
            machine=values.get("machine"),
            is_android="linker64" in values,
            model=values.get("ro.product.model"),
            soc=soc_text,
            htp_arch=soc.htp_arch if soc else None,
            android=values.get("ro.build.version.release"),
            abi=values.get("ro.product.cpu.abi"),
            fingerprint=values.get("ro.build.fingerprint"),
            free_bytes=_free_bytes(values.get("df", "")),
            virtual=values.get("ro.heapprof.virtual") == "1",
        )

    def prepare(self, folder: RunFolder) -> None:
        """Create the run's folder. Raises DeviceError with the phone's words when it can't."""
        result = self._shell(scripts.prepare(folder), "prepare")
        if result.status != 0:
            raise DeviceError(
                f"the phone can't make the run's folder {clean(folder.path, 200)}: {result.tail() or 'no reason given'}",
                stage="prepare",
                hints=("choose a folder that the shell user may write with --workspace",),
            )

    def push(self, folder: RunFolder, artifacts: Sequence[Artifact], moved: Callable[[int], None] | None) -> int:
        """Send all ``artifacts`` into the run's folder; the count of bytes sent."""
        total = 0
        with sync_session(self._server, self._serial, "push") as sync:
            for artifact in artifacts:
                mode = 0o755 if artifact.executable else 0o644
                sent = sync.send(Path(artifact.path), folder.file(artifact.remote_name), mode, moved)
                if sent != artifact.size:
                    raise DeviceError(
                        f"{clean(artifact.name, 100)} changed on this computer while it was sent", stage="push"
                    )
                total += sent
        return total

    def run(
        self,
        folder: RunFolder,
        environment: Mapping[str, str],
        arguments: Sequence[str],
        seconds: float,
        on_stderr: Callable[[bytes], None],
    ) -> ShellResult:
        """Run the runner once. It ends itself after ``seconds``; a little later we stop waiting.

        Raises StageTimeout or DeviceError; the caller then stops what may still run.
        """
        command = scripts.start(folder, environment, arguments)
        limit = seconds + _RUNNER_GRACE_SECONDS if seconds else math.inf
        try:
            return run_shell(
                self._server, self._serial, command, stage="run", seconds=min(limit, 10**7), on_stderr=on_stderr
            )
        except StageTimeout as error:
            raise StageTimeout(f"the runner did not end within {seconds:g} s", stage="run") from error

    def leavings(self, folder: RunFolder) -> Leavings:
        """Fetch the heap file and the status file. Raises DeviceError when the phone is gone."""
        result = self._shell(scripts.look(folder), "collect")
        if result.status != 0:
            raise DeviceError(f"the run's folder vanished from the phone: {result.tail()}", stage="collect")
        lines = result.stdout.text().splitlines()
        heap = status = None
        with sync_session(self._server, self._serial, "collect") as sync:
            if "heap=fresh" in lines:
                heap = sync.receive(folder.file(folder.heap_name), heap_file.MAX_BYTES + 1)
            if "status=present" in lines:
                status = sync.receive(folder.file(scripts.STATUS_NAME), _STATUS_LIMIT)
        others = [clean(line[6:], 300) for line in lines if line.startswith("other=")]
        return Leavings(heap, "heap=older" in lines, tuple(others[:_OTHER_FILES_SHOWN]), status)

    def stop(self, folder: RunFolder) -> bool:
        """End every process of the run; whether none is left (None of it is raised as an error)."""
        with contextlib.suppress(HeapprofError):
            return "left=0" in self._shell(scripts.stop(folder), "cleanup").stdout.text().splitlines()
        return False

    def remove(self, folder: RunFolder) -> bool:
        """Remove the run's folder; whether it is gone."""
        with contextlib.suppress(HeapprofError):
            return self._shell(scripts.remove(folder), "cleanup").status == 0
        return False

    def _shell(self, command: str, stage: str) -> ShellResult:
        return run_shell(self._server, self._serial, command, stage=stage, seconds=_SHORT_SECONDS)


def _key_values(text: str) -> dict[str, str]:
    """``key=value`` lines of a phone, cleaned; empty values are left out, the first of a key counts."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.partition("=")
        shown = clean(value, 300)
        if separator and shown:
            values.setdefault(key, shown)
    return values


def _free_bytes(df_line: str) -> int | None:
    """Available bytes from a line of ``df -kP``: filesystem, blocks, used, available, percent, mount."""
    match = re.search(r"\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s", df_line + " ")
    return int(match[3]) * 1024 if match else None
