"""adb's sync service, as adbd serves it: stat, list, send (push), receive (pull).

Order of steps, texts of failures and what is removed when a push breaks follow adbd's file_sync_service.cpp.
It runs in a thread of its own, as the phone's user, so that the kernel itself judges permissions and paths.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable

from heapprof_cli.virtual import sync_wire
from heapprof_cli.virtual.channel import Channel, ChannelClosed
from heapprof_cli.virtual.compression import Codec, CodecError, codec_for
from heapprof_cli.virtual.layout import Layout
from heapprof_cli.virtual.sync_faults import SyncFaults
from heapprof_cli.virtual.sync_files import SyncFailure, create, make_parents, remove_before, write_all

_READ_AT_ONCE = 15  # pieces of 64 KiB: just under one packet of 1 MiB


class _Refused(SyncFailure):
    """A broken request: after it the stream ends at once."""


def _failure(what: str, error: OSError) -> SyncFailure:
    return SyncFailure(f"{what}: {os.strerror(error.errno or errno.EIO)}")


class SyncService:
    """One ``sync:`` stream."""

    def __init__(self, channel: Channel, layout: Layout, faults: SyncFaults) -> None:
        self._channel = channel
        self._layout = layout
        self._faults = faults
        self._answers: dict[bytes, Callable[[str, memoryview], bool]] = {
            b"STAT": self._stat_v1,
            b"STA2": lambda path, _: self._stat_v2(b"STA2", path, os.stat),
            b"LST2": lambda path, _: self._stat_v2(b"LST2", path, os.lstat),
            b"LIST": lambda path, _: self._list(path, 1),
            b"LIS2": lambda path, _: self._list(path, 2),
            b"SEND": self._send_v1,
            b"SND2": self._send_v2,
            b"RECV": lambda path, _: self._receive(path, None),
            b"RCV2": self._receive_v2,
        }

    def run(self) -> None:
        """Answer requests until QUIT, a broken one, or the end of the stream (ChannelClosed)."""
        while self._one_request():
            pass

    def _one_request(self) -> bool:
        name, length = sync_wire.REQUEST.unpack(self._channel.read(sync_wire.REQUEST.size))
        if name == b"QUIT":
            return False
        try:
            if length > sync_wire.MAX_PATH:
                raise _Refused("path too long")
            path = os.fsdecode(bytes(self._channel.read(length)))
            if name not in self._answers:
                raise _Refused(f"unknown command {int.from_bytes(name, 'little'):08x}")
            more = self._channel.read(sync_wire.MORE.get(name, 0))
            if more and bytes(more[:4]) != name:
                raise _Refused(f"unexpected message after {name.decode()}")
            self._faults.begin(name.decode(), path)
            return self._answers[name](path, more)
        except SyncFailure as failure:
            if name in (b"SEND", b"SND2") and not isinstance(failure, _Refused):
                self._refuse_sent(failure)
                return False
            self._say(sync_wire.failure(str(failure)))
            return not isinstance(failure, _Refused)

    def _say(self, data: bytes) -> None:
        self._channel.write(self._faults.reply(data))

    # questions

    def _stat_v1(self, path: str, _more: memoryview) -> bool:
        found = None
        with contextlib.suppress(OSError, ValueError):
            found = os.lstat(path)
        self._say(sync_wire.stat_v1(found))
        return True

    def _stat_v2(self, name: bytes, path: str, look: Callable[[str], os.stat_result]) -> bool:
        found, error = _looked(look, path)
        self._say(sync_wire.stat_v2(name, found, error))
        return True

    def _list(self, path: str, version: int) -> bool:
        with contextlib.suppress(OSError, ValueError):
            for name in [".", "..", *os.listdir(path)]:
                found, error = _looked(os.lstat, os.path.join(path, name))
                encoded = os.fsencode(name)
                if version == 2:
                    self._channel.write(sync_wire.entry_v2(encoded, found, error))
                elif found:
                    self._channel.write(sync_wire.entry_v1(encoded, found))
        self._say(sync_wire.end_of_list(version))
        return True

    # to the phone

    def _send_v1(self, spec: str, _more: memoryview) -> bool:
        path, comma, mode = spec.rpartition(",")
        if not comma or not mode.isdigit():
            raise _Refused("missing , in ID_SEND_V1" if not comma else "bad mode")
        return self._send(path, int(mode), None, dry_run=False)

    def _send_v2(self, path: str, more: memoryview) -> bool:
        _, mode, flags = sync_wire.SEND_V2.unpack(more)
        dry_run = bool(flags & sync_wire.FLAG_DRY_RUN)
        return self._send(path, mode, self._codec(flags & ~sync_wire.FLAG_DRY_RUN), dry_run=dry_run)

    def _send(self, path: str, mode: int, codec: Codec | None, *, dry_run: bool) -> bool:
        if stat.S_ISLNK(mode):
            return self._send_link(path, dry_run)
        remove_broken = not dry_run and self._layout.may_write(path) and remove_before(path)
        mode &= 0o777
        mode |= (mode >> 3) & 0o070  # adbd gives the group what the user may do,
        mode |= (mode >> 3) & 0o007  # and then others what the group may
        try:
            moment = self._send_file(path, mode, codec, dry_run)
        except (SyncFailure, ChannelClosed):
            if remove_broken:
                with contextlib.suppress(OSError, ValueError):
                    os.unlink(path)
            raise
        if not dry_run:
            with contextlib.suppress(OSError):
                os.utime(path, (moment, moment))
        self._say(sync_wire.OKAY)
        return True

    def _send_file(self, path: str, mode: int, codec: Codec | None, dry_run: bool) -> int:
        """Take the pieces of a file until DONE; returns the time in it."""
        target = os.open("/dev/null", os.O_WRONLY) if dry_run else self._create(path, mode)
        try:
            while True:
                name, size = sync_wire.REQUEST.unpack(self._channel.read(sync_wire.REQUEST.size))
                if name == b"DONE":
                    return int(size)
                if name != b"DATA":
                    raise SyncFailure("invalid data message")
                if size > sync_wire.MAX_DATA:
                    raise SyncFailure("oversize data message")
                data = self._faults.content(self._channel.read(size))
                self._unpack(target, data, codec)
        finally:
            os.close(target)

    def _create(self, path: str, mode: int) -> int:
        if not self._layout.may_write(path):
            raise SyncFailure(f"couldn't create file: {os.strerror(errno.EACCES)}")
        try:
            make_parents(path)
        except OSError as error:
            raise _failure("secure_mkdirs failed", error) from None
        try:
            return create(path, mode)
        except (OSError, ValueError) as error:
            problem = error if isinstance(error, OSError) else OSError(errno.EINVAL, "")
            raise _failure("couldn't create file", problem) from None

    def _unpack(self, target: int, data: bytes | memoryview, codec: Codec | None) -> None:
        try:
            if codec is None:
                write_all(target, data)
            else:
                codec.decode(data, lambda part: write_all(target, part))
        except OSError as error:
            raise _failure("write failed", error) from None
        except CodecError:
            raise SyncFailure("decompress failed") from None

    def _send_link(self, path: str, dry_run: bool) -> bool:
        name, size = sync_wire.REQUEST.unpack(self._channel.read(sync_wire.REQUEST.size))
        if name != b"DATA" or size > sync_wire.MAX_DATA:
            raise _Refused("invalid data message: expected ID_DATA")
        target = bytes(self._channel.read(size)).rstrip(b"\0")
        if not dry_run:
            self._make_link(target, path)
        name, moment = sync_wire.REQUEST.unpack(self._channel.read(sync_wire.REQUEST.size))
        if name != b"DONE":
            raise _Refused("invalid data message: expected ID_DONE")
        if not dry_run:
            with contextlib.suppress(OSError):
                os.utime(path, (moment, moment), follow_symlinks=False)
        self._say(sync_wire.OKAY)
        return True

    def _make_link(self, target: bytes, path: str) -> None:
        if not self._layout.may_write(path):
            raise SyncFailure(f"symlink failed: {os.strerror(errno.EACCES)}")
        try:
            remove_before(path, for_link=True)
            make_parents(path)
            os.symlink(target, os.fsencode(path))
        except OSError as error:
            raise _failure("symlink failed", error) from None

    def _refuse_sent(self, failure: SyncFailure) -> None:
        """Say why, then read on until the computer notices, as adbd does: old servers lose the reason otherwise."""
        self._say(sync_wire.failure(str(failure)))
        while True:
            name, size = sync_wire.REQUEST.unpack(self._channel.read(sync_wire.REQUEST.size))
            if name != b"DATA" or size > sync_wire.MAX_DATA:
                return
            self._channel.read(size)

    # from the phone

    def _receive_v2(self, path: str, more: memoryview) -> bool:
        _, flags = sync_wire.RECEIVE_V2.unpack(more)
        return self._receive(path, self._codec(flags))

    def _receive(self, path: str, codec: Codec | None) -> bool:
        try:
            source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            problem = error if isinstance(error, OSError) else OSError(errno.EINVAL, "")
            raise _failure("open failed", problem) from None
        try:
            while data := os.read(source, _READ_AT_ONCE * sync_wire.MAX_DATA):
                self._send_pieces(codec.encode(data) if codec else data)
                if self._faults.cut_short:
                    break
            if codec:
                self._send_pieces(codec.finish_encoding())
        except OSError as error:
            raise _failure("read failed", error) from None
        finally:
            os.close(source)
        self._say(sync_wire.DONE)
        return True

    def _send_pieces(self, data: bytes) -> None:
        pieces: list[bytes | memoryview] = []
        view = memoryview(data)
        for start in range(0, len(view), sync_wire.MAX_DATA):
            piece = self._faults.content(view[start : start + sync_wire.MAX_DATA])
            pieces += [sync_wire.REQUEST.pack(b"DATA", len(piece)), piece]
        self._channel.write(b"".join(pieces))

    def _codec(self, flags: int) -> Codec | None:
        """How the data of a request is packed. Raises _Refused for what this phone did not offer."""
        if flags == 0:
            return None
        codec = codec_for(flags)
        if codec is None:
            raise _Refused(f"unsupported flags {flags:#x}")
        return codec


def _looked(look: Callable[[str], os.stat_result], path: str) -> tuple[os.stat_result | None, int]:
    try:
        return look(path), 0
    except OSError as error:
        return None, error.errno or errno.EIO
    except ValueError:  # a NUL in the path
        return None, errno.EINVAL
