"""The virtual phone, as those who use it see it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal

from heapprof_cli import processes
from heapprof_cli.errors import HeapprofError
from heapprof_cli.virtual import emulation
from heapprof_cli.virtual.control import ControlClient, ControlError
from heapprof_cli.virtual.faults import Fault
from heapprof_cli.virtual.properties import as_file, default_properties
from heapprof_cli.virtual.removal import remove_tree
from heapprof_cli.virtual.server import PrivateAdbServer, reserve_port

Auth = Literal["authorized", "unauthorized"]

_KEEPER = (
    "import sys, json; settings = json.loads(sys.stdin.buffer.raw.readline()); sys.path[:] = settings['path']; "
    "from heapprof_cli.virtual.keeper import main; main(settings)"
)
_REBOOT_SECONDS = 15.0


class VirtualPhoneError(HeapprofError):
    """The virtual phone could not be started, or is gone."""

    default_stage = "virtual_phone"


class VirtualPhone:
    """A phone on this computer, with an adb server of its own that is connected to it.

    A context manager; all of it ends with the ``with`` block, or with this process, however that ends.

    ``properties``: system properties beside or instead of an SM8850 phone's.
    ``adb``: the adb program of its server. ``start_server=False``: no server, the endpoint alone.
    ``root``: a folder for the phone's files that stays; otherwise a fresh one that is removed.
    ``auth``: whether the phone's user has allowed this computer.
    ``private_root``: None where possible, True or an error, False for none.
    ``data_size``: /data is a file system of its own with so many bytes; ``data_read_only``: it can't be written.
    ``data_no_exec``: nothing on /data may be executed.
    ``files``: further files outside of /data by their paths (/vendor/.., /dev/.., /sys/..): the text, or the text and
    the mode, 0 for one that the shell user may not read. ``variables``: beside those of every shell on the phone.
    ``machine``: another processor, ``aarch64``, emulated by QEMU; raises FileNotFoundError where that is missing.
    ``latency``: seconds that every packet takes, each way. ``bandwidth``: bytes a second that the link carries, each
    way; None: as many as this computer can. ``reboot_seconds``: how long a reboot takes.
    """

    adb_host = PrivateAdbServer.host

    def __init__(
        self,
        *,
        properties: Mapping[str, str] | None = None,
        adb: Path | None = None,
        root: Path | None = None,
        auth: Auth = "authorized",
        private_root: bool | None = None,
        start_server: bool = True,
        data_size: int | None = None,
        data_read_only: bool = False,
        data_no_exec: bool = False,
        files: Mapping[str, str | tuple[str, int]] | None = None,
        variables: Mapping[str, str] | None = None,
        latency: float = 0.0,
        bandwidth: float | None = None,
        reboot_seconds: float = 0.3,
        machine: str | None = None,
    ) -> None:
        emulated = emulation.needed(machine)
        self._settings: dict[str, Any] = {
            "machine": machine if emulated else None,
            "private_root": private_root,
            "data_size": data_size,
            "data_read_only": data_read_only,
            "data_no_exec": data_no_exec,
            "files": {path: (at, 0o644) if isinstance(at, str) else at for path, at in (files or {}).items()},
            "reboot_seconds": reboot_seconds,
            "state": {
                "properties": {**default_properties(emulated.abi if emulated else None), **(properties or {})},
                "authorized": auth == "authorized",
                "latency": latency,
                "bandwidth": bandwidth,
                "variables": dict(variables or {}),
                "faults": [],
            },
        }
        as_file(self._settings["state"]["properties"])  # raises ValueError now, not in the phone
        self._wanted_root = root
        self._stack = contextlib.ExitStack()
        self.adb_server = PrivateAdbServer(adb) if start_server else None
        self.faults = Faults(self)
        self.isolation = ""
        self.endpoint_port = 0
        self._control: ControlClient | None = None

    def __enter__(self) -> VirtualPhone:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Boot the phone and connect its server. Raises VirtualPhoneError, AdbServerError."""
        if self.adb_server:
            self._stack.callback(self.adb_server.stop)
            self.adb_server.launch()  # it starts while the phone boots
        self._boot()
        if self.adb_server:
            self.adb_server.start()
            self.connect()

    def close(self) -> None:
        """End the phone, its server and all that runs on it; remove its folder if it is a fresh one."""
        self._stack.close()

    # where it is

    @property
    def serial(self) -> str:
        return f"127.0.0.1:{self.endpoint_port}"

    @property
    def adb_port(self) -> int:
        """The port of its own adb server. Raises VirtualPhoneError when it has none."""
        if self.adb_server is None:
            raise VirtualPhoneError("this virtual phone was started without an adb server")
        return self.adb_server.port

    @property
    def isolated(self) -> bool:
        """Whether it has a root of its own."""
        return self.isolation == "namespaces"

    @property
    def workspace(self) -> str:
        """The folder on the phone that heapprof uses unless told otherwise."""
        return f"{'' if self.isolated else self.root}/data/local/tmp/heapprof"

    def host_path(self, path: str) -> Path:
        """Where a path on the phone lies on this computer: below /data anything, else only to look."""
        if not self.isolated:
            return Path(path)
        if self._settings["data_size"] is None and (path == "/data" or path.startswith("/data/")):
            return self.root / path.lstrip("/")
        return Path(f"/proc/{self._pid}/root", path.lstrip("/"))

    # what it does

    def connect(self) -> str:
        """Connect its adb server afresh, as after a drop; what the server says of it.

        What still runs over the old connection is cut. Raises AdbServerError when the phone can't be reached.
        """
        if self.adb_server is None:
            raise VirtualPhoneError("this virtual phone was started without an adb server")
        return self.adb_server.connect_afresh(self.serial)

    def processes(self) -> list[tuple[int, str]]:
        """(process id on the phone, command line) of what runs on it, beside init and adbd."""
        return [(int(pid), str(line)) for pid, line in self._ask("processes")]

    def boot_id(self) -> str:
        """The id of the boot, which a reboot changes."""
        return str(self._ask("boot_id"))

    def set_properties(self, values: Mapping[str, str]) -> None:
        """Change system properties; raises ValueError for what can't be one."""
        as_file(values)
        self._ask("properties", values=dict(values))

    def set_auth(self, auth: Auth) -> None:
        """The user allows this computer now, or for connections to come no more."""
        self._ask("authorize", authorized=auth == "authorized")

    def set_latency(self, seconds: float) -> None:
        """How long each packet takes from now on, each way; many may be under way at once."""
        self._ask("latency", seconds=seconds)

    def set_bandwidth(self, rate: float | None) -> None:
        """From now on the link carries ``rate`` bytes a second, each way; None: no limit."""
        self._ask("bandwidth", rate=rate)

    def drop(self) -> None:
        """Cut every connection to it, as a pulled and put back cable does."""
        self._ask("drop")

    def go_offline(self, seconds: float) -> None:
        """Cut every connection, and take none for so many seconds."""
        self._ask("offline", seconds=seconds)

    def reboot(self) -> None:
        """Reboot it, and wait until it is up again; its files stay, its processes do not."""
        before = self.boot_id()
        self._ask("reboot")
        limit = time.monotonic() + _REBOOT_SECONDS
        while time.monotonic() < limit:
            if self.boot_id() != before:
                return
            time.sleep(0.02)
        raise VirtualPhoneError(f"the virtual phone did not come back within {_REBOOT_SECONDS:g} s")

    # how it starts

    def _boot(self) -> None:
        root, temporary = self._make_root()
        holder = self._stack.enter_context(reserve_port())
        self.endpoint_port = holder.getsockname()[1]
        ours, theirs = socket.socketpair()
        self._log = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  (the stack closes it)
        settings = {
            **self._settings,
            "path": sys.path,
            "root": str(root),
            "temporary": temporary,
            "port": self.endpoint_port,
            "control": theirs.fileno(),
        }
        with theirs:
            keeper = processes.Child(
                [sys.executable, "-I", "-S", "-c", _KEEPER], stderr=self._log, pass_fds=[theirs.fileno()]
            )
        self._stack.callback(keeper.end, 15)
        self._control = ControlClient(ours)
        self._stack.callback(self._control.close)
        keeper.stdin.write(json.dumps(settings).encode() + b"\n")
        keeper.stdin.flush()
        self._understand(keeper.stdout)
        self.boot_id()  # answers when adbd listens

    def _make_root(self) -> tuple[Path, bool]:
        if self._wanted_root is not None:
            root = self._wanted_root.resolve()
            (root / "data").mkdir(parents=True, exist_ok=True)
            self.root = root
            return root, False
        self.root = Path(tempfile.mkdtemp(prefix="heapprof-phone-")).resolve()
        self._stack.callback(remove_tree, self.root)  # the keeper does it, too, when we can't any more
        self.root.chmod(0o755)
        (self.root / "data").mkdir()
        return self.root, True

    def _understand(self, output: IO[bytes]) -> None:
        word, _, rest = output.readline().decode("utf-8", "replace").strip().partition(" ")
        if word != "ok":
            raise VirtualPhoneError(f"the virtual phone did not start: {rest or self.log()}")
        pid, _, self.isolation = rest.partition(" ")
        self._pid = int(pid)

    def log(self) -> str:
        """The end of what the phone's own processes had to say of trouble."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), 4000, max(0, size - 4000)).decode("utf-8", "replace").strip()

    def _ask(self, request: str, **arguments: Any) -> Any:
        if self._control is None:
            raise VirtualPhoneError("the virtual phone is not running")
        try:
            return self._control.ask(request, **arguments)
        except ControlError as error:
            raise VirtualPhoneError(f"{error}; {self.log() or 'it said nothing'}") from None


class Faults:
    """The faults of one phone: add, look how often they happened, clear."""

    def __init__(self, phone: VirtualPhone) -> None:
        self._phone = phone

    def add(self, fault: Fault) -> int:
        """Returns a number for :meth:`happened`."""
        return int(self._phone._ask("add_fault", fault=dataclasses.asdict(fault)))

    def happened(self, number: int) -> int:
        """How often the fault with this number happened."""
        return int(self._phone._ask("faults").get(str(number), 0))

    def clear(self) -> None:
        """Forget all faults."""
        self._phone._ask("clear_faults")
