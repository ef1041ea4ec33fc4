"""The page: a Jinja2 template in which every value is escaped, filled with a report."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import jinja2
from markupsafe import Markup

from heapprof_cli import __version__
from heapprof_cli.report import plots
from heapprof_cli.report.data import Report, facts
from heapprof_cli.text import clean, readable_bytes

_TEMPLATE = Path(__file__).with_name("page.html.j2")


def page(report: Report, title: str, made: datetime | None = None) -> str:
    """The whole page as text. It loads nothing: styles, script and plots are in it."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["readable"] = readable_bytes
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    moment = made or datetime.now(timezone.utc)
    return template.render(
        report=report,
        title=clean(title, 200),
        made=moment.strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        trends=[(series, _svg(plots.trend(series), f"t{n}")) for n, series in enumerate(report.series)],
        cycles=[(series, run, found, _svg(plots.cycles(found), f"c{n}"))
                for n, (series, run, found) in enumerate(report.cycles)],
        memory=[(series, run, points, _svg(plots.memory(points), f"m{n}"))
                for n, (series, run, points) in enumerate(report.memory)],
        newest=[(series, facts(series.newest)) for series in report.series],
        socs=sorted({run.summary.soc or "unknown" for run in report.runs}),
        phones=sorted({run.summary.phone or "unknown" for run in report.runs}),
        verdicts=sorted({run.summary.verdict for run in report.runs}),
    )  # fmt: skip


def _svg(draw: plots.Draw, prefix: str) -> Markup:
    return Markup(plots.page_svg(draw, prefix))  # made here, without any text of a result
