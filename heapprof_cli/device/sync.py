"""adb's sync protocol: sending and receiving files, with the phone's own words when it refuses."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from heapprof_cli.device import compression
from heapprof_cli.device.adb_library import AdbError
from heapprof_cli.device.server import AdbServer, Connection
from heapprof_cli.errors import DeviceError, StageTimeout
from heapprof_cli.text import clean, decode

_CHUNK = 64 * 1024
_BATCH = 16  # DATA frames sent in one system call
STALL_SECONDS = 30.0
_ONLY_MODE_BITS = 0o777


class SyncSession:
    """A ``sync:`` stream to one phone; several files may go through it one after another."""

    def __init__(self, connection: Connection, stage: str, features: frozenset[str], stall_seconds: float) -> None:
        self._connection = connection
        self._stage = stage
        self._features = features
        self._stall_seconds = stall_seconds

    def send(self, source: Path, remote: str, mode: int, moved: Callable[[int], None] | None = None) -> int:
        """Send ``source`` to ``remote`` with permission bits ``mode``; the count of bytes sent.

        Raises DeviceError with the phone's text (no space, permission denied), or when the
        connection ends; StageTimeout when nothing moves for the stall time.
        """
        with self._explained(f"send {clean(source.name, 100)}"), source.open("rb") as file:
            status = os.fstat(file.fileno())
            flag = compression.choose(file, status.st_size, self._features)
            self._begin(remote, 0o100000 | (mode & _ONLY_MODE_BITS), flag)
            sent = self._send_data(compression.blocks(file, flag, _CHUNK * _BATCH), moved)
            self._connection.conn.sendall(b"DONE" + struct.pack("<I", int(status.st_mtime) & 0xFFFFFFFF))
            self._expect_okay(remote)
            return sent

    def abort(self) -> None:
        """End the stream from another thread; whoever waits on it fails at once."""
        with contextlib.suppress(OSError, AdbError):
            self._connection.conn.shutdown(socket.SHUT_RDWR)

    def _begin(self, remote: str, mode: int, flag: int) -> None:
        """Version 2 carries the mode and the compression in a packet of its own; version 1 in the path."""
        if flag == compression.NONE:
            self._command(b"SEND", f"{remote},{mode}".encode())
            return
        path = remote.encode()
        self._connection.conn.sendall(
            b"SND2" + struct.pack("<I", len(path)) + path + b"SND2" + struct.pack("<II", mode, flag)
        )

    def _send_data(self, blocks: Iterator[tuple[bytes, int]], moved: Callable[[int], None] | None) -> int:
        sent = 0
        for block, file_bytes in blocks:
            frames = bytearray()
            for start in range(0, len(block), _CHUNK):
                piece = block[start : start + _CHUNK]
                frames += b"DATA" + struct.pack("<I", len(piece)) + piece
            try:
                self._connection.conn.sendall(frames)
            except (BrokenPipeError, ConnectionResetError):
                # The phone gave up and closed; its reason may still lie in the receive buffer.
                self._expect_okay("")
                raise
            sent += file_bytes
            if moved is not None:
                moved(file_bytes)
        return sent

    def fetch(self, remote: str, target: Path, *, limit: int, sha256: str) -> None:
        """Fetch the file ``remote`` into ``target``, which appears only when all of it arrived as it is there.

        ``sha256``: its hash on the phone. Raises DeviceError when it is absent, over ``limit`` bytes, or
        arrives with another content.
        """
        name = clean(remote.rsplit("/", 1)[-1], 100)
        part = target.with_name(f"{target.name}.part")
        digest = hashlib.sha256()
        size = 0
        try:
            with self._explained(f"fetch {name}"), part.open("wb") as file:
                for piece in self._content(remote):
                    size += len(piece)
                    if size > limit:
                        raise DeviceError(f"{name} on the phone is larger than {limit} bytes", stage=self._stage)
                    digest.update(piece)
                    file.write(piece)
            if digest.hexdigest() != sha256:
                raise DeviceError(
                    f"{name} did not arrive as it is on the phone",
                    stage=self._stage,
                    hints=("the connection damages data: try another cable or port",),
                    transient=True,
                )
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _content(self, remote: str) -> Iterator[bytes | bytearray]:
        """The pieces of a file on the phone; they come compressed where it offers that."""
        compressed = compression.offered(self._features)
        path = remote.encode()
        if compressed:
            head = b"RCV2" + struct.pack("<I", len(path)) + path
            self._connection.conn.sendall(head + b"RCV2" + struct.pack("<I", compression.ZSTD))
        else:
            self._command(b"RECV", path)
        pieces = self._frames(remote)
        yield from compression.expanded(pieces) if compressed else pieces

    def _frames(self, remote: str) -> Iterator[bytearray]:
        while True:
            kind, length = self._header()
            if kind == b"DONE":
                return
            if kind != b"DATA" or length > _CHUNK:
                raise self._failure(kind, length, remote)
            yield self._connection.receive_exact(length)

    def _command(self, name: bytes, path: bytes) -> None:
        self._connection.conn.sendall(name + struct.pack("<I", len(path)) + path)

    def _header(self) -> tuple[bytes, int]:
        header = self._connection.receive_exact(8)
        return bytes(header[:4]), int.from_bytes(header[4:], "little")

    def _expect_okay(self, remote: str) -> None:
        kind, length = self._header()
        if kind != b"OKAY":
            raise self._failure(kind, length, remote)

    def _failure(self, kind: bytes, length: int, remote: str) -> DeviceError:
        if kind != b"FAIL":
            return DeviceError(
                f"the phone answered a file transfer with {clean(decode(kind), 20)!r}",
                stage=self._stage,
                transient=True,
            )
        reason = clean(decode(bytes(self._connection.receive_exact(min(length, _CHUNK)))), 300)
        name = clean(remote.rsplit("/", 1)[-1], 100)
        return DeviceError(f"the phone refused {name}: {reason}", stage=self._stage, hints=_hints_for(reason))

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise StageTimeout(
                f"nothing moved for {self._stall_seconds:g} s while trying to {what}",
                stage=self._stage,
                hints=("check the cable, hub or network between the adb server and the phone",),
                transient=True,
            ) from error
        except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
            raise DeviceError(
                f"could not {what}: {error.strerror} on this computer",
                stage=self._stage,
                hints=("leave the files of a run where they are until it ends",),
            ) from error
        except (EOFError, ConnectionError, AdbError) as error:
            raise DeviceError(
                f"the connection to the phone was lost while trying to {what}",
                stage=self._stage,
                hints=("check the cable or the network and `heapprof devices`, then run again",),
                transient=True,
            ) from error


@contextlib.contextmanager
def sync_session(
    server: AdbServer,
    serial: str,
    stage: str,
    features: frozenset[str] = frozenset(),
    stall_seconds: float = STALL_SECONDS,
) -> Iterator[SyncSession]:
    """A sync stream to the phone with what it offers (``features``); closed at the end."""
    with server.opened(serial, "sync:", timeout=stall_seconds) as connection:
        connection.conn.settimeout(stall_seconds)
        yield SyncSession(connection, stage, features, stall_seconds)
        with contextlib.suppress(OSError):
            connection.conn.sendall(b"QUIT\0\0\0\0")


def _hints_for(reason: str) -> tuple[str, ...]:
    lowered = reason.lower()
    if "no space" in lowered:
        return ("free space on the phone: `heapprof clean`, or `adb shell df /data`",)
    if "permission denied" in lowered or "read-only" in lowered:
        return ("choose a folder that the shell user may write with --workspace (default /data/local/tmp/heapprof)",)
    return ()
