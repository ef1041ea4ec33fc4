"""The system properties of the virtual phone: an SM8850 phone that says that it is virtual."""

from __future__ import annotations

import platform
from collections.abc import Mapping

_BUILD = "BP2A.250605.031"

_ABIS = {"x86_64": "x86_64", "aarch64": "arm64-v8a"}


def default_properties(abi: str | None = None) -> dict[str, str]:
    """The properties that a phone has when nothing else is asked for; ``abi`` is that of this computer."""
    abi = abi or _ABIS.get(platform.machine(), platform.machine())
    return {
        "ro.boot.hardware": "qcom",
        "ro.board.platform": "canoe",
        "ro.build.characteristics": "default",
        "ro.build.fingerprint": f"heapprof/heapprof_virtual/heapprof:16/{_BUILD}/1:user/release-keys",
        "ro.build.id": _BUILD,
        "ro.build.type": "user",
        "ro.build.version.release": "16",
        "ro.build.version.sdk": "36",
        "ro.hardware": "qcom",
        "ro.heapprof.virtual": "1",
        "ro.product.brand": "heapprof",
        "ro.product.cpu.abi": abi,
        "ro.product.cpu.abilist": abi,
        "ro.product.device": "heapprof",
        "ro.product.manufacturer": "heapprof",
        "ro.product.model": "heapprof virtual phone",
        "ro.product.name": "heapprof_virtual",
        "ro.serialno": "HEAPPROF0001",
        "ro.soc.manufacturer": "QTI",
        "ro.soc.model": "SM8850",
        "sys.boot_completed": "1",
    }


def as_file(properties: Mapping[str, str]) -> str:
    """The text that the phone's ``getprop`` reads: one ``name=value`` a line, sorted.

    Raises ValueError when a name or value can't stand on such a line.
    """
    for name, value in properties.items():
        if not name or "=" in name or "\n" in name + value or "\0" in name + value:
            raise ValueError(f"{name!r}={value!r} is not a system property")
    return "".join(f"{name}={value}\n" for name, value in sorted(properties.items()))
