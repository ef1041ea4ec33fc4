"""One measurement from settings to result; :mod:`heapprof_cli.session.measure` tells the story."""

from heapprof_cli.session.measure import measure
from heapprof_cli.session.reporting import Reporter

__all__ = ["Reporter", "measure"]
