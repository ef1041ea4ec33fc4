"""A debug bundle: one zip with all that a colleague needs to understand a run, and nothing that names anyone."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator

from heapprof_cli.records import Result
from heapprof_cli.render.anonymous import Anonymous
from heapprof_cli.render.facts import SIMULATED
from heapprof_cli.render.json_result import result_fields

# A fixed time makes bundles of the same run the same file.
_TIME = (1980, 1, 1, 0, 0, 0)


def bundle(result: Result, versions: dict[str, str], anonymous: Anonymous) -> bytes:
    """The zip's bytes. ``versions`` are of heapprof, Python and the system; ``anonymous`` cleans every text."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(result, versions):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, _text(name, content, anonymous).encode("utf-8", "backslashreplace"))
    return buffer.getvalue()


def _text(name: str, content: object, anonymous: Anonymous) -> str:
    """A file's text. JSON is cleaned before it is written: what cleans a text knows no keys, numbers and escapes."""
    found = content
    if name.endswith(".json") and isinstance(content, str):
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(content)
    if isinstance(found, str):
        return anonymous(found)
    return json.dumps(anonymous.value(found), indent=2, ensure_ascii=False) + "\n"


def _files(result: Result, versions: dict[str, str]) -> Iterator[tuple[str, object]]:
    yield "README.txt", _read_me(result)
    yield "result.json", result_fields(result)
    yield "versions.json", versions
    checks = [{"id": c.id, "severity": c.severity, "what": c.what, "fix": c.fix} for c in result.checks]
    yield "preflight.json", {"checks": checks}
    places = [
        {"name": a.name, "remote_name": a.remote_name, "path": a.path, "sha256": a.sha256, "bytes": a.size,
         "qnn_build": a.qnn_build, "sent": a.sha256 in result.sent}
        for a in result.artifacts
    ]  # fmt: skip
    yield "artifacts.json", {"artifacts": places}
    for log in result.logs:
        yield f"logs/{log.name}", log.text


def _read_me(result: Result) -> str:
    failure = result.failure
    lines = [
        "A debug bundle of heapprof.",
        f"Result: {result.verdict.value} (exit code {int(result.exit_code)}): {result.summary}",
        *([f"Hint: {hint}" for hint in failure.hints] if failure else []),
        *([f"{SIMULATED}: the stand-in HTP library on a virtual phone, no DSP"] if result.simulated else []),
        "",
        "result.json     the result with settings and who set each, stages, warnings, findings",
        "versions.json   of heapprof, Python, this computer's system, adb",
        "preflight.json  what the checks before the run found",
        "artifacts.json  the files that were used: their places, hashes and QNN builds",
        "logs/           the last run's output, status file and, where the phone gave it, its log of that time",
        "",
        "Serials, network addresses, home folders, user and computer names were replaced.",
        "The logs are a phone's own words: look through them before you hand this on.",
    ]
    return "\n".join(lines) + "\n"
