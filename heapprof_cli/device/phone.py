"""One phone, as a measurement sees it: its facts, its lease, a fresh folder, files, the runner, what it left."""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from heapprof_cli import heap_file
from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device import adb_versions, cache, commands, lease, scripts, surroundings, system_log
from heapprof_cli.device.cache import Inventory
from heapprof_cli.device.facts import device_facts
from heapprof_cli.device.lease import LeaseState, Owner
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.selection import READY, DeviceEntry, choose, parse_devices
from heapprof_cli.device.server import AdbServer
from heapprof_cli.device.shell import ShellResult, run_shell
from heapprof_cli.device.sync import STALL_SECONDS, SyncSession, sync_session
from heapprof_cli.errors import DeviceError, HeapprofError, StageTimeout
from heapprof_cli.records import Artifact, Conditions, DeviceFacts
from heapprof_cli.text import clean, clean_lines

_HASHING_BYTES_PER_SECOND = 20e6  # the slowest sha256sum that need be waited for
_RUNNER_GRACE_SECONDS = 10.0
_STATUS_LIMIT = 1 << 20
_SERIES_LIMIT = 1 << 20  # 10,000 cycles of two 64-bit numbers
_LEDGER_LIMIT = 16 << 20
_OTHER_FILES_SHOWN = 5
_STREAMS = 6
_BATCH = 100
_HASH_LINE = re.compile(r"[0-9a-f]{64} +\S+\Z")
_GONE_FROM_CACHE = 96
_SIGNAL_STATUS = 128


@dataclass(frozen=True)
class Leavings:
    """What lies in the run's folder after the runner ended. ``overdue``: the watchdog ended it."""

    heap: bytes | None
    heap_is_older: bool
    heap_is_large: bool
    other_heap_files: tuple[str, ...]
    status: bytes | None
    series: bytes | None = None
    ledger: bytes | None = None
    overdue: bool = False
    conditions: Conditions | None = None


@dataclass(frozen=True)
class Opened:
    """How asking for the lease went: ``busy`` is who else has it; ``broken`` a lease that was broken for it."""

    broken: str | None
    busy: LeaseState | None


class Phone:
    """A phone that is ready, reached through one adb server."""

    def __init__(
        self, server: AdbServer, entry: DeviceEntry, alias: str | None = None, stall_seconds: float = STALL_SECONDS
    ) -> None:
        self._server = server
        self._serial = entry.serial
        self._stall_seconds = stall_seconds
        self._features: frozenset[str] | None = None
        self._given_up = False
        self.alias = alias or entry.alias

    def survey(
        self, workspace: str, store: str, *, closely: bool = False
    ) -> tuple[DeviceFacts, Inventory, LeaseState | None]:
        """What the phone says of itself, what its cache holds and who measures on it, in one shell call.

        ``closely``: also whether files of the workspace may be executed, and all else that bears on a run.
        """
        adb = adb_versions.ask_aside(self._server) if closely else None
        text = self._shell(commands.survey(workspace, store, closely=closely), "device").stdout.text()
        facts = device_facts(text, self.alias, self._serial)
        if facts.machine is None or not re.fullmatch(r"\w+", facts.machine, re.ASCII):
            raise _nonsense("device")
        state = lease.parse(text)
        if adb is not None:
            facts = replace(facts, surroundings=surroundings.parse(text, adb(), state))
        return facts, cache.parse_inventory(text.splitlines()), state

    def open_run(self, folder: RunFolder, store: str, owner: Owner, gone: str | None) -> Opened:
        """Take the lease, breaking that of the token ``gone``, and create the run's folder, in one shell call.

        Raises DeviceError with the phone's words when they can't be made.
        """
        result = self._shell(commands.open_run(folder, store, owner, gone), "prepare")
        text = result.stdout.text()
        broken = next((line[7:] for line in text.splitlines() if line.startswith("broken=")), None)
        # Before "taken": whatever else an odd answer says, a phone that may be in use is not ours.
        if "lease=busy" in text:
            return Opened(broken, lease.parse(text) or LeaseState(None, None))
        if result.status == 0 and "lease=taken" in text:
            return Opened(broken, None)
        if result.status != 0:
            reason = " / ".join(clean_lines(result.stderr.text(), 3, 300)) or "no reason given"
            raise DeviceError(
                f"the phone can't make the run's folder {clean(folder.path, 200)}: {reason}",
                stage="prepare",
                hints=("choose a folder that the shell user may write with --workspace",),
            )
        raise _nonsense("lease")

    def renew(self, workspace: str, owner: Owner) -> bool:
        """Prolong the lease; False when it is no longer ours. Raises HeapprofError when the phone can't be asked."""
        return "lease=renewed" in self._shell(lease.renew(workspace, owner), "lease").stdout.text()

    def inventory(self, store: str) -> Inventory:
        """What the cache holds now."""
        return cache.parse_inventory(
            self._shell(f"{cache.inventory(store)}; exit 0", "push").stdout.text().splitlines()
        )

    def push(
        self, store: str, run_id: str, artifacts: Sequence[Artifact], moved: Callable[[int], None] | None = None
    ) -> None:
        """Send ``artifacts`` into the cache's receiving names, several side by side.

        Raises DeviceError or StageTimeout; parts may be left, which :meth:`close_run` removes.
        """
        if self._features is None:
            answer = self._server.query(f"host-serial:{self._serial}:features")
            self._features = frozenset(answer.split(","))
        largest_first = sorted(artifacts, key=lambda artifact: -artifact.size)
        streams: set[SyncSession] = set()
        with ThreadPoolExecutor(min(_STREAMS, max(1, len(artifacts)))) as pool:
            futures = [pool.submit(self._send, store, run_id, a, streams, moved) for a in largest_first]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                # Also Ctrl-C: nothing goes on behind our back, and gigabytes under way are not waited for.
                pool.shutdown(wait=False, cancel_futures=True)
                for stream in tuple(streams):
                    stream.abort()
                raise

    def _send(
        self,
        store: str,
        run_id: str,
        artifact: Artifact,
        streams: set[SyncSession],
        moved: Callable[[int], None] | None,
    ) -> None:
        features = self._features or frozenset()
        with sync_session(self._server, self._serial, "push", features, self._stall_seconds) as sync:
            streams.add(sync)
            sent = sync.send(Path(artifact.path), cache.part(store, run_id, artifact), 0o755, moved)
        if sent != artifact.size:
            raise DeviceError(f"{clean(artifact.name, 100)} changed on this computer while it was sent", stage="push")

    def verify(
        self, store: str, run_id: str, received: Sequence[Artifact], doubtful: Sequence[Artifact]
    ) -> tuple[Artifact, ...]:
        """Hash files on the phone; received ones that are right become entries. Returns those that are wrong."""
        good: set[str] = set()
        for part_received, part_doubtful in zip_longest(_batches(received), _batches(doubtful), fillvalue=()):
            command = cache.verify(store, run_id, part_received, part_doubtful)
            size = sum(artifact.size for artifact in (*part_received, *part_doubtful))
            lines = self._shell(command, "push", size / _HASHING_BYTES_PER_SECOND).stdout.text().splitlines()
            good |= {line[5:] for line in lines if line.startswith("good=")}
        return tuple(artifact for artifact in (*received, *doubtful) if artifact.sha256 not in good)

    def link(self, store: str, folder: RunFolder, artifacts: Sequence[Artifact]) -> bool:
        """Put the cached ``artifacts`` into the run's folder; False when one is no longer in the cache."""
        for batch in _batches(artifacts):
            result = self._shell(cache.link(store, folder, batch), "push")
            if result.status == _GONE_FROM_CACHE:
                return False
            if result.status != 0:
                raise DeviceError(
                    f"the phone can't fill the run's folder: {result.tail()}", stage="push", transient=True
                )
        return True

    def make_room(self, store: str, found: Inventory, wanted: Sequence[Artifact], missing: int) -> None:
        """Remove entries of the cache, least recently used first, to gain ``missing`` bytes where that can be."""
        order = self._shell(cache.recency(store), "push").stdout.text().splitlines()
        chosen = cache.choose_evictions(found, wanted, missing, order)
        if chosen:
            self._shell(cache.evict(store, chosen), "push")

    def run(self, command: str, seconds: float, on_stderr: Callable[[bytes], None]) -> ShellResult:
        """Run the runner once by the script ``command``. It is ended on the phone after ``seconds``; a little later we
        stop waiting.

        Raises StageTimeout or DeviceError; the caller then stops what may still run.
        """
        limit = seconds + _RUNNER_GRACE_SECONDS if seconds else math.inf
        try:
            return run_shell(
                self._server, self._serial, command, stage="run", seconds=min(limit, 10**7), on_stderr=on_stderr
            )
        except StageTimeout as error:
            raise StageTimeout(f"the runner did not end within {seconds:g} s", stage="run") from error

    def leavings(self, folder: RunFolder) -> Leavings:
        """Fetch the files that the runner wrote. Raises DeviceError when the phone is gone."""
        result = self._shell(scripts.look(folder), "collect")
        if result.status != 0:
            raise DeviceError(f"the run's folder vanished from the phone: {result.tail()}", stage="collect")
        lines = result.stdout.text().splitlines()
        if not {"heap=fresh", "heap=older", "heap=absent"}.intersection(lines) or lines[-1:] != ["end"]:
            raise _nonsense("collect")
        hashes = {line[64:].strip(): line[:64] for line in lines if _HASH_LINE.match(line)}
        limits = {
            folder.status_name: _STATUS_LIMIT,
            folder.series_name: _SERIES_LIMIT,
            folder.ledger_name: _LEDGER_LIMIT,
        }
        wanted = {folder.heap_name: heap_file.MAX_BYTES} if "heap=fresh" in lines and "large" not in lines else {}
        wanted |= {name: limit for name, limit in limits.items() if f"has={name}" in lines}
        found = self._fetch_small(folder, wanted, hashes)
        others = [clean(line[6:], 300) for line in lines if line.startswith("other=")]
        return Leavings(
            heap=found.get(folder.heap_name),
            heap_is_older="heap=older" in lines,
            heap_is_large="large" in lines,
            other_heap_files=tuple(others[:_OTHER_FILES_SHOWN]),
            status=found.get(folder.status_name),
            series=found.get(folder.series_name),
            ledger=found.get(folder.ledger_name),
            overdue="overdue" in lines,
            conditions=surroundings.parse_conditions(result.stdout.text()),
        )

    def system_log(self, folder: RunFolder, pid: int | None) -> str:
        """What the phone's log says of a run that has ended; ``pid`` is of its process that did the work, if known."""
        text = self._shell(system_log.window(folder, pid), "collect").stdout.text()
        return "\n".join(system_log.of_the_run(text, () if pid is None else (pid,)))

    def _fetch_small(self, folder: RunFolder, limits: Mapping[str, int], hashes: Mapping[str, str]) -> dict[str, bytes]:
        """The contents of files of the run's folder, each of at most so many bytes and of its hash there."""
        features = self._features or frozenset()
        with (
            tempfile.TemporaryDirectory(prefix="heapprof-") as place,
            sync_session(self._server, self._serial, "collect", features, self._stall_seconds) as sync,
        ):
            for name, limit in limits.items():
                sync.fetch(folder.file(name), Path(place, name), limit=limit, sha256=hashes.get(name, ""))
            return {name: Path(place, name).read_bytes() for name in limits}

    def stop(self, folder: RunFolder) -> bool:
        """End every process of the run; whether none is left. Trouble counts as "not known to be ended"."""
        with contextlib.suppress(HeapprofError):
            return "left=0" in self._shell(scripts.stop(folder), "cleanup").stdout.text().splitlines()
        return False

    def remove(self, folder: RunFolder, store: str) -> bool:
        """Remove a run's folder and what it received; whether they are known to be gone."""
        command = f"{cache.discard_parts(store, folder.run_id)}; {scripts.remove(folder)}"
        with contextlib.suppress(HeapprofError):
            return self._shell(command, "cleanup").status == 0
        return False

    def clean(self, workspace: str) -> int:
        """Remove run folders and cache of ``workspace``; the bytes freed. Raises DeviceError when some is left."""
        result = self._shell(scripts.clean(workspace), "clean", 120.0)
        freed = re.search(r"^freed=(\d+)$", result.stdout.text(), re.MULTILINE)
        if result.status != 0 or freed is None:
            raise DeviceError(
                f"not everything could be removed from {clean(workspace, 200)}: {result.tail() or 'no reason given'}",
                stage="clean",
                hints=("what is left there is not heapprof's, or belongs to another user of the phone",),
            )
        return int(freed[1]) * 1024

    def back_within(self, seconds: float) -> bool:
        """Wait until the phone is ready; False when it is not within ``seconds``, or was not when last waited for."""
        until = time.monotonic() + (0 if self._given_up else seconds)
        while True:
            with contextlib.suppress(HeapprofError):
                entries = parse_devices(self._server.query("host:devices-l"))
                if any(entry.serial == self._serial and entry.state == READY for entry in entries):
                    return True
            if time.monotonic() >= until:
                self._given_up = True  # waiting once is enough; later steps just look
                return False
            time.sleep(0.2)

    def close_run(self, folder: RunFolder, store: str, owner: Owner, *, keep: bool) -> bool:
        """Remove what the run left (its folder too, unless ``keep``), give the lease back; whether all is gone."""
        command = commands.close_run(folder, store, owner, keep=keep)
        with contextlib.suppress(HeapprofError):
            text = self._shell(command, "cleanup").stdout.text()
            return "lease=released" in text and "left_behind" not in text
        return False

    def _shell(self, command: str, stage: str, more_seconds: float = 0.0) -> ShellResult:
        seconds = self._stall_seconds + more_seconds
        result = run_shell(self._server, self._serial, command, stage=stage, seconds=seconds)
        if result.status > _SIGNAL_STATUS:
            raise DeviceError(
                f"the phone ended our shell in the stage '{stage}' with signal {result.status - _SIGNAL_STATUS}",
                stage=stage,
                hints=("the phone may be short of memory: close apps or reboot it, then run again",),
                transient=True,
            )
        return result


def _batches(artifacts: Sequence[Artifact]) -> Iterator[Sequence[Artifact]]:
    """Parts that fit into one shell command."""
    for start in range(0, len(artifacts), _BATCH):
        yield artifacts[start : start + _BATCH]


def _nonsense(stage: str) -> DeviceError:
    return DeviceError(
        f"the phone's answer in the stage '{stage}' makes no sense",
        stage=stage,
        hints=("the connection damages data: try another cable or port; else reboot the phone",),
        transient=True,
    )


def find_phone(
    address: ServerAddress, wanted: str | None, alias: str | None = None, stall_seconds: float = STALL_SECONDS
) -> Phone:
    """The one phone that ``wanted`` (serial or alias, None for the only one) means on the server at ``address``.

    Raises DeviceError that explains why there is none.
    """
    server = AdbServer(address)
    server.ensure_running()
    return Phone(server, choose(parse_devices(server.query("host:devices-l")), wanted), alias, stall_seconds)
