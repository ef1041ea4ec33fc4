"""Error codes of QNN and FastRPC, written in one way whatever way a log writes them.

5005, 0x138d, -5005 and QNN_CONTEXT_ERROR_CREATE_FROM_BINARY are ``5005``; 0x80000406, 80000406, 0x406, 2147484678,
-2147482618 and AEE_EUNABLETOLOAD are ``0x80000406``. Other numbers up to 31 bits become decimal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import yaml

from heapprof_cli import resources

_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>-?)(?:0[xX](?P<hex>[0-9a-fA-F]{1,16})|(?P<bare>8000[0-9a-fA-F]{4})|(?P<dec>\d{1,20}))(?![\w])"
    r"|\b(?P<name>(?:QNN|AEE)_[A-Z0-9_]{3,60})\b"
)
_FASTRPC = 0x8000_0000
_PLAIN_LIMIT = 1 << 31


@functools.cache
def tables() -> tuple[Mapping[int, str], Mapping[int, str]]:
    """Names of QNN's codes and of FastRPC's (0x8000xxxx), from ``configs/diagnosis_codes.yaml``."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content = yaml.load(resources.config("diagnosis_codes.yaml").read_text("utf-8"), Loader=loader)
    return content["qnn"], content["fastrpc"]


@functools.cache
def _numbers_by_name() -> Mapping[str, str]:
    qnn, fastrpc = tables()
    return {name: str(code) for code, name in qnn.items()} | {name: _hex(code) for code, name in fastrpc.items()}


def one_form(text: str) -> str:
    """``text`` with every code in its one form."""
    return _NUMBER.sub(_rewritten, text)


def name_of(code: str) -> str | None:
    """The name of a code in its one form, if it has one."""
    qnn, fastrpc = tables()
    return fastrpc.get(int(code, 16)) if code.startswith("0x") else qnn.get(int(code))


def _rewritten(match: re.Match[str]) -> str:
    whole = match.group()
    if match["name"]:
        return _numbers_by_name().get(whole, whole)
    in_hex = match["hex"] or match["bare"]
    value = int(in_hex, 16) if in_hex else int(match["dec"])
    if match["sign"] and value >= _FASTRPC >> 1:
        value = (1 << 32) - value  # a signed 32-bit code
    value = _unextended(value)
    qnn, fastrpc = tables()
    if value & 0xFFFF_0000 == _FASTRPC:
        low = value & 0xFFFF
        return str(low) if low in qnn and value not in fastrpc else _hex(value)
    if value in qnn:
        return str(value)
    if _FASTRPC | value in fastrpc and 0x400 <= value < 0x1_0000:
        return _hex(_FASTRPC | value)
    return str(value) if 0 <= value < _PLAIN_LIMIT else whole


def _unextended(value: int) -> int:
    """A 32-bit code that was printed sign-extended to 64 bits."""
    return value & 0xFFFF_FFFF if value >> 31 == 0x1_FFFF_FFFF else value


def _hex(value: int) -> str:
    return f"0x{value:08x}"
