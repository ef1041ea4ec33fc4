"""The pytest plugin: DSP heap as a test's condition. See docs/pytest.md.

pytest loads this module in every session, so it imports nothing of heapprof until a test measures.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from heapprof_cli.records import Result
    from heapprof_cli.virtual import VirtualPhone

MAX_DIFFERENCE = "max_dsp_heap_difference"
NO_LEAK = "no_dsp_leak"
_MARKERS = (
    f'{MAX_DIFFERENCE}(size): no measurement of the test may show a greater difference, such as "4 KiB" or 4096',
    f"{NO_LEAK}(cycles=20): measure with so many cycles; none of the measurements may be a leak",
)
_WAIT_SECONDS = 3600  # tests that run in parallel take turns on the phone
_PROPERTY = "heapprof"


class Heapprof:
    """What the fixture ``heapprof`` gives a test: ``run`` measures, ``results`` keeps what was measured."""

    def __init__(self, defaults: dict[str, object]) -> None:
        self._defaults = defaults
        self.results: list[Result] = []

    def run(self, *models: str | PathLike[str], check: bool = True, **options: object) -> Result:
        """Measure ``models`` together, with the options of ``heapprof run`` as keyword arguments.

        Names are the long options' with underscores; True sets a flag, a list repeats the option. Environment and
        settings file count as they do for the command. Fails the test when there is no valid number or a limit
        among the options is exceeded; with ``check=False`` the test looks at the result itself.
        """
        result = measure(models, {**self._defaults, **options})
        self.results.append(result)
        if check and result.failure is not None:
            hints = "".join(f"\n  hint: {hint}" for hint in result.failure.hints)
            pytest.fail(f"heapprof: {result.failure.message}{hints}", pytrace=False)
        return result


def measure(models: tuple[str | PathLike[str], ...], options: dict[str, object]) -> Result:
    """Measure as the command line would. Options that it would refuse fail the test with its words."""
    import click

    from heapprof_cli.cli import options as cli_options
    from heapprof_cli.cli.main import cli
    from heapprof_cli.cli.recording import record
    from heapprof_cli.cli.run import command
    from heapprof_cli.errors import HeapprofError
    from heapprof_cli.session import measure as measured

    try:
        whole = click.Context(cli, info_name="heapprof")  # a settings file is checked against all commands
        with command.make_context("run", [*_words(options), "--", *map(str, models)], parent=whole) as context:
            values = context.params
            server = cli_options.server_address(values["host"], values["adb_port"])
            settings = cli_options.run_settings(values["models"], server, values, values["soc"])
        result = measured(settings, _Silent())
        if not values["no_history"]:
            record(result, lambda text: warnings.warn(f"heapprof: {text}", stacklevel=3))
        return result
    except click.ClickException as error:
        pytest.fail(f"heapprof: {error.format_message()}", pytrace=False)
    except HeapprofError as error:
        pytest.fail(f"heapprof: {error.message}", pytrace=False)


class _Silent:
    """No progress: pytest's own output is what is looked at; warnings are in the result."""

    def stage(self, name: str, detail: str) -> None: ...

    def moved(self, count: int, total: int) -> None: ...

    def runner_line(self, line: str) -> None: ...

    def warn(self, text: str) -> None: ...


def _words(options: dict[str, object]) -> Iterator[str]:
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            yield flag
        elif isinstance(value, (list, tuple)):
            yield from (f"{flag}={each}" for each in value)
        elif value is not None and value is not False:
            yield f"{flag}={value}"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("heapprof")
    text = "measure on heapprof's virtual phone: the heap numbers are simulated"
    group.addoption("--heapprof-virtual", action="store_true", help=text)
    parser.addini("heapprof_virtual", text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.fixture(scope="session")
def heapprof_virtual_phone(request: pytest.FixtureRequest) -> Iterator[VirtualPhone | None]:
    """The session's virtual phone where --heapprof-virtual asks for it, else None: a real phone is measured."""
    if not (request.config.getoption("heapprof_virtual") or request.config.getini("heapprof_virtual")):
        yield None
        return
    from heapprof_cli.virtual import VirtualPhone

    with VirtualPhone() as phone:
        yield phone


@pytest.fixture
def heapprof(request: pytest.FixtureRequest, heapprof_virtual_phone: VirtualPhone | None) -> Heapprof:
    """Measures DSP heap in a test."""
    defaults: dict[str, object] = {"wait": _WAIT_SECONDS}
    phone = heapprof_virtual_phone
    if phone is not None:
        defaults |= {
            "serial": phone.serial,
            "host": phone.adb_host,
            "adb_port": phone.adb_port,
            "workspace": phone.workspace,
            "alias": "virtual-phone",
        }
    marker = request.node.get_closest_marker(NO_LEAK)
    if marker is not None:
        defaults["cycles"] = _argument(marker, "cycles", 20)
    measuring = Heapprof(defaults)
    request.node.stash[_key()] = measuring
    return measuring


@functools.cache
def _key() -> pytest.StashKey[Heapprof]:
    return pytest.StashKey[Heapprof]()


def _argument(marker: pytest.Mark, name: str, default: Any) -> Any:
    return marker.args[0] if marker.args else marker.kwargs.get(name, default)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """After the test's own code: what its markers demand of its measurements."""
    measuring = item.stash.get(_key(), None)
    try:
        yield
    finally:
        for result in measuring.results if measuring else ():
            item.user_properties.append((_PROPERTY, _in_a_line(result)))
    limit, no_leak = item.get_closest_marker(MAX_DIFFERENCE), item.get_closest_marker(NO_LEAK)
    results = measuring.results if measuring else []
    if (limit or no_leak) and not results:
        pytest.fail("the test is marked for heapprof but measured nothing: use the fixture `heapprof`", pytrace=False)
    if limit is not None:
        _hold_limit(results, _argument(limit, "size", None))
    if no_leak is not None:
        _hold_no_leak(results)


def _hold_limit(results: list[Result], size: object) -> None:
    from heapprof_cli.errors import UsageError
    from heapprof_cli.settings import check_size

    try:
        limit = check_size(str(size), f"{MAX_DIFFERENCE}()")
    except UsageError as error:
        pytest.fail(f"heapprof: {error.message}", pytrace=False)
    for result in results:
        difference = result.reading.difference_bytes if result.reading else None
        if difference is None:
            pytest.fail(f"heapprof: no difference to compare with the limit: {result.summary}", pytrace=False)
        if difference > limit:
            pytest.fail(
                f"heapprof: {_names(result)}: the difference is {difference} bytes, "
                f"{difference - limit} more than the {limit} of {MAX_DIFFERENCE}",
                pytrace=False,
            )


def _hold_no_leak(results: list[Result]) -> None:
    for result in results:
        growth = result.growth
        if growth is None or growth.too_few:
            why = growth.sentence if growth else f"measured in a single cycle: {result.summary}"
            pytest.fail(f"heapprof: {_names(result)}: nothing to tell a leak by: {why}", pytrace=False)
        if growth.leaks:
            pytest.fail(f"heapprof: {_names(result)}: leak: {growth.sentence}", pytrace=False)


def _names(result: Result) -> str:
    return " + ".join(model.name for model in result.models) or "no model"


def _in_a_line(result: Result) -> str:
    reading = result.reading
    numbers = (
        f"before {reading.before_bytes}, after {reading.after_bytes}, difference {reading.difference_bytes} bytes"
        if reading
        else result.summary
    )
    growth = f", {result.growth.verdict}" if result.growth else ""
    simulated = " [simulated]" if result.simulated else ""
    soc = f" on {result.device.soc}" if result.device and result.device.soc else ""
    return f"{_names(result)}{soc}: {numbers}{growth}{simulated}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Every measurement of the session, in a line each."""
    lines = [
        f"{report.nodeid}  {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in getattr(report, "user_properties", ())
        if name == _PROPERTY
    ]
    if lines:
        terminalreporter.section("DSP heap (heapprof)")
        for line in sorted(lines):
            terminalreporter.write_line(line)
