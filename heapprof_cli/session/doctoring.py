"""Every check before a run, each told by itself: models, phone, lease, libraries, workspace."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from heapprof_cli import socs
from heapprof_cli.artifacts import Bundle
from heapprof_cli.device.cache import shared_store
from heapprof_cli.device.phone import find_phone
from heapprof_cli.device.server import AdbServer
from heapprof_cli.device.shell import run_shell
from heapprof_cli.errors import ExitCode, HeapprofError
from heapprof_cli.model_files import read_model, refuse_unmeasurable
from heapprof_cli.preflight import Finding, Severity, Situation
from heapprof_cli.records import DeviceFacts, ModelFacts
from heapprof_cli.session.matching import considered, match, sources
from heapprof_cli.session.runners import runner_of
from heapprof_cli.settings import RunSettings
from heapprof_cli.text import clean, clean_lines, plural, readable_bytes

_EXEC_SECONDS = 15.0
_PHONE_FOLDERS = ("/vendor/lib64", "/odm/lib64", "/system/lib64", "/vendor/dsp/cdsp", "/vendor/lib/rfsa/adsp")
_LIST_COPIES = f"ls -d {' '.join(f'{folder}/libQnnHtp*' for folder in _PHONE_FOLDERS)} 2>/dev/null; exit 0"


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
        for finding in (*_facts(device), *self._workspace(device)):
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
            phone = find_phone(settings.server, settings.serial, settings.alias, settings.stall_timeout)
            device, _, lease = phone.survey(settings.workspace, shared_store(settings.workspace))
        except HeapprofError as error:
            return _failed("phone", error), None
        what = f"{device.model or 'unknown model'} ({device.alias}), Android {device.android or 'unknown'}"
        if lease is not None and not lease.expired:
            fix = "wait for it with `heapprof run --wait SECONDS`"
            return Finding("phone-busy", Severity.WARNING, f"{what}: someone measures on it: {lease}", fix), device
        return Finding("phone", Severity.OK, what), device

    def _workspace(self, device: DeviceFacts) -> Iterator[Finding]:
        """Whether files in the workspace may be executed: a mount may forbid it (noexec), and so may SELinux."""
        workspace = self._settings.workspace
        free = f", {readable_bytes(device.free_bytes)} free" if device.free_bytes is not None else ""
        try:
            command = _executable(workspace)
            server = AdbServer(self._settings.server)
            shell = run_shell(server, device.serial, command, stage="workspace", seconds=_EXEC_SECONDS)
        except HeapprofError as error:
            yield _failed("workspace", error)
            return
        if shell.status == 0:
            yield Finding("workspace", Severity.OK, f"{workspace}: files may be executed there{free}")
            return
        what = "can't be written to" if shell.status == 3 else "does not allow to execute files (noexec or SELinux)"
        fix = "choose another place with --workspace, for example a folder below /data/local/tmp"
        yield Finding("workspace", Severity.ERROR, f"{workspace} {what}: {shell.tail() or 'no reason given'}", fix)

    def _vendor_copies(self, device: DeviceFacts) -> Iterator[Finding]:
        try:
            server = AdbServer(self._settings.server)
            shell = run_shell(server, device.serial, _LIST_COPIES, stage="device", seconds=_EXEC_SECONDS)
        except HeapprofError:
            return  # a phone that does not answer is told by the other checks
        if finding := vendor_copies(shell.stdout.text()):
            yield finding

    def _parts(self, device: DeviceFacts, models: Sequence[ModelFacts]) -> Iterator[Finding]:
        settings = self._settings
        try:
            target, arch = match(settings, device, models)
            bundle = runner_of(settings).resolve(target, arch, sources(settings, device))
        except HeapprofError as error:
            yield _failed("artifacts", error)
            return
        if target.on_dsp and not bundle.standin:
            yield from self._vendor_copies(device)
        yield Finding("artifacts", Severity.OK, f"{settings.runner} runner, {target.name}; {_libraries(bundle)}")
        findings = considered(settings, Situation(device, target, arch, bundle, tuple(models)))
        yield from findings
        if not findings:
            yield Finding("fit", Severity.OK, "libraries, models and phone fit each other")


def vendor_copies(listing: str) -> Finding | None:
    """What `ls` told of QNN libraries in the phone's own folders: they may be found instead of the ones sent."""
    found = [line for line in clean_lines(listing, 100) if line.startswith("/") and "libQnn" in line]
    if not found:
        return None
    shown = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
    return Finding(
        "vendor-copies",
        Severity.WARNING,
        f"the phone has QNN libraries of its own: {shown}; heapprof's come first in both search paths",
        "if a log speaks of a Stub or lib id mismatch, use the QNN SDK of the phone's build",
    )


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


def _executable(workspace: str) -> str:
    """Writes a script of two lines into the workspace, runs it, removes it; a folder made for it goes too."""
    folder = shlex.quote(workspace)
    return (
        f'w={folder}; made=; [ -d "$w" ] || made=1; mkdir -p "$w" || exit 3; f="$w/.heapprof-doctor-$$"; '
        'printf \'#!%s\\nexit 0\\n\' "$(command -v sh)" >"$f" && chmod 755 "$f" || { rm -f "$f"; exit 3; }; '
        '"$f"; s=$?; rm -f "$f"; [ -n "$made" ] && rmdir "$w"; [ "$s" = 0 ] || exit 4; exit 0'
    )
