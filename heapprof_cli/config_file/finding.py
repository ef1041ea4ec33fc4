"""Which settings file counts, and reading it. Where there is none, this costs a few stat calls."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from heapprof_cli import environment
from heapprof_cli.config_file.nodes import LARGEST_FILE, Place, SettingsFile, Table, wrong
from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

NAMES = ("heapprof.yaml", "heapprof.yml")
PYPROJECT = "pyproject.toml"
_EMPTY = Path(os.devnull)


def find(start: Path | None = None) -> SettingsFile | None:
    """The settings file of the working directory (or ``start``), or None.

    The nearest folder with one counts, up to the root of the repository or the home folder; in one folder
    heapprof.yaml counts before heapprof.yml and [tool.heapprof] of pyproject.toml. Raises UsageError.
    """
    try:
        first = start or Path.cwd()
    except OSError:  # the working directory was removed
        return None
    for folder in _folders(first):
        for name in NAMES:
            if _is_file(folder / name):
                return _read_yaml(folder / name)
        project = folder / PYPROJECT
        if _is_file(project):
            found = _read_toml(project, named=False)
            if found is not None:
                return found
    return None


def read(path: Path) -> SettingsFile:
    """The settings file that was named: YAML, or TOML where its name ends so. Raises UsageError."""
    if path == _EMPTY:
        return SettingsFile(path, Table((), Place(_shown(path), 1)))
    if path.suffix.lower() == ".toml":
        found = _read_toml(path, named=True)
        if found is None:
            raise UsageError(
                f"{_shown(path)} holds no [tool.heapprof]", hints=("add that table, or name another file",)
            )
        return found
    return _read_yaml(path)


def _folders(first: Path) -> Iterator[Path]:
    """``first`` and those above it that may hold its settings.

    A folder that everyone may write to (/tmp) ends the search: what lies there may be anyone's.
    """
    home = environment.snapshot().get("HOME")
    for folder in (first, *first.parents):
        if folder != first and _world_writable(folder):
            return
        yield folder
        if (folder / ".git").exists() or str(folder) == home:
            return


def _world_writable(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _read_yaml(path: Path) -> SettingsFile:
    from heapprof_cli.config_file.yaml_file import read_yaml

    file = _shown(path)
    return SettingsFile(path, read_yaml(_text(_bytes(path), file), file))


def _read_toml(path: Path, *, named: bool) -> SettingsFile | None:
    """None where the file says nothing about heapprof; then it is not even parsed, unless it was named."""
    content = _bytes(path, whole=named)
    if not named and b"heapprof" not in content:
        return None
    if len(content) > LARGEST_FILE:
        raise _too_large(path)
    from heapprof_cli.config_file.toml_file import read_toml

    file = _shown(path)
    table = read_toml(_text(content, file), file)
    return SettingsFile(path, table) if table is not None else None


def _bytes(path: Path, *, whole: bool = True) -> bytes:
    """The file's content; not ``whole``: at most a byte more than the largest file. Raises UsageError."""
    shown = _shown(path)
    try:
        # Not blocking: a pipe of that name must not make heapprof wait.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UsageError(f"settings file {shown}: not a file", hints=(_NAME_IT,))
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"can't read the settings file {shown}: {clean(reason, 200)}", hints=(_NAME_IT,)) from error
    if whole and len(content) > LARGEST_FILE:
        raise _too_large(path)
    return content


_NAME_IT = "-c/--config or HEAPPROF_CONFIG names a settings file; `--config /dev/null` takes none"


def _too_large(path: Path) -> UsageError:
    return UsageError(f"settings file {_shown(path)}: larger than {LARGEST_FILE} bytes", hints=(_NAME_IT,))


def _text(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Positions count from behind a byte order mark, as the decoder counts.
        before = error.object[: error.start].decode("utf-8", "replace")
        place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        byte = error.object[error.start]
        raise wrong(place, f"byte 0x{byte:02x} is not UTF-8", "save the file as UTF-8") from error


def _shown(path: Path) -> str:
    """The file as errors name it: as it was named or, if that is shorter, from the working directory."""
    with contextlib.suppress(OSError, ValueError):
        return clean(min(str(path), os.path.relpath(path), key=len), 300)
    return clean(str(path), 300)
