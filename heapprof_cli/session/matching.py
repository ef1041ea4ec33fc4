"""Which runner and which libraries a phone needs, for a measurement as for the doctor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heapprof_cli import socs
from heapprof_cli.artifacts import Sources
from heapprof_cli.artifacts.targets import Target, choose_target
from heapprof_cli.errors import PreflightError
from heapprof_cli.preflight import Finding, Severity
from heapprof_cli.records import DeviceFacts, ModelFacts
from heapprof_cli.settings import AUTO, RunSettings
from heapprof_cli.text import clean


def sources(settings: RunSettings, device: DeviceFacts) -> Sources:
    """Where QNN libraries may come from; a virtual phone may take the stand-in."""
    return Sources(settings.qnn_libs, settings.qnn_sdk, device.virtual, settings.build_folder)


def match(settings: RunSettings, device: DeviceFacts, models: Sequence[ModelFacts]) -> tuple[Target, int | None]:
    """The runner target and the HTP arch to fetch libraries for; ``--soc`` is checked against the phone."""
    if settings.soc != AUTO and device.soc and socs.family(device.soc) != settings.soc:
        raise PreflightError(
            f"--soc says {settings.soc}, but the phone {device.alias} is a {clean(device.soc, 40)}",
            hints=("choose the right phone with --serial, or leave --soc at auto",),
        )
    named = socs.find(settings.soc) if settings.soc != AUTO else None
    model_archs = {model.htp_arch for model in models} - {None}
    arch = device.htp_arch or (named.htp_arch if named else None)
    if arch is None and len(model_archs) == 1:
        arch = model_archs.pop()
    return choose_target(device, settings.runner_target), arch


def considered(settings: RunSettings, found: Iterable[Finding]) -> list[Finding]:
    """What was found, without the checks that ``--skip`` names; ``--strict`` makes warnings errors."""
    kept = [finding for finding in found if finding.id not in settings.skip]
    return [_strict(finding) for finding in kept] if settings.strict else kept


def _strict(finding: Finding) -> Finding:
    return Finding(finding.id, Severity.ERROR, finding.what, finding.fix)


def refusal(findings: Iterable[Finding]) -> PreflightError | None:
    """One error that names everything that is wrong, each with its fix; None when nothing is."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if not errors:
        return None
    hints = dict.fromkeys(finding.fix for finding in errors if finding.fix)
    skip = f"`--skip {errors[0].id}` measures nevertheless"
    return PreflightError("; ".join(finding.what for finding in errors), hints=(*hints, skip))
