"""Where the ``heapprof`` process begins: interrupts are understood from here on, before slow imports."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130  # ExitCode.INTERRUPTED, which is not imported yet


class _Interrupted(KeyboardInterrupt):
    """Python ends a process by SIGINT, whatever its exit code, once a plain KeyboardInterrupt has passed through
    an exec() of source text, as in the making of dataclasses; it does not for this one."""


def main() -> NoReturn:
    """Run the command line and end the process with a code of the contract."""
    try:
        _interrupt_on(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        from heapprof_cli.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
        if sys.stderr is not None:
            sys.stderr.write("heapprof: interrupted\n")
    sys.exit(code)


def _interrupt_on(*signals: signal.Signals) -> None:
    """Let SIGTERM and a closed terminal clean up as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise _Interrupted

    for number in signals:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup keeps its meaning
            signal.signal(number, interrupt)
