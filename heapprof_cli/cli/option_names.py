"""The names of an option: in the environment and in a settings file."""

from __future__ import annotations

import click


def variable(option: click.Option) -> str:
    """The variable of an option, by the first of its long names: HEAPPROF_PERF_MODE for --perf-mode."""
    names = [name for name in option.opts if name.startswith("--")] or option.opts
    return "HEAPPROF_" + names[0].lstrip("-").replace("-", "_").upper()


def variables(option: click.Option) -> list[str]:
    """All variables of an option, the strongest first: those that it names itself, and :func:`variable`."""
    named = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    own = variable(option)
    return named if own in named else [own, *named]


def keys(option: click.Option) -> list[str]:
    """The keys of an option in a settings file, all its long names: ``perf-mode``, ``htp-performance-mode``."""
    return [name.removeprefix("--") for name in option.opts if name.startswith("--")]


def normal_key(key: str) -> str:
    """A key as :func:`keys` spells it: ``perf_mode`` is ``perf-mode``."""
    return key.replace("_", "-")
