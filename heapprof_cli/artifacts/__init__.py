"""Artifacts: the files that a run sends, where they come from, and what is missing."""

from heapprof_cli.artifacts.places import Sources
from heapprof_cli.artifacts.resolving import STANDIN_BUILD_MARK, Bundle, resolve

__all__ = ["STANDIN_BUILD_MARK", "Bundle", "Sources", "resolve"]
