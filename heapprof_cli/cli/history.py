"""``heapprof history``: what was measured over time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from heapprof_cli import environment
from heapprof_cli.cli import options
from heapprof_cli.cli.streams import note, tell

if TYPE_CHECKING:
    from heapprof_cli.history import Filters

F = TypeVar("F", bound=Callable[..., Any])
_BATCH = 500


def filter_options(function: F) -> F:
    """Which results are asked for."""
    decorators: list[Callable[[F], F]] = [
        click.option("--model", metavar="NAME", help="Of models of this name; * and ? stand for anything."),
        click.option("--soc", metavar="NAME", help="Of this SoC."),
        click.option("--phone", metavar="ALIAS", help="Of the phone of this alias."),
        click.option("--verdict", metavar="WORD", help="With this verdict, for example ok or implausible."),
        click.option("--since", metavar="TIME", help="From this time on (UTC): 2026-12-07, 2026-12-07T10:00, 12h, 7d."),
        click.option("--until", metavar="TIME", help="Up to and with this time."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def filters_of(values: dict[str, Any]) -> Filters:
    """The filters by the values of :func:`filter_options`. Raises UsageError."""
    from heapprof_cli.history import Filters
    from heapprof_cli.history.filters import parse_time

    since, until = values["since"], values["until"]
    return Filters(
        model=values["model"],
        soc=values["soc"],
        phone=values["phone"],
        verdict=values["verdict"],
        since=parse_time(since, "--since") if since else None,
        until=parse_time(until, "--until") if until else None,
    )


@click.group("history", invoke_without_command=True, context_settings=options.CONTEXT)
@filter_options
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="The newest so many.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_context
def command(context: click.Context, /, limit: int, form: str, **values: Any) -> int:
    """List what was measured: every result of `run`, `demo` and the pytest plugin is kept (--no-history).

    The file lies in your user's data folder, or where HEAPPROF_HISTORY says.
    """
    if context.invoked_subcommand is not None:
        return 0
    from heapprof_cli import history
    from heapprof_cli.render.history import history_json, history_text

    filters = filters_of(values)
    with history.opened(_place()) as store:
        _tell_of_aside(store)
        entries = store.find(filters, limit)
        total = store.count(filters) if len(entries) == limit else len(entries)
    tell(history_json(entries, total) if form == "json" else history_text(entries, total), end="")
    return 0


@command.command("show", context_settings=options.CONTEXT)
@click.argument("number", type=click.IntRange(1), metavar="ID")
def show(number: int) -> int:
    """Print result ID as `run --format json` printed it."""
    import json

    from heapprof_cli import history
    from heapprof_cli.errors import UsageError

    with history.opened(_place()) as store:
        document = store.document(number)
    if document is None:
        raise UsageError(f"there is no result {number} in the history", hints=("`heapprof history` lists them",))
    tell(json.dumps(document, indent=2, ensure_ascii=False))
    return 0


@command.command("export", context_settings=options.CONTEXT)
@filter_options
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Not to stdout.")
def export(output: Path | None, **values: Any) -> int:
    """Write results as JSON lines, the oldest first."""
    from heapprof_cli import history
    from heapprof_cli.errors import UsageError
    from heapprof_cli.text import clean, plural

    filters = filters_of(values)
    count = 0
    with history.opened(_place()) as store:
        if output is None:
            for text in store.texts(filters):
                tell(text)
            return 0
        try:
            with output.open("w", encoding="utf-8") as file:
                for text in store.texts(filters):
                    file.write(text + "\n")
                    count += 1
        except OSError as error:
            raise UsageError(f"can't write {clean(str(output), 300)}: {error.strerror}") from error
    note(f"{plural(count, 'result')} in {clean(str(output), 300)}")
    return 0


@command.command("import", context_settings=options.CONTEXT)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|-...")
def import_(files: tuple[Path, ...]) -> int:
    """Add results of FILE: JSON lines of `export`, or a result of `run --format json`. Known ones are left out."""
    from heapprof_cli import history
    from heapprof_cli.text import plural

    added = known = 0
    with history.opened(_place()) as store:
        _tell_of_aside(store)
        for file in files:
            for batch in batches(file):
                for _, new in store.add_all(batch):
                    added, known = added + new, known + (not new)
    tell(f"{plural(added, 'result')} added, {known} known already")
    return 0


def batches(file: Path) -> Iterator[list[dict[str, object]]]:
    """The results in a file, some at a time. Raises UsageError that names the line; earlier batches are kept then."""
    from heapprof_cli.errors import UsageError
    from heapprof_cli.history.documents import results_in
    from heapprof_cli.text import clean

    shown = "stdin" if str(file) == "-" else clean(str(file), 300)
    try:
        stream = sys.stdin.buffer if str(file) == "-" else file.open("rb")
        with stream:
            batch = []
            for document in results_in(stream, shown):
                batch.append(document)
                if len(batch) >= _BATCH:
                    yield batch
                    batch = []
            yield batch
    except OSError as error:
        raise UsageError(f"can't read {shown}: {error.strerror}", hints=("check the path",)) from error


def _place() -> Path:
    from heapprof_cli import history

    return history.place(environment.snapshot())


def _tell_of_aside(store: Any) -> None:
    from heapprof_cli.text import clean

    if store.put_aside is not None:
        note(f"the history was damaged or of a newer heapprof: it lies at {clean(str(store.put_aside), 300)} now")
