"""Results as they are kept: the JSON object of ``heapprof run --format json``, and what of it is searched for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean

KNOWN_SCHEMA = 1
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Summary:
    """What a list of results shows; sizes in bytes, None where there is no number. ``models`` are joined by " + "."""

    started_at: str
    verdict: str
    models: str
    soc: str | None
    phone: str | None
    perf_mode: str | None
    qnn_build: str | None
    simulated: bool
    before_bytes: int | None
    after_bytes: int | None
    difference_bytes: int | None
    leak_bytes_per_cycle: float | None


def summary_of(document: Mapping[str, object], place: str) -> Summary:
    """What is searched for and shown of a result. Raises UsageError for what is no result; ``place`` names it."""
    if not isinstance(document.get("schema_version"), int) or not isinstance(document.get("verdict"), str):
        raise UsageError(f"{place}: no result of heapprof", hints=("make one with `heapprof run --format json`",))
    if document["schema_version"] != KNOWN_SCHEMA:
        raise UsageError(
            f"{place}: result schema {document['schema_version']} is not known here", hints=("use a newer heapprof",)
        )
    models = document.get("model")
    names = [_text(_mapping(model).get("name")) for model in models] if isinstance(models, list) else []
    device, settings, growth = (_mapping(document.get(key)) for key in ("device", "settings", "growth"))
    leak = growth.get("bytes_per_cycle") if growth.get("verdict") == "leak" else None
    return Summary(
        started_at=_text(document.get("started_at")) or "",
        verdict=_text(document.get("verdict")) or "unknown",
        models=" + ".join(name for name in names if name) or "(no model)",
        soc=_text(device.get("soc")),
        phone=_text(device.get("alias")),
        perf_mode=_text(settings.get("perf_mode")),
        qnn_build=_text(document.get("qnn_build")),
        simulated=document.get("simulated") is True,
        before_bytes=_bytes(document.get("before_bytes")),
        after_bytes=_bytes(document.get("after_bytes")),
        difference_bytes=_bytes(document.get("difference_bytes")),
        leak_bytes_per_cycle=float(leak) if isinstance(leak, (int, float)) else None,
    )


def text_of(document: Mapping[str, object]) -> str:
    """One line of JSON, the same for the same result."""
    return json.dumps(document, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def digest_of(text: str) -> str:
    """By which a result is known, whoever imports it."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parse_line(line: bytes, place: str) -> dict[str, object]:
    """The object in a line of JSON. Raises UsageError."""
    if len(line) > _MOST_BYTES:
        raise UsageError(f"{place}: longer than {_MOST_BYTES // 1024**2} MiB: no result of heapprof")
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: no JSON: {clean(str(error), 200)}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{place}: an object was expected")
    return found


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return clean(value, 300) if isinstance(value, str) and value.strip() else None


def _bytes(value: object) -> int | None:
    return value if type(value) is int and abs(value) < 2**65 else None


def results_in(stream: BinaryIO, place: str) -> Iterator[dict[str, object]]:
    """Every result in a file: a line each, or one object over many lines. Raises UsageError that names the line."""
    first = stream.readline(_MOST_BYTES + 1)
    if _is_whole(first):
        for number, line in enumerate(_lines(first, stream), start=1):
            if line.strip():
                document = parse_line(line, f"{place}, line {number}")
                summary_of(document, f"{place}, line {number}")
                yield document
        return
    document = parse_line(first + stream.read(_MOST_BYTES + 1), place)
    summary_of(document, place)
    yield document


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8-sig")), dict) or not line.strip()
    except (ValueError, RecursionError):
        return not line.strip()


def _lines(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    while first:
        yield first
        first = stream.readline(_MOST_BYTES + 1)
