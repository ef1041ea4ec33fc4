"""Every check before a run, each told by itself: models, phone, lease, libraries, workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from heapprof_cli import socs
from heapprof_cli.artifacts import Bundle
from heapprof_cli.device.cache import shared_store
from heapprof_cli.device.phone import find_phone
from heapprof_cli.errors import ExitCode, HeapprofError
from heapprof_cli.model_files import read_model, refuse_unmeasurable
from heapprof_cli.preflight import Finding, Severity, Situation, check_parts, check_phone, phone
from heapprof_cli.records import DeviceFacts, ModelFacts, Surroundings
from heapprof_cli.session.matching import considered, match, sources
from heapprof_cli.session.runners import runner_of
from heapprof_cli.settings import RunSettings
from heapprof_cli.text import clean, plural, readable_bytes


class Doctor:
    """Runs the checks one after the other; ``exit_code`` is that of the first error."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self.exit_code = ExitCode.OK

    def findings(self) -> Iterator[Finding]:
        """Every outcome in order, good ones too. What depends on a failed check is left out."""
        models = []
        for path in self._settings.models:
            finding, model = self._model(path)
            models += [model] if model else []
            yield from self._told(finding, ExitCode.USAGE)
            for warning in model.warnings if model else ():
                yield from self._told(
                    Finding("model-file", Severity.WARNING, f"{path.name}: {warning}"), ExitCode.USAGE
                )
        yield from self._told_of_runner(models)
        finding, device = self._device()
        yield from self._told(finding, ExitCode.DEVICE)
        if device is None:
            return
        for finding in (*_facts(device), *self._phone(device)):
            yield from self._told(finding, ExitCode.PREFLIGHT)
        for finding in self._parts(device, models):
            yield from self._told(finding, ExitCode.PREFLIGHT)

    def _told(self, finding: Finding, code: ExitCode) -> Iterator[Finding]:
        if finding.id in self._settings.skip:
            return
        if self._settings.strict and finding.severity is Severity.WARNING:
            finding = Finding(finding.id, Severity.ERROR, finding.what, finding.fix)
        if finding.severity is Severity.ERROR and self.exit_code is ExitCode.OK:
            self.exit_code = code
        yield finding

    def _told_of_runner(self, models: Sequence[ModelFacts]) -> Iterator[Finding]:
        """Models that the chosen runner does not take."""
        try:
            if models:
                runner_of(self._settings).check(self._settings, models)
        except HeapprofError as error:
            yield from self._told(_failed("model-file", error), ExitCode.USAGE)

    def _model(self, path: Path) -> tuple[Finding, ModelFacts | None]:
        try:
            model = read_model(path)
            refuse_unmeasurable(model)
        except HeapprofError as error:
            return _failed("model-file", error), None
        graphs = f"{plural(len(model.contexts), 'context')}, {plural(model.graph_count, 'graph')}"
        return Finding("model-file", Severity.OK, f"{model.name}: {graphs}, {model.soc or 'unknown SoC'}"), model

    def _device(self) -> tuple[Finding, DeviceFacts | None]:
        settings = self._settings
        try:
            found = find_phone(settings.server, settings.serial, settings.alias, settings.stall_timeout)
            device, _, lease = found.survey(settings.workspace, shared_store(settings.workspace), closely=True)
        except HeapprofError as error:
            return _failed("phone", error), None
        what = f"{device.model or 'unknown model'} ({device.alias}), Android {device.android or 'unknown'}"
        if lease is not None and not lease.expired:
            fix = "wait for it with `heapprof run --wait SECONDS`"
            return Finding("phone-busy", Severity.WARNING, f"{what}: someone measures on it: {lease}", fix), device
        return Finding("phone", Severity.OK, what), device

    def _phone(self, device: DeviceFacts) -> Iterator[Finding]:
        """The phone's own checks, and what is worth saying where they find nothing."""
        seen = device.surroundings or Surroundings()
        found = [*phone.writable(device), *check_phone(device)]
        if seen.workspace_trial == "ok":
            free = f", {readable_bytes(device.free_bytes)} free" if device.free_bytes is not None else ""
            what = f"{clean(self._settings.workspace, 200)}: files may be executed there{free}"
            yield Finding("workspace", Severity.OK, what)
        yield from found
        if conditions := phone.told(seen.conditions):
            yield Finding("conditions", Severity.OK, conditions)

    def _parts(self, device: DeviceFacts, models: Sequence[ModelFacts]) -> Iterator[Finding]:
        settings = self._settings
        try:
            target, arch = match(settings, device, models)
            bundle = runner_of(settings).resolve(target, arch, sources(settings, device))
        except HeapprofError as error:
            yield _failed("artifacts", error)
            return
        yield Finding("artifacts", Severity.OK, f"{settings.runner} runner, {target.name}; {_libraries(bundle)}")
        findings = considered(settings, check_parts(Situation(device, target, arch, bundle, tuple(models))))
        yield from findings
        if not findings:
            yield Finding("fit", Severity.OK, "libraries, models and phone fit each other")


def _facts(device: DeviceFacts) -> Iterator[Finding]:
    note = socs.variant_note(device.soc)
    if note:
        yield Finding("soc", Severity.WARNING, note)
    elif device.htp_arch is None:
        fix = "name it with --soc, or add it with --socs-file"
        yield Finding("soc", Severity.WARNING, f"the SoC {device.soc or '(none told)'} is not known", fix)
    else:
        yield Finding("soc", Severity.OK, f"{device.soc}, HTP V{device.htp_arch}")


def _libraries(bundle: Bundle) -> str:
    builds = sorted({library.qnn_build for library in bundle.libraries if library.qnn_build})
    if bundle.standin:
        return "stand-in libraries, simulated heap numbers"
    files = plural(len(bundle.libraries), "library file")
    return f"{files} of {clean(bundle.origin, 300)}, {', '.join(builds) or 'unknown QNN build'}"


def _failed(check: str, error: HeapprofError) -> Finding:
    return Finding(check, Severity.ERROR, error.message, "; ".join(error.hints) or None)
