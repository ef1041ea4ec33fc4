"""QNN libraries out of an archive: an .aar or .zip of the QNN runtime, or a wheel of onnxruntime-qnn.

Archives are unpacked once, into the user's cache, under their own SHA-256; only QNN's libraries and
the C++ runtime that comes with them are taken.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from heapprof_cli import user_files
from heapprof_cli.errors import PreflightError
from heapprof_cli.file_hashes import sha256_of
from heapprof_cli.text import clean

ENDINGS = (".aar", ".zip", ".whl")
_WANTED = re.compile(r"lib(QnnHtp\w*|QnnSystem|c\+\+[\w.+-]*|unwind[\w.+-]*)\.so[\w.]*")
_MOST_FILES, _MOST_BYTES = 512, 8 * 1024**3
_ANOTHER = "name another archive or a folder with --qnn-libs"


def unpacked(archive: Path, cache: Path | None = None) -> Path:
    """The folder with the archive's libraries, laid out as in the archive.

    Raises PreflightError when it is no archive, is damaged, or holds no QNN library.
    """
    shown = clean(str(archive), 300)
    try:
        digest = sha256_of(archive)
        folder = (cache or user_files.cache_folder()) / "archives" / digest
        if not folder.is_dir():
            _unpack(archive, folder)
        return folder
    except (OSError, ValueError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        # RuntimeError: encrypted; NotImplementedError: an unknown compression.
        reason = getattr(error, "strerror", None) or str(error)
        raise PreflightError(
            f"can't take libraries out of {shown}: {clean(reason, 200)}", stage="artifacts", hints=(_ANOTHER,)
        ) from error


def _unpack(archive: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="unpacking-", dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as content:
            wanted = [entry for entry in content.infolist() if _is_wanted(entry)]
            if not wanted:
                raise ValueError("it holds no QNN library")
            if len(wanted) > _MOST_FILES or sum(entry.file_size for entry in wanted) > _MOST_BYTES:
                raise ValueError("it holds more libraries than any QNN runtime")
            for entry in wanted:
                target = scratch.joinpath(*PurePosixPath(entry.filename).parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with content.open(entry) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)  # never more than the size it announces
        with contextlib.suppress(OSError):  # another process was quicker: the same content
            os.rename(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _is_wanted(entry: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(entry.filename)
    inside = not path.is_absolute() and ".." not in path.parts and "\\" not in entry.filename
    return inside and not entry.is_dir() and _WANTED.fullmatch(path.name) is not None
