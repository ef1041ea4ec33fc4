"""Logs in odd wrappings: damaged ones are told, never a traceback."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path

from heapprof_cli.diagnosis.reading import blocks_of_file


def test_damaged_archives_and_a_closed_stdin_are_told(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("log.txt", "error: device offline\n" * 1000)
    content = bytearray(whole.getvalue())
    for place in range(40, len(content) - 80, 7):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        (tmp_path / "log.zip").write_bytes(damaged)
        with contextlib.suppress(OSError), (tmp_path / "log.zip").open("rb") as stream:
            for _ in blocks_of_file(stream):
                pass
    script = [sys.executable, "-m", "heapprof_cli", "explain", "-"]
    done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *script], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "can't read the log stdin" in done.stderr
