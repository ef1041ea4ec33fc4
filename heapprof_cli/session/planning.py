"""What a run would do on a phone, as text: for ``--dry-run``. Nothing is sent and no phone is asked."""

from __future__ import annotations

import shlex

from heapprof_cli import socs
from heapprof_cli.artifacts import Sources, resolve
from heapprof_cli.artifacts.inputs import LIST_NAME, read_input_list
from heapprof_cli.artifacts.targets import TARGETS
from heapprof_cli.device import scripts
from heapprof_cli.device.cache import shared_store
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.model_files import read_model, refuse_unmeasurable
from heapprof_cli.records import ContextFacts, ModelFacts
from heapprof_cli.session.measure import environment, runner_arguments
from heapprof_cli.session.outcome import remote_name
from heapprof_cli.settings import AUTO, RunSettings

_SAMPLE_RUN_ID = "0123456789abcdef"
_DEFAULT_TARGET = "android-arm64"


def planned_commands(settings: RunSettings) -> list[str]:
    """The adb pushes and device commands of a run, in order, with a sample run id."""
    models = [read_model(path) for path in settings.models]
    for model in models:
        refuse_unmeasurable(model)
    inputs = read_input_list(settings.input_list) if settings.input_list else None
    named = socs.find(settings.soc) if settings.soc != AUTO else None
    arch = named.htp_arch if named else models[0].htp_arch
    target = TARGETS[settings.runner_target or _DEFAULT_TARGET]
    bundle = resolve(target, arch, Sources(settings.qnn_libs, settings.qnn_sdk, build_folder=settings.build_folder))
    folder = RunFolder(settings.workspace, _SAMPLE_RUN_ID)
    store = shared_store(settings.workspace)
    pushes = [(artifact.path, artifact.remote_name) for artifact in (bundle.runner, *bundle.libraries)]
    contexts = [(model, context) for model in models for context in model.contexts]
    pushes += [(_source(*each), remote_name(index)) for index, each in enumerate(contexts)]
    if inputs is not None:
        pushes += [(artifact.path, artifact.remote_name) for artifact in inputs.files]
        pushes.append(("(written by heapprof)", LIST_NAME))
    arguments = runner_arguments(settings, folder, len(contexts), inputs is not None)
    return [
        f"# dry run for {target.name}; nothing is sent, no phone was asked",
        f"shell: {scripts.probe(settings.workspace)}",
        f"shell: {scripts.prepare(folder, store)}",
        *(f"push: {shlex.quote(source)} -> {shlex.quote(folder.file(name))}" for source, name in pushes),
        f"shell: {scripts.start(folder, environment(folder), arguments)}",
        f"shell: {scripts.look(folder)}",
        f"pull: {shlex.quote(folder.file(folder.heap_name))}",
        f"pull: {shlex.quote(folder.file(scripts.STATUS_NAME))}",
        *([] if settings.keep else [f"shell: {scripts.remove(folder)}"]),
    ]


def _source(model: ModelFacts, context: ContextFacts) -> str:
    """Where a context binary comes from: a file, or bytes of one."""
    if context.path == model.path and context.size == model.size:
        return context.path
    return context.path if context.offset == 0 else f"{context.path}[{context.offset}+{context.size}]"
