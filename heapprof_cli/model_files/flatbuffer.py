"""A read-only FlatBuffer view that trusts no offset in the file.

Only what model files need: tables, scalars, strings, vectors. Every access is checked against the
buffer, so a damaged or hostile file ends in :class:`FlatBufferError` and never in a wild read.
The layout is FlatBuffers' own published binary format: little-endian; a table starts with a signed
offset back to its vtable; a vtable holds u16 sizes and then one u16 field offset per field.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

Buffer = bytes | bytearray | memoryview | mmap.mmap
_STEPS = 60_000
_BYTES_A_STEP = 64
_FORMS = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SCALARS = {width: struct.Struct(f"<{form}") for width, form in _FORMS.items()}
_SIGNED = struct.Struct("<i")


class FlatBufferError(ValueError):
    """An offset or a length leads outside the buffer, or the reading never ends."""


@dataclass
class Budget:
    """How much may still be read. Tables may share their parts, so that a small file can describe a huge one."""

    steps: int = _STEPS

    def spend(self, length: int = 0) -> None:
        self.steps -= 1 + length // _BYTES_A_STEP
        if self.steps < 0:
            raise FlatBufferError("it describes more than any model holds: its parts refer to each other")


@dataclass(frozen=True)
class FlatBuffer:
    """A buffer of ``data[start:end]``; positions are absolute in ``data``."""

    data: Buffer
    start: int
    end: int
    budget: Budget = field(default_factory=Budget, compare=False)

    def root(self) -> Table:
        """The root table. Raises FlatBufferError when its offset is out of bounds."""
        return self.table_at(self.start + self.unsigned(self.start, 4))

    def table_at(self, position: int) -> Table:
        self.budget.spend()
        self._check(position, 4)
        vtable = position - int(_SIGNED.unpack_from(self.data, position)[0])
        size = self.unsigned(vtable, 2)
        if size < 4 or size % 2 or vtable + size > self.end:
            raise FlatBufferError(f"a table's field list at byte {vtable} is damaged")
        return Table(self, position, vtable, size)

    def unsigned(self, position: int, width: int) -> int:
        if position < self.start or position + width > self.end:
            raise FlatBufferError(f"{width} bytes at byte {position} lie outside the data")
        return int(_SCALARS[width].unpack_from(self.data, position)[0])

    def raw(self, position: int, length: int) -> bytes:
        self._check(position, length)
        self.budget.spend(length)
        return bytes(self.data[position : position + length])

    def follow(self, position: int) -> int:
        """The target of the forward offset stored at ``position``."""
        offset = self.unsigned(position, 4)
        target = position + offset
        if offset == 0 or target + 4 > self.end:
            raise FlatBufferError(f"the offset at byte {position} leads outside the data")
        return target

    def vector(self, position: int, width: int) -> tuple[int, int]:
        """First element and count of the vector at ``position`` with elements of ``width`` bytes."""
        count = self.unsigned(position, 4)
        self._check(position + 4, count * width)
        return position + 4, count

    def _check(self, position: int, length: int) -> None:
        if position < self.start or length < 0 or position + length > self.end:
            raise FlatBufferError(f"{length} bytes at byte {position} lie outside the data")


class Table:
    """One table; fields are asked for by their number in the schema, absent ones give a default."""

    __slots__ = ("buffer", "position", "vtable", "vtable_size")

    def __init__(self, buffer: FlatBuffer, position: int, vtable: int, vtable_size: int) -> None:
        self.buffer = buffer
        self.position = position
        self.vtable = vtable
        self.vtable_size = vtable_size

    def _field(self, number: int) -> int | None:
        slot = 4 + 2 * number
        if slot + 2 > self.vtable_size:
            return None
        offset = self.buffer.unsigned(self.vtable + slot, 2)
        return self.position + offset if offset else None

    def unsigned(self, number: int, width: int, default: int | None = None) -> int | None:
        """Field ``number`` as an unsigned integer of ``width`` bytes, or ``default``."""
        at = self._field(number)
        return default if at is None else self.buffer.unsigned(at, width)

    def struct(self, number: int, width: int) -> bytes | None:
        """The bytes of an inline structure field, or None."""
        at = self._field(number)
        return None if at is None else self.buffer.raw(at, width)

    def table(self, number: int) -> Table | None:
        at = self._field(number)
        return None if at is None else self.buffer.table_at(self.buffer.follow(at))

    def blob(self, number: int, limit: int = 1 << 20) -> bytes | None:
        """A vector of bytes of at most ``limit`` bytes, or None."""
        at = self._field(number)
        if at is None:
            return None
        first, count = self.buffer.vector(self.buffer.follow(at), 1)
        if count > limit:
            raise FlatBufferError(f"a field of {count} bytes where at most {limit} make sense")
        return self.buffer.raw(first, count)

    def blob_range(self, number: int) -> tuple[int, int] | None:
        """First byte and length of a byte vector, without copying it, or None."""
        at = self._field(number)
        return None if at is None else self.buffer.vector(self.buffer.follow(at), 1)

    def has(self, number: int) -> bool:
        """Whether field ``number`` is present."""
        return self._field(number) is not None

    def text(self, number: int, limit: int = 4096) -> str | None:
        """A string field, invalid UTF-8 replaced, or None."""
        raw = self.blob(number, limit)
        return None if raw is None else raw.decode("utf-8", "replace")

    def numbers(self, number: int, width: int, limit: int = 4096) -> list[int]:
        """A vector of unsigned integers of ``width`` bytes; empty when absent."""
        at = self._field(number)
        if at is None:
            return []
        first, count = self.buffer.vector(self.buffer.follow(at), width)
        if count > limit:
            raise FlatBufferError(f"a list of {count} numbers where at most {limit} make sense")
        return list(struct.unpack(f"<{count}{_FORMS[width]}", self.buffer.raw(first, width * count)))

    def tables(self, number: int, limit: int = 65536) -> Iterator[Table]:
        """The tables of a vector field; none when absent."""
        at = self._field(number)
        if at is None:
            return
        first, count = self.buffer.vector(self.buffer.follow(at), 4)
        if count > limit:
            raise FlatBufferError(f"a list of {count} tables where at most {limit} make sense")
        for index in range(count):
            yield self.buffer.table_at(self.buffer.follow(first + 4 * index))

    def table_of(self, number: int, index: int) -> Table:
        """One table of a vector field. Raises FlatBufferError when the vector is not that long."""
        at = self._field(number)
        first, count = (0, 0) if at is None else self.buffer.vector(self.buffer.follow(at), 4)
        if index >= count:
            raise FlatBufferError(f"part {index} of a list of {count} is asked for")
        return self.buffer.table_at(self.buffer.follow(first + 4 * index))
