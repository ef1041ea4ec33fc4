"""ExecuTorch's own runner, qnn_executor_runner: takes one program, tells nothing but its log and exit status.

Its flags and what it does with them: pytorch/executorch, examples/qualcomm/executor_runner and backends/qualcomm.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from heapprof_cli import heap_file
from heapprof_cli.artifacts import Bundle, Sources
from heapprof_cli.artifacts.executorch import PROGRAM, resolve_executorch
from heapprof_cli.artifacts.inputs import LIST_NAME
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.device import scripts
from heapprof_cli.device.phone import Leavings
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.errors import UsageError
from heapprof_cli.heap_file import HeapFileProblem
from heapprof_cli.model_files import refuse_unmeasurable
from heapprof_cli.records import Artifact, ModelFacts, Payload, Verdict
from heapprof_cli.session.judge import Judgement, judge
from heapprof_cli.session.runners.executorch_outcome import failure_of, without_heap_file
from heapprof_cli.session.runners.seam import Ended, environment
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings

_MODEL = "model_0.pte"
_OUTPUTS = "outputs"
# A backend option's value is an array of 256 bytes, its end included; ExecuTorch cuts longer ones silently.
_LONGEST_PATH = 255
_KIND = "pte"
_USE_NATIVE = "measure with --runner native"


class ExecuTorchRunner:
    """``qnn_executor_runner`` of an ExecuTorch build folder."""

    def check(self, settings: RunSettings, models: Sequence[ModelFacts]) -> None:
        others = [model for model in models if model.kind != _KIND]
        if others:
            raise UsageError(
                f"--runner executorch takes an ExecuTorch program (.pte); {others[0].name} is none",
                hints=(f"{_USE_NATIVE}, which takes it, or name the .pte that it belongs to",),
            )
        if len(models) != 1:
            raise UsageError(
                f"--runner executorch takes exactly one program, {len(models)} were named",
                hints=(f"name one .pte, or {_USE_NATIVE}: it measures several models as one multi-context run",),
            )
        if settings.cycles > 1:
            raise UsageError(
                "--cycles: ExecuTorch's runner creates and frees a program's contexts once in a process",
                hints=(f"use --runs for several fresh processes, or {_USE_NATIVE}",),
            )
        model = models[0]
        refuse_unmeasurable(model)
        if model.backends and "HTP" not in model.backends:
            raise UsageError(
                f"{model.name} was compiled for the {', '.join(model.backends)} backend: only HTP has a DSP heap",
                hints=("export it again for the HTP backend",),
            )

    def warnings(self, settings: RunSettings, models: Sequence[ModelFacts]) -> Sequence[str]:
        found = []
        if models[0].profile_level == 0:
            found.append(
                f"{models[0].name} was compiled with profile level 0; the runner is told --profile_level="
                f"{settings.used_profile_level}, which is to override that"
            )
        if settings.input_list is None and (settings.iterations != 1 or settings.warm_up):
            found.append("without --input-list ExecuTorch's runner executes once, whatever --iterations and --warm-up")
        return found

    def payloads(self, models: Sequence[ModelFacts]) -> AbstractContextManager[tuple[Payload, ...]]:
        return _as_they_are(models)

    def planned(self, models: Sequence[ModelFacts]) -> Sequence[Artifact]:
        return [Artifact(model.name, model.path, _MODEL, model.sha256, model.size) for model in models]

    def fetched(self, folder: RunFolder) -> Sequence[str]:
        return (folder.heap_name,)

    def remote_name(self, index: int) -> str:
        return _MODEL

    def resolve(self, target: Target, htp_arch: int | None, sources: Sources) -> Bundle:
        return resolve_executorch(target, htp_arch, sources)

    def command(self, settings: RunSettings, folder: RunFolder, payloads: int, with_inputs: bool) -> str:
        arguments = _arguments(settings, folder, with_inputs)
        return scripts.start(folder, environment(folder), arguments, PROGRAM, settings.timeout, folders=(_OUTPUTS,))

    def stage_of(self, line: str) -> str | None:
        return None

    def salvage(self, story: Story, folder: RunFolder, leavings: Leavings) -> None:
        _note(story, leavings)

    def judged(self, story: Story, folder: RunFolder, ended: Ended, leavings: Leavings) -> Judgement:
        _note(story, leavings)
        error = failure_of(
            ended.shell, before=story.before_bytes, overdue=leavings.overdue, seconds=story.settings.timeout
        )
        if error is not None:
            raise error
        if leavings.heap is None and not leavings.heap_is_older and not leavings.heap_is_large:
            return without_heap_file(story, ended.shell, leavings)
        return _with_hint(judge(leavings, None), story)


def _arguments(settings: RunSettings, folder: RunFolder, with_inputs: bool) -> list[str]:
    """Every flag that shapes the number is given: one left out would mean what the program was compiled with."""
    arguments = [
        f"--model_path={_MODEL}",
        f"--heap_profiling_path={_uncut(folder.heap_name)}",
        f"--output_folder_path={_OUTPUTS}",
        f"--profile_level={settings.used_profile_level}",
        f"--log_level={settings.log_level}",
        f"--htp_performance_mode={settings.perf_mode}",
        f"--iteration={settings.iterations}",
        f"--warm_up={settings.warm_up}",
    ]
    return [*arguments, f"--input_list_path={LIST_NAME}"] if with_inputs else arguments


def _uncut(path: str) -> str:
    """``path``, which the runner takes whole. Raises UsageError for one that it would cut and write elsewhere."""
    length = len(path.encode("utf-8", "surrogateescape"))
    if length > _LONGEST_PATH:
        raise UsageError(
            f"the heap file's path has {length} bytes; ExecuTorch's runner cuts it after {_LONGEST_PATH}",
            hints=("choose a shorter folder with --workspace",),
        )
    return path


@contextlib.contextmanager
def _as_they_are(models: Sequence[ModelFacts]) -> Iterator[tuple[Payload, ...]]:
    yield tuple(Payload(m.name, m.path, m.sha256, m.size, m.qnn_build) for m in models)


def _with_hint(judgement: Judgement, story: Story) -> Judgement:
    """ExecuTorch counts every context but un-counts only profiled ones: with mixed levels the last line never comes."""
    if judgement.verdict is Verdict.INCOMPLETE and (story.models[0].delegates or 1) > 1:
        hint = f"where delegates have different profile levels ExecuTorch writes one line only: {_USE_NATIVE}"
        return replace(judgement, hints=(hint, *judgement.hints))
    return judgement


def _note(story: Story, leavings: Leavings) -> None:
    """The QNN build is that of the library that was sent: this runner does not tell which one it loaded."""
    htp = next((a for a in story.artifacts if a.name == "libQnnHtp.so"), None)
    story.qnn_build = htp.qnn_build if htp else None
    if leavings.heap is not None:
        try:
            story.before_bytes = heap_file.parse(leavings.heap).before_bytes
        except HeapFileProblem as problem:
            story.before_bytes = problem.before_bytes
