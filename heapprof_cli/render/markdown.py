"""Results as Markdown: for a pull request's comment or GitHub's step summary. All foreign text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from heapprof_cli.heap_file import AFTER, BEFORE
from heapprof_cli.records import Result, Verdict
from heapprof_cli.render.facts import SIMULATED, judged, measured_on
from heapprof_cli.text import clean, readable_bytes

_MARKS = {Verdict.OK: "✅", Verdict.OVER_LIMIT: "❌"}
# What means something to Markdown, or to the HTML that it may hold.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$@<>&-])")
_SAMPLES_SHOWN = 50


def result_markdown(result: Result) -> str:
    """The numbers, the verdict and what it was measured on; samples of several runs or cycles folded away."""
    return "\n".join(_lines(result)) + "\n"


def escaped(text: str) -> str:
    """``text`` as plain text in Markdown: no formatting, no HTML, no mention, no table cell's end."""
    return _SPECIAL.sub(r"\\\1", clean(text)).replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")


def _lines(result: Result) -> Iterator[str]:
    names = " \\+ ".join(escaped(model.name) for model in result.models) or "no model"
    yield f"### DSP heap: {names}"
    yield ""
    if result.simulated:
        yield f"> **{SIMULATED}**: stand-in HTP library, no DSP"
        yield ""
    if result.before_bytes is not None:
        yield "| checkpoint | bytes | readable |"
        yield "|---|---:|---:|"
        for label, value in _numbers(result):
            yield f"| {label} | {'-' if value is None else value} | {_readable(value)} |"
        yield ""
    yield f"{_MARKS.get(result.verdict, '⚠️')} **{result.verdict.value}**: {escaped(result.summary)}"
    yield ""
    for label, sentence in judged(result):
        yield f"- {label}: {escaped(sentence)}"
    for hint in result.failure.hints if result.failure else ():
        yield f"- hint: {escaped(hint)}"
    for warning in result.warnings:
        yield f"- warning: {escaped(warning)}"
    yield ""
    if len(result.samples) > 1:
        yield from _samples(result)
    yield "| measured on | |"
    yield "|---|---|"
    for label, value_text in measured_on(result):
        yield f"| {label} | {escaped(value_text)} |"


def _numbers(result: Result) -> tuple[tuple[str, int | None], ...]:
    reading = result.reading
    return (
        (f"`{BEFORE}`", result.before_bytes),
        (f"`{AFTER}`", reading.after_bytes if reading else None),
        ("**difference**", reading.difference_bytes if reading else None),
    )


def _readable(value: int | None) -> str:
    return "unknown" if value is None else readable_bytes(value)


def _samples(result: Result) -> Iterator[str]:
    yield f"<details><summary>{len(result.samples)} samples</summary>"
    yield ""
    yield "| run | cycle | before | after | difference |"
    yield "|---:|---:|---:|---:|---:|"
    for sample in result.samples[:_SAMPLES_SHOWN]:
        each = sample.reading
        cells = (sample.run, sample.cycle, each.before_bytes, each.after_bytes, each.difference_bytes)
        yield f"| {' | '.join(map(str, cells))} |"
    if len(result.samples) > _SAMPLES_SHOWN:
        yield ""
        yield f"{len(result.samples) - _SAMPLES_SHOWN} more are in the JSON and CSV outputs."
    yield ""
    yield "</details>"
    yield ""
