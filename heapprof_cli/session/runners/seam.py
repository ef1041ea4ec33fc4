"""What a measurement needs to know of a runner; everything else about the two is their own affair."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from heapprof_cli.artifacts import Bundle, Sources
from heapprof_cli.artifacts.targets import Target
from heapprof_cli.device.phone import Leavings
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.device.shell import ShellResult
from heapprof_cli.records import Artifact, ModelFacts, Payload
from heapprof_cli.session.judge import Judgement
from heapprof_cli.session.story import Story
from heapprof_cli.settings import RunSettings

# Where the DSP looks for libraries after the run's own folder (FastRPC's usual vendor places).
_DSP_FOLDERS = ("/vendor/dsp/cdsp", "/vendor/lib/rfsa/adsp", "/system/lib/rfsa/adsp", "/dsp")


@dataclass(frozen=True)
class Ended:
    """The ended runner process: its shell result and the last stage it announced, where it announces any."""

    shell: ShellResult
    stage_seen: str | None


class Runner(Protocol):
    """One kind of device program."""

    def check(self, settings: RunSettings, models: Sequence[ModelFacts]) -> None:
        """Raises UsageError for models or settings that this runner can't take, before any phone is touched."""

    def warnings(self, settings: RunSettings, models: Sequence[ModelFacts]) -> Sequence[str]:
        """What a user should know of these models and settings with this runner."""

    def payloads(self, models: Sequence[ModelFacts]) -> AbstractContextManager[tuple[Payload, ...]]:
        """The files to send for the models, for as long as they are needed."""

    def planned(self, models: Sequence[ModelFacts]) -> Sequence[Artifact]:
        """The payloads without making files of them: where each comes from, for ``--dry-run``."""

    def fetched(self, folder: RunFolder) -> Sequence[str]:
        """The names of the files in ``folder`` that are fetched after every run."""

    def remote_name(self, index: int) -> str:
        """The safe name of payload ``index`` on the phone; no name of a user's reaches a shell."""

    def resolve(self, target: Target, htp_arch: int | None, sources: Sources) -> Bundle:
        """The runner's program and libraries. Raises PreflightError that names all that is missing."""

    def command(self, settings: RunSettings, folder: RunFolder, payloads: int, with_inputs: bool) -> str:
        """The shell script that runs it once in ``folder``."""

    def stage_of(self, line: str) -> str | None:
        """The stage that a line of its output announces."""

    def salvage(self, story: Story, folder: RunFolder, leavings: Leavings) -> None:
        """Note what a runner whose end was not seen has left."""

    def judged(self, story: Story, folder: RunFolder, ended: Ended, leavings: Leavings) -> Judgement:
        """What this run came to. Raises RunnerError or StageTimeout when the runner did not end well."""


def environment(folder: RunFolder) -> dict[str, str]:
    """The variables under which a runner and the DSP find the libraries."""
    return {
        "LD_LIBRARY_PATH": folder.path,
        "ADSP_LIBRARY_PATH": ";".join((folder.path, *_DSP_FOLDERS)),
    }
