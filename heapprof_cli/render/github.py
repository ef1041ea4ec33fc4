"""Results as GitHub workflow commands: annotations on the run that everybody sees.

Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator

from heapprof_cli.errors import ExitCode
from heapprof_cli.records import Result
from heapprof_cli.render.facts import SIMULATED
from heapprof_cli.text import clean, readable_bytes


def result_github(result: Result) -> str:
    """An annotation for the result and one for each warning, a line each."""
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: Result) -> Iterator[str]:
    name = " + ".join(model.name for model in result.models) or "no model"
    simulated = f" [{SIMULATED}]" if result.simulated else ""
    title = f"DSP heap: {name}{simulated}"
    if result.failure is not None:
        hints = "".join(f"\nhint: {hint}" for hint in result.failure.hints)
        kind = "DSP heap over its limit" if result.exit_code is ExitCode.OVER_LIMIT else "no DSP heap number"
        yield _command("error", f"{kind}: {name}{simulated}", f"{result.failure.message}{hints}")
    elif result.reading is not None:
        reading = result.reading
        yield _command(
            "notice",
            title,
            f"before {reading.before_bytes}, after {reading.after_bytes}, difference {reading.difference_bytes} bytes "
            f"({readable_bytes(reading.difference_bytes)}): {result.summary}",
        )
    if result.growth is not None and result.growth.verdict == "leak":
        yield _command("warning", title, f"DSP heap leak: {result.growth.sentence}")
    for warning in result.warnings:
        yield _command("warning", title, warning)


def _command(kind: str, title: str, message: str) -> str:
    shown = "\n".join(clean(line) for line in message.splitlines())
    heading = _data(clean(title, 300)).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={heading}::{_data(shown)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
