"""A bounded reader of the protocol buffer wire format: fields by number, nothing is copied or trusted.

The format is published with protocol buffers: each field is a varint key (number x 8 + wire type), then
a varint, 8 bytes, a length and bytes, or 4 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from heapprof_cli.model_files.region import Region

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {VARINT: 0, FIXED64: 8, FIXED32: 4}
_WINDOW = 20
_FIELDS = 100_000


class ProtobufError(ValueError):
    """A length leads outside the data, or a number is damaged."""


class TooManyFields(ProtobufError):
    """More fields than a model of contexts has: the reading is given up."""


@dataclass
class FieldBudget:
    """How many fields may still be read: a message of millions of empty fields must not take minutes."""

    left: int = _FIELDS

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooManyFields(f"more than {_FIELDS} fields")


class Field(NamedTuple):
    """One field of a message: ``value`` of a varint, ``region`` of a length-delimited one."""

    number: int
    value: int
    region: Region | None


@dataclass(frozen=True)
class Message:
    """A message: walked front to back, as often as wanted."""

    region: Region
    budget: FieldBudget = field(default_factory=FieldBudget, compare=False)

    def fields(self) -> Iterator[Field]:
        """Every field in order. Raises ProtobufError at the first that is damaged."""
        at, region = 0, self.region
        while at < region.size:
            self.budget.spend()
            window = region.read(at, _WINDOW)
            key, used = _varint(window, 0)
            number, wire = key >> 3, key & 7
            value, used = _varint(window, used) if wire in (VARINT, BYTES) else (0, used)
            size = value if wire == BYTES else _SIZES.get(wire)
            if size is None or number == 0 or at + used + size > region.size:
                raise ProtobufError(f"the field at byte {region.start + at} is damaged")
            yield Field(number, value, region.part(at + used, size) if wire == BYTES else None)
            at += used + size

    def messages(self, number: int) -> Iterator[Message]:
        """The messages in field ``number``."""
        for found in self.fields():
            if found.number == number and found.region is not None:
                yield Message(found.region, self.budget)

    def text(self, number: int, limit: int = 4096) -> str:
        """The text in field ``number``, the last one as the format says; empty when absent."""
        last = b""
        for found in self.fields():
            if found.number == number and found.region is not None:
                last = found.region.read(0, limit)
        return last.decode("utf-8", "replace")


def _varint(window: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(window):
            raise ProtobufError("a number is cut off")
        byte = window[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ProtobufError("a number is longer than 64 bits")
