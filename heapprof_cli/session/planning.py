"""What a run would do on a phone, as text: for ``--dry-run``. Nothing is sent and no phone is asked."""

from __future__ import annotations

import hashlib
import os
import shlex

from heapprof_cli import elf, host, socs
from heapprof_cli.artifacts import Sources
from heapprof_cli.artifacts.inputs import LIST_NAME, read_input_list
from heapprof_cli.artifacts.targets import TARGETS
from heapprof_cli.device import commands, scripts
from heapprof_cli.device.cache import link, part, private_store, shared_store, verify
from heapprof_cli.device.lease import Owner
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.model_files import read_model
from heapprof_cli.records import Artifact
from heapprof_cli.session.runners import runner_of
from heapprof_cli.settings import AUTO, RunSettings

_SAMPLE_RUN_ID = "0123456789abcdef"
_DEFAULT_TARGET = "android-arm64"
_MACHINES = {"x86_64": "linux-x86_64"}


def planned_commands(settings: RunSettings) -> list[str]:
    """The shell calls, transfers and fetches of a run, in order: with a sample run id, a phone that is free, and
    a cache that holds nothing yet. Raises UsageError and PreflightError as a run would."""
    models = [read_model(path) for path in settings.models]
    runner = runner_of(settings)
    runner.check(settings, models)
    inputs = read_input_list(settings.input_list) if settings.input_list else None
    named = socs.find(settings.soc) if settings.soc != AUTO else None
    arch = named.htp_arch if named else models[0].htp_arch
    target = TARGETS[settings.runner_target or _target_of(settings)]
    bundle = runner.resolve(
        target, arch, Sources(settings.qnn_libs, settings.qnn_sdk, build_folder=settings.build_folder)
    )
    folder = RunFolder(settings.workspace, _SAMPLE_RUN_ID)
    store = shared_store(settings.workspace) if settings.cache else private_store(folder)
    owner = Owner.of(_SAMPLE_RUN_ID, host.user_name(), host.identity(), os.getpid())
    files = [*bundle.libraries, *(inputs.files if inputs else ())]
    payloads = runner.planned(models)
    artifacts = [bundle.runner, *files, *payloads]
    if inputs is not None:
        digest = hashlib.sha256(inputs.list_text.encode()).hexdigest()
        artifacts.append(Artifact(LIST_NAME, "(written by heapprof)", LIST_NAME, digest, len(inputs.list_text)))
    return [
        f"# dry run for {target.name}; nothing is sent, no phone was asked",
        f"shell: {commands.survey(settings.workspace, store, closely=True)}",
        f"shell: {commands.open_run(folder, store, owner, None)}",
        *(f"push: {shlex.quote(a.path)} -> {shlex.quote(part(store, _SAMPLE_RUN_ID, a))}" for a in artifacts),
        f"shell: {verify(store, _SAMPLE_RUN_ID, artifacts, [])}",
        f"shell: {link(store, folder, artifacts)}",
        f"shell: {runner.command(settings, folder, len(payloads), inputs is not None)}",
        f"shell: {scripts.look(folder)}",
        *(f"pull: {shlex.quote(folder.file(name))}" for name in runner.fetched(folder)),
        f"shell: {commands.close_run(folder, store, owner, keep=settings.keep)}",
    ]


def _target_of(settings: RunSettings) -> str:
    """The target that the named libraries are for; a phone where they do not tell."""
    facts = elf.read(settings.qnn_libs / "libQnnHtp.so") if settings.qnn_libs else None
    return _MACHINES.get(facts.machine, _DEFAULT_TARGET) if facts else _DEFAULT_TARGET
