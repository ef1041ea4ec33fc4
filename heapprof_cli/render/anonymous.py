"""Text that may be handed on: serials, addresses, names of people and computers replaced by words for them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping

# Not part of a longer number: QNN's versions (v2.51.0.250929181845) look like addresses.
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4 = re.compile(rf"(?<![\w.])(?:{_BYTE}\.){{3}}{_BYTE}(?!\w|\.\d)", re.ASCII)
_MAYBE_IPV6 = re.compile(r"(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])", re.ASCII)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])", re.ASCII)
_HOMES = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\|/mnt/c/Users/)[^/\\\s\"']+")
_SERIAL_PROPERTIES = re.compile(r"(\[?ro\.(?:boot\.)?(?:serialno|imei|deviceid|btmacaddr)\]?[:=]\s*\[?)[^\]\s]+")
_LOCAL = frozenset({"127.0.0.1", "0.0.0.0", "255.255.255.255"})
_SHORTEST = 3  # a name of one or two letters is part of any text


class Anonymous:
    """Replaces ``words`` (secret -> word for it) wherever they stand by themselves, and what looks like an address."""

    def __init__(self, words: Mapping[str, str]) -> None:
        kept = {secret: word for secret, word in words.items() if len(secret) >= _SHORTEST}
        self._words = kept
        longest_first = sorted(kept, key=lambda secret: (-len(secret), secret))
        pattern = "|".join(re.escape(secret) for secret in longest_first)
        self._known = re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])") if kept else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(lambda match: self._words[match[0]], text)
        text = _HOMES.sub("~", text)
        text = _SERIAL_PROPERTIES.sub(r"\1SERIAL", text)
        text = _MAC.sub("MAC-ADDRESS", text)
        text = _IPV4.sub(lambda match: match[0] if match[0] in _LOCAL else "ADDRESS", text)
        return _MAYBE_IPV6.sub(_hidden_ipv6, text)


def _hidden_ipv6(match: re.Match[str]) -> str:
    """A time of day such as 12:30:01 looks like the beginning of an address."""
    try:
        address = ipaddress.IPv6Address(match[0])
    except ValueError:
        return match[0]
    return match[0] if address.is_loopback or address.is_unspecified else "ADDRESS"
