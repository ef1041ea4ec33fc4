"""Our sync client and addresses against the real adb server and the virtual phone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli.adb_address import ServerAddress
from heapprof_cli.device import cache, compression, server
from heapprof_cli.device.phone import find_phone
from heapprof_cli.device.server import AdbServer
from heapprof_cli.device.sync import sync_session
from heapprof_cli.errors import DeviceError
from heapprof_cli.records import Artifact
from heapprof_cli.virtual import VirtualPhone
from heapprof_cli.virtual.faults import Fault
from tests.conftest import Ended, OnPhone

ZSTD = frozenset({"sendrecv_v2", "sendrecv_v2_zstd"})
KINDS = {
    "empty": b"",
    "small": b"hello\n",
    "random": random.Random(5).randbytes(3_000_001),
    "compressible": b"weights " * 400_000,
    "half": random.Random(6).randbytes(1_000_000) + bytes(2_000_000),
}


@pytest.fixture
def adb(phone: VirtualPhone) -> AdbServer:
    return AdbServer(ServerAddress(phone.adb_host, phone.adb_port))


@pytest.fixture
def remote(phone: VirtualPhone) -> Iterator[str]:
    yield "/data/local/tmp/transfer x"
    phone.host_path("/data/local/tmp/transfer x").unlink(missing_ok=True)


@pytest.mark.parametrize("features", [frozenset(), ZSTD], ids=["plain", "zstd"])
@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(
    phone: VirtualPhone, adb: AdbServer, remote: str, tmp_path: Path, kind: str, features: frozenset[str]
) -> None:
    content = KINDS[kind]
    (tmp_path / "source").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    moved: list[int] = []
    with sync_session(adb, phone.serial, "test", features) as sync:
        assert sync.send(tmp_path / "source", remote, 0o644, moved.append) == len(content)
        assert phone.host_path(remote).read_bytes() == content
        sync.fetch(remote, tmp_path / "back", limit=len(content), sha256=digest)
    assert (tmp_path / "back").read_bytes() == content
    assert sum(moved) == len(content)
    assert int(phone.host_path(remote).stat().st_mtime) == int((tmp_path / "source").stat().st_mtime)


@pytest.mark.parametrize("features", [frozenset(), ZSTD], ids=["plain", "zstd"])
def test_a_fetch_leaves_all_or_nothing(
    phone: VirtualPhone, adb: AdbServer, remote: str, tmp_path: Path, features: frozenset[str]
) -> None:
    phone.host_path(remote).write_bytes(KINDS["compressible"])
    for limit, sha256, words in ((100, "", "larger than 100 bytes"), (10**9, "0" * 64, "did not arrive")):
        with sync_session(adb, phone.serial, "test", features) as sync, pytest.raises(DeviceError, match=words):
            sync.fetch(remote, tmp_path / "back", limit=limit, sha256=sha256)
    with sync_session(adb, phone.serial, "test", features) as sync, pytest.raises(DeviceError, match="No such file"):
        sync.fetch(remote + "gone", tmp_path / "back", limit=9, sha256="")
    assert list(tmp_path.glob("back*")) == []


def test_a_stream_that_expands_without_end_is_bounded() -> None:
    import zstandard

    bomb = zstandard.ZstdCompressor(level=3).compress(bytes(2_000_000_000 // 10))
    largest = max(len(piece) for piece in compression.expanded([bomb]))
    assert largest < 20_000_000
    with pytest.raises(EOFError):
        list(compression.expanded([b"garbage that is no stream"]))


def test_compression_is_used_where_it_pays(tmp_path: Path) -> None:
    for kind, flag in (("random", compression.NONE), ("compressible", compression.ZSTD), ("half", compression.ZSTD)):
        (tmp_path / kind).write_bytes(KINDS[kind])
        with (tmp_path / kind).open("rb") as file:
            assert compression.choose(file, len(KINDS[kind]), ZSTD) == flag
            assert file.tell() == 0
            assert compression.choose(file, len(KINDS[kind]), frozenset({"sendrecv_v2"})) == compression.NONE


def test_one_failed_file_ends_its_siblings(phone: VirtualPhone, tmp_path: Path) -> None:
    artifacts = []
    for number in range(4):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(random.Random(number).randbytes(2_000_000))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        artifacts.append(Artifact(path.name, str(path), path.name, digest, 2_000_000))
    place = cache.shared_store("/data/local/tmp/siblings")
    phone.faults.add(Fault("stall", command="SEND", path=f"*{artifacts[0].sha256}*"))
    phone.faults.add(Fault("fail", command="SEND", path=f"*{artifacts[1].sha256}*", text="No space left on device"))
    try:
        found = find_phone(ServerAddress(phone.adb_host, phone.adb_port), phone.serial, stall_seconds=5)
        with pytest.raises(DeviceError, match="No space left"):
            found.push(place, "0" * 16, [artifacts[1], *artifacts[2:]])
        before = threading.active_count()
        with pytest.raises(Exception, match="nothing moved"):
            found.push(place, "0" * 16, [artifacts[0]])
        assert threading.active_count() <= before
    finally:
        phone.faults.clear()
        import shutil

        shutil.rmtree(phone.host_path("/data/local/tmp/siblings"), ignore_errors=True)


class Relay:
    """Passes connections on to an adb server, from another kind of address."""

    def __init__(self, listener: socket.socket, port: int) -> None:
        self._listener = listener
        self._port = port
        listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ours, _ = self._listener.accept()
                theirs = socket.create_connection(("127.0.0.1", self._port))
                for source, target in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._copy, args=(source, target), daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def test_a_server_behind_a_unix_socket(on_phone: OnPhone, heapprof: Callable[..., Ended], model: Path) -> None:
    path = f"/tmp/heapprof-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        try:
            Relay(listener, on_phone.phone.adb_port)
            flags = ["--serial", on_phone.phone.serial, "--workspace", on_phone.phone.workspace, "--format", "json"]
            done = heapprof("run", *flags, model, ADB_SERVER_SOCKET=f"localfilesystem:{path}")
        finally:
            os.unlink(path)
    assert done.code == 0, done.stderr


def test_a_server_on_another_host(on_phone: OnPhone, heapprof: Callable[..., Ended], model: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.2", 0))
        Relay(listener, on_phone.phone.adb_port)
        port = str(listener.getsockname()[1])
        flags = ["--serial", on_phone.phone.serial, "--workspace", on_phone.phone.workspace, "--format", "json"]
        assert heapprof("run", "-H", "127.0.0.2", "-P", port, *flags, model).code == 0
        named = heapprof("run", *flags, model, ANDROID_ADB_SERVER_ADDRESS="127.0.0.2", ANDROID_ADB_SERVER_PORT=port)
        assert named.code == 0, named.stderr


@pytest.mark.parametrize(("address", "starts"), [(ServerAddress(), True), (ServerAddress(port=5038), False)])
def test_only_the_default_server_is_ever_started(
    monkeypatch: pytest.MonkeyPatch, address: ServerAddress, starts: bool
) -> None:
    started: list[list[str]] = []

    def refuse(self: object, where: ServerAddress) -> None:
        raise ConnectionRefusedError("nobody listens")

    def run(arguments: list[str], *, timeout: float) -> object:
        from heapprof_cli.processes import Finished

        started.append(arguments)
        return Finished(0, b"", b"")

    monkeypatch.setattr(server.Connection, "__init__", refuse)
    monkeypatch.setattr("heapprof_cli.processes.run", run)
    AdbServer(address).ensure_running()
    assert [words[1:] for words in started] == ([["start-server"]] if starts else [])
    with pytest.raises(DeviceError, match="no adb server"):
        AdbServer(address).query("host:version")
