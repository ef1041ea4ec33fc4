"""Text that may be handed on: serials, addresses, names of people and computers replaced by words for them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping

_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
# Versions look like addresses, too: v2.51.0.25. Letters may stand right before one: IP10.0.0.7, src:2001:db8::1.
_IPV4 = re.compile(rf"(?<![\d.vV])(?:{_BYTE}\.){{3}}{_BYTE}(?!\d|\.\d)", re.ASCII)
_MAYBE_IPV6 = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![0-9A-Za-z])", re.ASCII)
_MAC = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}(?![0-9A-Za-z])", re.ASCII)
# A folder's name may hold blanks; then it ends where the path goes on.
_HOMES = re.compile(
    r"(?:/home/|/Users/|[A-Za-z]:[\\/]+Users[\\/]+|/mnt/[a-z]/Users/)(?:[^/\\\n\"':,;]{1,40}(?=[/\\])|[^/\\\s\"',;]+)"
)
_SERIALS = re.compile(
    r"((?:serial(?:no|number)?|imei\d?|meid|imsi|iccid|device_?id|btmacaddr)\]?['\"]?\s*[:=]\s*[\['\"]?)"
    r"(?!0x)(?=[\w.-]*\d)([\w.-]{6,})",
    re.IGNORECASE | re.ASCII,
)
_OWNERS = re.compile(r"(?<=measured by )\S{1,80} on \S{1,80}(?= \(process \d)")  # a lease's user and computer
_LOCAL = frozenset({"127.0.0.1", "0.0.0.0", "255.255.255.255"})
_SHORTEST = 3  # a name of one or two letters is part of any text


class Anonymous:
    """Replaces ``words`` (secret -> word for it) wherever they stand by themselves, and what looks like an address.

    Meant for texts, not for JSON: there :meth:`value` goes through the strings and touches no key and no number.
    """

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = {secret.lower(): word for secret, word in words.items() if len(secret) >= _SHORTEST}
        longest_first = sorted(self._words, key=lambda secret: (-len(secret), secret))
        pattern = "|".join(re.escape(secret) for secret in longest_first)
        self._known = (
            re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", re.IGNORECASE) if self._words else None
        )

    def __call__(self, text: str) -> str:
        text = _OWNERS.sub("USER on COMPUTER", text)
        if self._known is not None:
            text = self._known.sub(lambda match: self._words[match[0].lower()], text)
        text = _HOMES.sub("~", text)
        text = _SERIALS.sub(r"\1SERIAL", text)
        text = _MAC.sub("MAC-ADDRESS", text)
        text = _IPV4.sub(lambda match: match[0] if match[0] in _LOCAL else "ADDRESS", text)
        return _MAYBE_IPV6.sub(_hidden_ipv6, text)

    def value(self, value: object) -> object:
        """A JSON value with its strings replaced."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {key: self.value(each) for key, each in value.items()}
        return [self.value(each) for each in value] if isinstance(value, (list, tuple)) else value


def _hidden_ipv6(match: re.Match[str]) -> str:
    """A time of day (12:30:01) and a name in C++ (a::add) look like the beginning of an address."""
    try:
        address = ipaddress.IPv6Address(match[0])
    except ValueError:
        return match[0]
    harmless = address.is_loopback or address.is_unspecified or not any(letter.isdigit() for letter in match[0])
    return match[0] if harmless else "ADDRESS"
