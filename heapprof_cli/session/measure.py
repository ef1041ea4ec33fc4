"""The story of a measurement, in the order in which it happens.

settings -> models -> device -> artifacts -> preflight -> lease -> deploy -> run -> collect -> judge -> gate -> result
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from heapprof_cli import repository, socs
from heapprof_cli.artifacts import Bundle
from heapprof_cli.artifacts.inputs import LIST_NAME, Inputs, read_input_list
from heapprof_cli.artifacts.resolving import artifact
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.device.cache import Inventory, shared_store
from heapprof_cli.device.phone import Phone, find_phone
from heapprof_cli.device.retry import retrying
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.errors import DeviceError, HeapprofError, Interrupted
from heapprof_cli.model_files import read_model
from heapprof_cli.preflight import Severity, Situation, check_all
from heapprof_cli.preflight.phone import throttling
from heapprof_cli.records import Artifact, CheckOutcome, Conditions, DeviceFacts, Failure, Result, Sample, Verdict
from heapprof_cli.session.deploying import deploy
from heapprof_cli.session.gating import gate, read_baselines
from heapprof_cli.session.judge import Judgement
from heapprof_cli.session.leasing import opened_run
from heapprof_cli.session.matching import considered, match, refusal, sources
from heapprof_cli.session.reporting import Reporter
from heapprof_cli.session.runners import Ended, Runner, runner_of
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings
from heapprof_cli.text import clean, decode, plural

_BACK_SECONDS = 15.0


def measure(settings: RunSettings, reporter: Reporter) -> Result:
    """Measure once. Every failure becomes a result that says why; only bugs raise."""
    story = Story(settings, reporter)
    commit = repository.ask_aside(Path())
    result = story.evidence.explained(_measured(settings, story))
    found = commit()
    return replace(result, commit=found.sha, commit_dirty=found.dirty) if found else result


def _measured(settings: RunSettings, story: Story) -> Result:
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
            runner = runner_of(settings)
            runner.check(settings, story.models)
            story.payloads = stack.enter_context(runner.payloads(story.models))
            inputs = read_input_list(settings.input_list) if settings.input_list else None
            baselines = read_baselines(settings)
        for model in story.models:
            for warning in model.warnings:
                story.warn(f"{model.name}: {warning}")
        for warning in runner.warnings(settings, story.models):
            story.warn(warning)
        return gate(_tell_on_phone(runner, story, inputs, stack), settings, baselines)


def _tell_on_phone(runner: Runner, story: Story, inputs: Inputs | None, stack: contextlib.ExitStack) -> Result:
    settings = story.settings
    with story.stage("device", "choose the phone"):
        phone = find_phone(settings.server, settings.serial, settings.alias, settings.stall_timeout)
        device, found = _survey(phone, story)
        story.device = device
    if note := socs.variant_note(device.soc):
        story.warn(note)
    with story.stage("preflight", "find runner and libraries, compare SoC and models"):
        target, arch = match(settings, device, story.models)
        bundle = runner.resolve(target, arch, sources(settings, device))
        _preflight(story, Situation(device, target, arch, bundle, story.models))
    input_files: tuple[Artifact, ...] = ()
    if inputs is not None:
        input_files = (*inputs.files, _written(stack, LIST_NAME, inputs.list_text))
    _note_artifacts(runner, story, target, bundle, input_files)
    with opened_run(phone, story) as place:
        with story.stage("push", f"{plural(len(story.artifacts), 'file')} into {place.folder.path}"):
            deploy(phone, place, story, found)
        judgement = _repeat(runner, phone, place.folder, story, with_inputs=inputs is not None)
    return _conclude(story, judgement)


def _repeat(runner: Runner, phone: Phone, folder: RunFolder, story: Story, *, with_inputs: bool) -> Judgement:
    """Every run in a fresh process; the judgement of the greatest difference, or the first that is not ok."""
    greatest: Judgement | None = None
    for number in range(1, story.settings.runs + 1):
        names = folder.of_run(number)
        with story.evidence.of_run(phone, names, story.warn):
            ended = _run(runner, phone, names, story, with_inputs=with_inputs)
            with story.stage("collect", "fetch the heap file"):
                judgement = _collect(runner, phone, names, story, ended)
        story.samples += [Sample(number, cycle, each) for cycle, each in enumerate(judgement.cycles, start=1)]
        good = judgement.verdict is Verdict.OK and judgement.reading is not None
        if not good or (story.settings.bundle is not None and number == story.settings.runs):
            problem = story.evidence.ask(phone, names)
            if problem is not None:
                story.warn(problem)
        if not good:
            return judgement
        if greatest is None or judgement.difference_bytes > greatest.difference_bytes:
            greatest = judgement
    assert greatest is not None  # there is at least one run
    return greatest


def _survey(phone: Phone, story: Story) -> tuple[DeviceFacts, Inventory]:
    """What the phone is and what its cache holds; asking may be repeated."""
    workspace = story.settings.workspace
    survey = retrying(
        lambda: phone.survey(workspace, shared_store(workspace), closely=True), _waiting_for(phone, story)
    )
    return survey[0], survey[1]


def _waiting_for(phone: Phone, story: Story) -> Callable[[HeapprofError, int], None]:
    """What happens before a step is repeated: it is said, and the phone gets time to come back."""

    def before_retry(error: HeapprofError, number: int) -> None:
        story.warn(f"{error.message}; trying again ({number})")
        phone.back_within(_BACK_SECONDS)

    return before_retry


def _preflight(story: Story, situation: Situation) -> None:
    """Tells every warning. Raises PreflightError that names everything that is wrong."""
    findings = considered(story.settings, check_all(situation))
    story.checks = tuple(CheckOutcome(each.id, each.severity.value, each.what, each.fix) for each in findings)
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


def _note_artifacts(runner: Runner, story: Story, target: Target, bundle: Bundle, inputs: tuple[Artifact, ...]) -> None:
    models = tuple(
        Artifact(each.name, each.path, runner.remote_name(index), each.sha256, each.size, qnn_build=each.qnn_build)
        for index, each in enumerate(story.payloads)
    )
    story.target = target.name
    story.simulated = bundle.standin
    story.artifacts = (bundle.runner, *bundle.libraries, *models, *inputs)


def _run(runner: Runner, phone: Phone, folder: RunFolder, story: Story, *, with_inputs: bool) -> Ended:
    settings = story.settings
    seen: list[str] = []

    def on_stderr(raw: bytes) -> None:
        story.evidence.hear(raw)
        line = clean(decode(raw), 500)
        if stage := runner.stage_of(line):
            seen[:] = [stage]
        story.reporter.runner_line(line)

    command = runner.command(settings, folder, len(story.payloads), with_inputs)
    limit = f"at most {settings.timeout:g} s" if settings.timeout else "no time limit"
    with story.stage("run", limit if settings.runs == 1 else f"{folder.number} of {settings.runs}, {limit}"):
        try:
            shell = phone.run(command, settings.timeout, on_stderr)
        except DeviceError:
            _salvage(runner, phone, folder, story)
            raise
    story.evidence.end(shell)
    return Ended(shell, seen[0] if seen else None)


def _salvage(runner: Runner, phone: Phone, folder: RunFolder, story: Story) -> None:
    """After the phone was lost in the run: what the run's files still tell, should it come back soon."""
    with contextlib.suppress(HeapprofError):
        if phone.back_within(_BACK_SECONDS):
            phone.stop(folder)
            leavings = phone.leavings(folder)
            story.evidence.left(leavings)
            runner.salvage(story, folder, leavings)
            story.evidence.ask(phone, folder)


def _collect(runner: Runner, phone: Phone, folder: RunFolder, story: Story, ended: Ended) -> Judgement:
    """Judge what the run left; fetching may be repeated. Raises RunnerError or StageTimeout when the runner
    did not end well."""
    leavings = retrying(lambda: phone.leavings(folder), _waiting_for(phone, story))
    story.evidence.left(leavings)
    _note_conditions(story, leavings.conditions)
    return runner.judged(story, folder, ended, leavings)


def _note_conditions(story: Story, conditions: Conditions | None) -> None:
    """What the phone was like right after a run; a phone that throttled by then is told of."""
    story.conditions_after = conditions
    if conditions is not None:
        for finding in considered(story.settings, throttling(conditions, " after the run")):
            story.warn(finding.what)


def _conclude(story: Story, judgement: Judgement) -> Result:
    story.before_bytes = judgement.before_bytes
    if judgement.reading is None:
        return story.no_reading(judgement.verdict, judgement.sentence, judgement.hints)
    failure = None
    if judgement.verdict is not Verdict.OK:
        failure = Failure("invalid_measurement", "judge", judgement.sentence, judgement.hints)
    return story.measured(judgement.verdict, judgement.reading, judgement.sentence, failure)
