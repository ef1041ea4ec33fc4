"""Results as CSV: one row a sample, so that a spreadsheet or a data frame can take it as it is."""

from __future__ import annotations

import csv
import io

from heapprof_cli.records import Result
from heapprof_cli.text import clean

COLUMNS = (
    "run", "cycle", "before_bytes", "after_bytes", "difference_bytes", "verdict", "exit_code", "model", "sha256",
    "device", "device_model", "soc", "htp_arch", "qnn_build", "perf_mode", "simulated", "message",
)  # fmt: skip
# A cell that begins so is a formula to a spreadsheet; a model's name may not become one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def result_csv(result: Result) -> str:
    """A header and a row for every sample; one row without numbers where there is no sample, so that a failure
    is not an empty file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    rest = _common(result)
    for sample in result.samples:
        reading = sample.reading
        numbers = (sample.run, sample.cycle, reading.before_bytes, reading.after_bytes, reading.difference_bytes)
        writer.writerow([*numbers, *rest])
    if not result.samples:
        writer.writerow(["", "", "", "", "", *rest])
    return buffer.getvalue()


def _common(result: Result) -> list[object]:
    device = result.device
    return [
        result.verdict.value,
        int(result.exit_code),
        _text(" + ".join(model.name for model in result.models)),
        " + ".join(model.sha256 for model in result.models),
        _text(device.alias if device else None),
        _text(device.model if device else None),
        _text(device.soc if device else None),
        device.htp_arch if device and device.htp_arch is not None else "",
        _text(result.qnn_build),
        _text(str(result.settings.get("perf_mode", ""))),
        "true" if result.simulated else "false",
        _text(result.summary),
    ]


def _text(text: str | None) -> str:
    shown = clean(text or "")
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
