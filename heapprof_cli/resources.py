"""Where the package's own files lie: in an installed wheel, or in a source checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parent


def config(name: str) -> Path:
    """The file ``name`` of ``configs/``."""
    return _find("configs", name)


def device_build(target: str) -> Path:
    """The folder of the built device programs for ``target``; it may not exist."""
    installed = _INSTALLED / "device" / target
    return installed if installed.exists() else _CHECKOUT / "device_bin" / "build" / target


def device_sources() -> Path:
    """The folder of the device programs' sources; only a checkout has it."""
    return _CHECKOUT / "device_bin"


def demo_model() -> Path:
    """The context binary that ``heapprof demo`` measures: a small convolution for SM8850."""
    return _find("device_bin/demo", "conv_sm8850_v81_qnn2.51.bin")


def _find(folder: str, name: str) -> Path:
    installed = _INSTALLED / folder.split("/")[-1] / name
    return installed if installed.exists() else _CHECKOUT / folder / name
