"""An input list of the user's (ExecuTorch's format), made into files that the phone can read.

One line per inference; blank-separated paths, each optionally as ``tensor_name:=path``. The files
are sent under safe names and a list with those names is written.
"""

from __future__ import annotations

import errno
import stat
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli.artifacts.resolving import artifact
from heapprof_cli.errors import UsageError
from heapprof_cli.records import Artifact
from heapprof_cli.text import clean

LIST_NAME = "input_list.txt"
_LARGEST_LIST = 16 * 1024 * 1024


@dataclass(frozen=True)
class Inputs:
    """The input files to send and the text of the list that names them on the phone."""

    files: tuple[Artifact, ...]
    list_text: str


def read_input_list(path: Path) -> Inputs:
    """Raises UsageError that names the line whose file is missing or unreadable."""
    files: dict[Path, Artifact] = {}
    lines: list[str] = []
    for number, line in enumerate(_text(path).splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        lines.append(" ".join(_word(word, path, number, files) for word in words))
    if not lines:
        raise UsageError(f"the input list {clean(str(path), 300)} names no input", stage="inputs")
    return Inputs(tuple(files.values()), "\n".join(lines) + "\n")


def _text(path: Path) -> str:
    try:
        _demand_regular(path)
        if path.stat().st_size > _LARGEST_LIST:
            raise UsageError(f"the input list {clean(str(path), 300)} is larger than 16 MiB", stage="inputs")
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"can't read the input list {clean(str(path), 300)}: {clean(str(error), 200)}", stage="inputs"
        ) from error


def _demand_regular(path: Path) -> None:
    """Raises OSError for what can't be read to an end: a FIFO, a device, a folder."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def _word(word: str, list_path: Path, number: int, files: dict[Path, Artifact]) -> str:
    tensor, separator, name = word.rpartition(":=")
    file = Path(name) if Path(name).is_absolute() or Path(name).is_file() else list_path.parent / name
    if file not in files:
        try:
            _demand_regular(file)
            files[file] = artifact(file, f"input_{len(files)}.raw")
        except OSError as error:
            raise UsageError(
                f"line {number} of the input list {clean(str(list_path), 300)}: can't read {clean(name, 300)} "
                f"({error.strerror or error})",
                stage="inputs",
                hints=("paths are taken from the current folder, then from the list's own folder",),
            ) from error
    return f"{tensor}{separator}{files[file].remote_name}"
