"""The programs that can measure on a phone, behind one seam: what they take, send and run, and what they say."""

from heapprof_cli.session.runners.executorch import ExecuTorchRunner
from heapprof_cli.session.runners.native import NativeRunner
from heapprof_cli.session.runners.seam import Ended, Runner
from heapprof_cli.settings import EXECUTORCH, RunSettings

__all__ = ["Ended", "Runner", "runner_of"]


def runner_of(settings: RunSettings) -> Runner:
    """The runner that ``--runner`` names."""
    return ExecuTorchRunner() if settings.runner == EXECUTORCH else NativeRunner()
