"""The story of a measurement, in the order in which it happens.

settings -> models -> device -> artifacts -> preflight -> lease -> deploy -> run -> collect -> judge -> gate -> result
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heapprof_cli import socs
from heapprof_cli.artifacts import STANDIN_BUILD_MARK, Bundle, resolve
from heapprof_cli.artifacts.inputs import LIST_NAME, Inputs, read_input_list
from heapprof_cli.artifacts.resolving import artifact
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.device.cache import Inventory, shared_store
from heapprof_cli.device.phone import Phone, find_phone
from heapprof_cli.device.retry import retrying
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.shell import ShellResult
from heapprof_cli.errors import DeviceError, HeapprofError, Interrupted, RunnerError
from heapprof_cli.model_files import extracted, read_model
from heapprof_cli.preflight import Severity, Situation
from heapprof_cli.records import Artifact, DeviceFacts, Failure, Result, Sample, Verdict
from heapprof_cli.session.cycle_files import parse_ledger
from heapprof_cli.session.deploying import deploy
from heapprof_cli.session.gating import gate, read_baselines
from heapprof_cli.session.judge import Judgement, judge
from heapprof_cli.session.leasing import opened_run
from heapprof_cli.session.matching import considered, match, refusal, sources
from heapprof_cli.session.outcome import failure_of, remote_name
from heapprof_cli.session.reporting import Reporter
from heapprof_cli.session.runner_status import RunnerStatus, parse_status
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings
from heapprof_cli.text import clean, decode, plural

_BACK_SECONDS = 15.0
_STAGE_PREFIX = "heapprof_runner: stage "
# Where the DSP looks for libraries after the run's own folder (FastRPC's usual vendor places).
_DSP_FOLDERS = ("/vendor/dsp/cdsp", "/vendor/lib/rfsa/adsp", "/system/lib/rfsa/adsp", "/dsp")


def measure(settings: RunSettings, reporter: Reporter) -> Result:
    """Measure once. Every failure becomes a result that says why; only bugs raise."""
    story = Story(settings, reporter)
    try:
        return _tell(settings, story)
    except HeapprofError as error:
        return story.failed(error)
    except KeyboardInterrupt:
        state = "the phone was cleaned up" if story.clean else "the phone may still hold files or a runner of this run"
        return story.failed(Interrupted(f"interrupted; {state}", stage=story.current_stage))


def _tell(settings: RunSettings, story: Story) -> Result:
    with contextlib.ExitStack() as stack:
        with story.stage("models", plural(len(settings.models), "model")):
            story.models = tuple(read_model(path) for path in settings.models)
            story.payloads = stack.enter_context(extracted(story.models))
            inputs = read_input_list(settings.input_list) if settings.input_list else None
            baselines = read_baselines(settings)
        for model in story.models:
            for warning in model.warnings:
                story.warn(f"{model.name}: {warning}")
        return gate(_tell_on_phone(settings, story, inputs, stack), settings, baselines)


def _tell_on_phone(settings: RunSettings, story: Story, inputs: Inputs | None, stack: contextlib.ExitStack) -> Result:
    with story.stage("device", "choose the phone"):
        phone = find_phone(settings.server, settings.serial, settings.alias, settings.stall_timeout)
        device, found = _survey(phone, story)
        story.device = device
    if note := socs.variant_note(device.soc):
        story.warn(note)
    with story.stage("preflight", "find runner and libraries, compare SoC and models"):
        target, arch = match(settings, device, story.models)
        bundle = resolve(target, arch, sources(settings, device))
        _preflight(story, Situation(device, target, arch, bundle, story.models))
    input_files: tuple[Artifact, ...] = ()
    if inputs is not None:
        input_files = (*inputs.files, _written(stack, LIST_NAME, inputs.list_text))
    _note_artifacts(story, target, bundle, input_files)
    with opened_run(phone, story) as place:
        with story.stage("push", f"{plural(len(story.artifacts), 'file')} into {place.folder.path}"):
            deploy(phone, place, story, found)
        judgement = _repeat(phone, place.folder, story, with_inputs=inputs is not None)
    return _conclude(story, judgement)


def _repeat(phone: Phone, folder: RunFolder, story: Story, *, with_inputs: bool) -> Judgement:
    """Every run in a fresh process; the judgement of the greatest difference, or the first that is not ok."""
    greatest: Judgement | None = None
    for number in range(1, story.settings.runs + 1):
        names = folder.of_run(number)
        run = _run(phone, names, story, with_inputs=with_inputs)
        with story.stage("collect", "fetch the heap file"):
            judgement = _collect(phone, names, story, run)
        story.samples += [Sample(number, cycle, each) for cycle, each in enumerate(judgement.cycles, start=1)]
        if judgement.verdict is not Verdict.OK or judgement.reading is None:
            return judgement
        if greatest is None or judgement.difference_bytes > greatest.difference_bytes:
            greatest = judgement
    assert greatest is not None  # there is at least one run
    return greatest


def _survey(phone: Phone, story: Story) -> tuple[DeviceFacts, Inventory]:
    """What the phone is and what its cache holds; asking may be repeated."""
    workspace = story.settings.workspace
    survey = retrying(lambda: phone.survey(workspace, shared_store(workspace)), _waiting_for(phone, story))
    return survey[0], survey[1]


def _waiting_for(phone: Phone, story: Story) -> Callable[[HeapprofError, int], None]:
    """What happens before a step is repeated: it is said, and the phone gets time to come back."""

    def before_retry(error: HeapprofError, number: int) -> None:
        story.warn(f"{error.message}; trying again ({number})")
        phone.back_within(_BACK_SECONDS)

    return before_retry


def _preflight(story: Story, situation: Situation) -> None:
    """Tells every warning. Raises PreflightError that names everything that is wrong."""
    findings = considered(story.settings, situation)
    for finding in findings:
        if finding.severity is Severity.WARNING:
            story.warn(finding.what)
    error = refusal(findings)
    if error is not None:
        raise error


def _written(stack: contextlib.ExitStack, name: str, text: str) -> Artifact:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heapprof-")))
    (folder / name).write_text(text, "utf-8")
    return artifact(folder / name, name)


def _note_artifacts(story: Story, target: Target, bundle: Bundle, inputs: tuple[Artifact, ...]) -> None:
    models = tuple(
        Artifact(each.name, each.path, remote_name(index), each.sha256, each.size, qnn_build=each.qnn_build)
        for index, each in enumerate(story.payloads)
    )
    story.target = target.name
    story.simulated = bundle.standin
    story.artifacts = (bundle.runner, *bundle.libraries, *models, *inputs)


@dataclass(frozen=True)
class _Run:
    """The ended runner: its shell result and the last stage it announced."""

    shell: ShellResult
    stage_seen: str | None


def _run(phone: Phone, folder: RunFolder, story: Story, *, with_inputs: bool) -> _Run:
    settings = story.settings
    seen: list[str] = []

    def on_stderr(raw: bytes) -> None:
        line = clean(decode(raw), 500)
        if line.startswith(_STAGE_PREFIX):
            seen[:] = line.removeprefix(_STAGE_PREFIX).split(" ")[:1]
        story.reporter.runner_line(line)

    arguments = runner_arguments(settings, folder, len(story.payloads), with_inputs)
    limit = f"at most {settings.timeout:g} s" if settings.timeout else "no time limit"
    with story.stage("run", limit if settings.runs == 1 else f"{folder.number} of {settings.runs}, {limit}"):
        try:
            shell = phone.run(folder, environment(folder), arguments, settings.timeout, on_stderr)
        except DeviceError:
            _salvage(phone, folder, story)
            raise
    return _Run(shell, seen[0] if seen else None)


def _salvage(phone: Phone, folder: RunFolder, story: Story) -> None:
    """After the phone was lost in the run: what its status file still tells, should it come back soon."""
    with contextlib.suppress(HeapprofError):
        if phone.back_within(_BACK_SECONDS):
            phone.stop(folder)
            status = parse_status(phone.leavings(folder).status)
            if status is not None and status.run_id == folder.reading_id:
                _note_library(story, status)


def environment(folder: RunFolder) -> dict[str, str]:
    """The variables under which the runner and the DSP find the libraries."""
    return {
        "LD_LIBRARY_PATH": folder.path,
        "ADSP_LIBRARY_PATH": ";".join((folder.path, *_DSP_FOLDERS)),
    }


def runner_arguments(settings: RunSettings, folder: RunFolder, contexts: int, with_inputs: bool) -> list[str]:
    """The runner's command line; all names in it are ours, so no model's name reaches a shell."""
    arguments = [f"--model={remote_name(index)}" for index in range(contexts)]
    arguments += [
        f"--heap_profiling_path={folder.heap_name}",
        f"--status_path={folder.status_name}",
        f"--memory_ledger_path={folder.ledger_name}",
        f"--run_id={folder.reading_id}",
        f"--profile_level={settings.profile_level}",
        f"--log_level={settings.log_level}",
        f"--htp_performance_mode={settings.perf_mode}",
        f"--iteration={settings.iterations}",
        f"--warm_up={settings.warm_up}",
        f"--time_limit={settings.timeout:.3f}",
    ]
    if settings.cycles > 1:
        arguments += [f"--cycles={settings.cycles}", f"--heap_series_path={folder.series_name}"]
    return [*arguments, f"--input_list_path={LIST_NAME}"] if with_inputs else arguments


def _collect(phone: Phone, folder: RunFolder, story: Story, run: _Run) -> Judgement:
    """Judge what the run left; fetching may be repeated. Raises RunnerError or StageTimeout when the runner
    did not end well."""
    leavings = retrying(lambda: phone.leavings(folder), _waiting_for(phone, story))
    status = parse_status(leavings.status)
    if status is not None and status.run_id != folder.reading_id:
        status = None
    if status is not None:
        _note_library(story, status)
    error = failure_of(run.shell.status, status, run.stage_seen, run.shell.tail(), story.payloads)
    if error is not None:
        raise error
    if status is None:
        raise RunnerError(
            "the runner ended without its status file, so its numbers can't be tied to this run",
            stage="collect",
            hints=("check the free space on the phone; runner and heapprof must be of the same version",),
        )
    story.memory += parse_ledger(leavings.ledger, folder.number)
    return judge(leavings, status, story.settings.cycles)


def _note_library(story: Story, status: RunnerStatus) -> None:
    story.qnn_build = status.qnn_build
    story.before_bytes = status.heap_before
    if status.qnn_build and STANDIN_BUILD_MARK in status.qnn_build:
        story.simulated = True


def _conclude(story: Story, judgement: Judgement) -> Result:
    story.before_bytes = judgement.before_bytes
    if judgement.reading is None:
        return story.no_reading(judgement.verdict, judgement.sentence, judgement.hints)
    failure = None
    if judgement.verdict is not Verdict.OK:
        failure = Failure("invalid_measurement", "judge", judgement.sentence, judgement.hints)
    return story.measured(judgement.verdict, judgement.reading, judgement.sentence, failure)
