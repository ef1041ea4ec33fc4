"""Results as JUnit XML: what CI servers show as test reports.

A measurement is a test case; what a limit rejects is a failure, what gave no number is an error. The elements
and attributes are those that Jenkins, GitLab and Azure read (tests/schemas/junit.xsd).
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from heapprof_cli.errors import ExitCode
from heapprof_cli.records import Result
from heapprof_cli.render.facts import SIMULATED, judged, measured_on
from heapprof_cli.text import clean

# XML 1.0 can't hold these, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def result_junit(result: Result) -> str:
    """One suite with the measurement as its test case, and a line end."""
    failed = result.exit_code in (ExitCode.OVER_LIMIT, ExitCode.NO_BASELINE)
    broken = result.failure is not None and not failed
    seconds = f"{sum(stage.seconds for stage in result.stages):.3f}"
    counts = {"tests": "1", "failures": str(int(failed)), "errors": str(int(broken)), "time": seconds}
    suites = ET.Element("testsuites", {"name": "heapprof", **counts})
    stamp = (result.started_at or "1970-01-01T00:00:00Z").removesuffix("Z")
    suite = ET.SubElement(suites, "testsuite", {"name": "heapprof", **counts, "skipped": "0", "timestamp": stamp})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(result):
        ET.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    soc = result.device.soc if result.device and result.device.soc else "unknown"
    name = " + ".join(model.name for model in result.models) or "no model"
    case = ET.SubElement(suite, "testcase", {"classname": f"heapprof.{_xml(soc)}", "name": _xml(name), "time": seconds})
    if result.failure is not None:
        kind = {"type": result.failure.code, "message": _xml(result.failure.message)}
        problem = ET.SubElement(case, "failure" if failed else "error", kind)
        problem.text = "\n".join(_xml(f"hint: {hint}") for hint in result.failure.hints)
    said = [f"{result.verdict.value}: {result.summary}", *(f"{label}: {text}" for label, text in judged(result))]
    ET.SubElement(case, "system-out").text = "\n".join(map(_xml, said))
    if result.warnings:
        ET.SubElement(case, "system-err").text = "\n".join(_xml(f"warning: {text}") for text in result.warnings)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _properties(result: Result) -> list[tuple[str, str]]:
    reading = result.reading
    numbers = [
        ("before_bytes", result.before_bytes),
        ("after_bytes", reading.after_bytes if reading else None),
        ("difference_bytes", reading.difference_bytes if reading else None),
    ]
    found = [(name, str(value)) for name, value in numbers if value is not None]
    found += list(measured_on(result))
    return [*found, ("simulated", SIMULATED)] if result.simulated else found


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", clean(text))
