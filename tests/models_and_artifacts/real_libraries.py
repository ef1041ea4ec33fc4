"""Qualcomm's real Stub, Skel and System files, out of the arm64 wheels of onnxruntime-qnn.

The wheels come from the package registry (pip) once for all workers of a test run, or from the folder that
HEAPPROF_WHEELS names. They are read, never run: no test needs an arm64 machine.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

VERSIONS = ("2.7.0", "2.3.0")
"""Of onnxruntime-qnn: two releases whose QNN libraries are of different builds."""
_PLATFORM = "manylinux_2_34_aarch64"


def fetch_wheels(folder: Path) -> dict[str, Path]:
    """The wheels by their version; those that the registry does not give are left out."""
    named = os.environ.get("HEAPPROF_WHEELS")
    if not named:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for version in VERSIONS:
                if not (folder / f"{version}.asked").exists():
                    _download(version, folder)
                    (folder / f"{version}.asked").touch()
    found = {}
    for version in VERSIONS:
        for wheel in Path(named or folder).glob(f"onnxruntime_qnn-{version}-*aarch64.whl"):
            found[version] = wheel
    return found


def _download(version: str, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", "3.11", "--platform", _PLATFORM, "--dest", str(folder)]
    try:
        subprocess.run([*command, f"onnxruntime-qnn=={version}"], capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return


def unpack(wheel: Path, folder: Path, arch: int) -> Path:
    """A folder as a user lays it out: what HTP ``arch`` needs of a wheel, flat."""
    names = {"libQnnHtp.so", "libQnnSystem.so", f"libQnnHtpV{arch}Stub.so", f"libQnnHtpV{arch}Skel.so"}
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            name = entry.filename.rpartition("/")[2]
            if name in names:
                with archive.open(entry) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    return folder
