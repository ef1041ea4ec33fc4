"""heapprof's own runner: takes context binaries, tells its stages, leaves a status file tied to its run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from heapprof_cli.artifacts import STANDIN_BUILD_MARK, Bundle, Sources, resolve
from heapprof_cli.artifacts.inputs import LIST_NAME
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.device import scripts
from heapprof_cli.device.phone import Leavings
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.errors import RunnerError
from heapprof_cli.model_files import extracted, refuse_unmeasurable
from heapprof_cli.records import Artifact, ContextFacts, ModelFacts, Payload
from heapprof_cli.session.cycle_files import parse_ledger
from heapprof_cli.session.judge import Judgement, judge
from heapprof_cli.session.outcome import failure_of, remote_name
from heapprof_cli.session.runner_status import RunnerStatus, parse_status
from heapprof_cli.session.runners.seam import Ended, environment
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings

_STAGE_PREFIX = "heapprof_runner: stage "


class NativeRunner:
    """``heapprof_runner`` (device_bin/README.md)."""

    def check(self, settings: RunSettings, models: Sequence[ModelFacts]) -> None:
        for model in models:
            refuse_unmeasurable(model)

    def warnings(self, settings: RunSettings, models: Sequence[ModelFacts]) -> Sequence[str]:
        return ()

    def payloads(self, models: Sequence[ModelFacts]) -> AbstractContextManager[tuple[Payload, ...]]:
        return extracted(models)

    def planned(self, models: Sequence[ModelFacts]) -> Sequence[Artifact]:
        contexts = [(model, context) for model in models for context in model.contexts]
        return [_planned(*each, index) for index, each in enumerate(contexts)]

    def fetched(self, folder: RunFolder) -> Sequence[str]:
        return folder.heap_name, folder.status_name

    def remote_name(self, index: int) -> str:
        return remote_name(index)

    def resolve(self, target: Target, htp_arch: int | None, sources: Sources) -> Bundle:
        return resolve(target, htp_arch, sources)

    def command(self, settings: RunSettings, folder: RunFolder, payloads: int, with_inputs: bool) -> str:
        arguments = _arguments(settings, folder, payloads, with_inputs)
        return scripts.start(folder, environment(folder), arguments)

    def stage_of(self, line: str) -> str | None:
        return line.removeprefix(_STAGE_PREFIX).split(" ")[0] if line.startswith(_STAGE_PREFIX) else None

    def salvage(self, story: Story, folder: RunFolder, leavings: Leavings) -> None:
        _status_of(story, folder, leavings)

    def judged(self, story: Story, folder: RunFolder, ended: Ended, leavings: Leavings) -> Judgement:
        status = _status_of(story, folder, leavings)
        error = failure_of(ended.shell.status, status, ended.stage_seen, ended.shell.tail(), story.payloads)
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


def _arguments(settings: RunSettings, folder: RunFolder, payloads: int, with_inputs: bool) -> list[str]:
    arguments = [f"--model={remote_name(index)}" for index in range(payloads)]
    arguments += [
        f"--heap_profiling_path={folder.heap_name}",
        f"--status_path={folder.status_name}",
        f"--memory_ledger_path={folder.ledger_name}",
        f"--run_id={folder.reading_id}",
        f"--profile_level={settings.used_profile_level}",
        f"--log_level={settings.log_level}",
        f"--htp_performance_mode={settings.perf_mode}",
        f"--iteration={settings.iterations}",
        f"--warm_up={settings.warm_up}",
        f"--time_limit={settings.timeout:.3f}",
    ]
    if settings.cycles > 1:
        arguments += [f"--cycles={settings.cycles}", f"--heap_series_path={folder.series_name}"]
    return [*arguments, f"--input_list_path={LIST_NAME}"] if with_inputs else arguments


def _status_of(story: Story, folder: RunFolder, leavings: Leavings) -> RunnerStatus | None:
    """This run's status, its library noted; None when there is none or it is another run's."""
    status = parse_status(leavings.status)
    if status is None or status.run_id != folder.reading_id:
        return None
    story.qnn_build = status.qnn_build
    story.runner_version = status.runner_version
    story.before_bytes = status.heap_before
    if status.qnn_build and STANDIN_BUILD_MARK in status.qnn_build:
        story.simulated = True
    return status


def _planned(model: ModelFacts, context: ContextFacts, index: int) -> Artifact:
    return Artifact(model.name, _source(model, context), remote_name(index), context.sha256, context.size)


def _source(model: ModelFacts, context: ContextFacts) -> str:
    """Where a context binary comes from: a file, or bytes of one."""
    if context.path == model.path and context.size == model.size:
        return context.path
    return context.path if context.offset == 0 else f"{context.path}[{context.offset}+{context.size}]"
