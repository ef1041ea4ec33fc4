"""``heapprof report``: what was measured over time, as one page that stands alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from heapprof_cli import environment
from heapprof_cli.cli import options
from heapprof_cli.cli.history import filter_options, filters_of
from heapprof_cli.cli.output import may_be_written, write_bytes, write_file
from heapprof_cli.cli.streams import note
from heapprof_cli.errors import UsageError
from heapprof_cli.text import clean, plural

_KINDS = ("png", "svg")


@click.command("report", context_settings=options.CONTEXT)
@filter_options
@click.option("--limit", type=click.IntRange(1), default=5000, show_default=True, help="The newest so many results.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("report.html"), show_default=True, metavar="FILE"
)
@click.option("--title", default="DSP heap over time", show_default=True, help="Heading of the page.")
@click.option("--plots", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Also write the plots.")
@click.option(
    "--plot-format",
    "kinds",
    type=click.Choice(_KINDS),
    multiple=True,
    default=_KINDS,
    help="Which files (default: both); may be repeated.",
)
@click.argument("results", nargs=-1, metavar="[RESULT|-]...", type=click.Path(path_type=Path))
def command(
    results: tuple[Path, ...],
    limit: int,
    output: Path,
    title: str,
    plots: Path | None,
    kinds: tuple[str, ...],
    **values: Any,
) -> int:
    """Make a page of the history, or of RESULT...: files of `run --format json` or of `history export`.

    Trends with baseline and limit, cycles with their slope, memory over the stages, all runs with filters, where
    numbers come from. The page loads nothing from anywhere. Needs the extra: pip install 'heapprof-cli[report]'.
    """
    try:
        from heapprof_cli.report.data import report_of
        from heapprof_cli.report.page import page
    except ImportError as error:
        raise UsageError(
            f"`heapprof report` needs a package that is not installed: {error.name}",
            hints=("pip install 'heapprof-cli[report]'; in a checkout .venv/bin/pip install -e '.[report]'",),
        ) from error

    if not may_be_written(output):
        raise UsageError(f"-o {clean(str(output), 300)!r}: can't write such a file", hints=("check the folder",))
    report = report_of(_documents(results, values, limit))
    if not report.runs:
        raise UsageError("there is no result to report", hints=("`heapprof history` lists what there is",))
    try:
        write_file(page(report, title), output)
        note(f"{plural(len(report.runs), 'result')} in {clean(str(output), 300)}")
        if plots is not None:
            plots.mkdir(parents=True, exist_ok=True)
            for name, content in _plots(report, kinds):
                write_bytes(content, plots / name)
                note(f"  {clean(str(plots / name), 300)}")
    except OSError as error:
        where = clean(str(error.filename or output), 300)
        raise UsageError(f"can't write {where}: {error.strerror}", hints=("check the folder",)) from error
    return 0


def _documents(results: tuple[Path, ...], values: dict[str, Any], limit: int) -> Iterator[dict[str, object]]:
    from heapprof_cli import history

    filters = filters_of(values)
    if results:
        from heapprof_cli.cli.history import batches

        wanted = [document for file in results for batch in batches(file) for document in batch]
        if filters != history.Filters():
            raise UsageError("filters are for the history; results that are named are all taken")
        yield from wanted[-limit:]
        return
    with history.opened(history.place(environment.snapshot())) as store:
        for entry in store.find(filters, limit):
            document = store.document(entry.id)
            if document is not None:
                yield document


def _plots(report: Any, kinds: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    from heapprof_cli.report import plots

    drawings = [
        *((f"trend-{series.slug}", f"DSP heap difference: {series.name}", plots.trend(series))
          for series in report.series),
        *((f"cycles-{series.slug}", f"DSP heap by cycle: {series.name}", plots.cycles(found))
          for series, _, found in report.cycles),
        *((f"memory-{series.slug}", f"Memory of the runner: {series.name}", plots.memory(points))
          for series, _, points in report.memory),
    ]  # fmt: skip
    for name, title, draw in drawings:
        for kind in kinds:
            yield f"{name}.{kind}", plots.file_bytes(draw, title, kind)
