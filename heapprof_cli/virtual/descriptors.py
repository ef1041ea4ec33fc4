"""Reading and writing file descriptors in an asyncio loop, into memory of the caller's."""

from __future__ import annotations

import asyncio
import errno
import os


async def read_into(descriptor: int, target: memoryview) -> int:
    """Read what there is, at least one byte; 0 at the end. The descriptor must not block. Raises OSError."""
    while True:
        try:
            return os.readv(descriptor, [target])
        except BlockingIOError:
            await _ready(descriptor, writing=False)
        except OSError as error:
            # A terminal whose last program ended, and a socket whose program left data unread.
            if error.errno in (errno.EIO, errno.ECONNRESET):
                return 0
            raise


async def write_all(descriptor: int, data: memoryview) -> None:
    """Write every byte. The descriptor must not block. Raises OSError, BrokenPipeError when nobody reads."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            await _ready(descriptor, writing=True)


async def _ready(descriptor: int, *, writing: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    add, remove = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    add(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        remove(descriptor)
