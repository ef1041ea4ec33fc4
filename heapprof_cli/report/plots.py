"""The plots: drawn by matplotlib, as SVG for the page (in the page's own colours) and as PNG or SVG files.

No text of a result gets into a plot on the page; in a file the title is set without any markup.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from heapprof_cli.report.data import Cycles, Point, Series
from heapprof_cli.text import readable_bytes

_MARKED = 200  # with more points than this a line is enough
_MOST_LABELS = 14
mpl.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10, "path.simplify": True})


@dataclass(frozen=True)
class Colors:
    """What things are drawn in. On the page they are placeholders that become the page's variables."""

    text: str
    grid: str
    line: str
    second: str
    third: str
    bad: str
    background: str


# Told apart without seeing colours, too: by form, dashes and order.
FILES = Colors("#1f2328", "#d0d7de", "#0550ae", "#8250df", "#1a7f37", "#cf222e", "#ffffff")
_PAGE = Colors("#010101", "#020202", "#030303", "#040404", "#050505", "#060606", "none")
_VARIABLES = {"#010101": "text", "#020202": "grid", "#030303": "line", "#040404": "second", "#050505": "third",
              "#060606": "bad"}  # fmt: skip

Draw = Callable[[Axes, Colors], None]


def trend(series: Series) -> Draw:
    """The difference of every run over time, with baseline and limit."""

    def draw(axes: Axes, colors: Colors) -> None:
        good = [run for run in series.runs if run.good]
        values = [float(run.summary.difference_bytes or 0) for run in good]
        moments = [_moment(run.summary.started_at) for run in good]
        # Without their times runs are only in an order.
        known = [moment for moment in moments if moment is not None]
        times = len(known) == len(moments)
        places = known if times else [float(number) for number in range(1, len(good) + 1)]
        marker = "o" if len(values) <= _MARKED else ""
        axes.plot(places, values, color=colors.line, marker=marker, markersize=4, linewidth=1.5, label="difference")
        bad = [(x, y) for x, y, run in zip(places, values, good, strict=True) if run.summary.verdict == "over_limit"]
        if bad:
            places_of_bad, values_of_bad = zip(*bad, strict=True)
            axes.plot(places_of_bad, values_of_bad, color=colors.bad, marker="x", linestyle="", label="over its limit")
        if series.baseline is not None:
            axes.axhline(series.baseline, color=colors.third, linestyle="--", linewidth=1, label="baseline")
        if series.limit is not None:
            axes.axhline(series.limit, color=colors.bad, linestyle=":", linewidth=1.5, label="limit")
        _in_bytes(axes)
        axes.set_ylabel("difference")
        if times:
            locator = AutoDateLocator()  # type: ignore[no-untyped-call]
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        else:
            axes.set_xlabel("run")

    return draw


def cycles(found: Cycles) -> Draw:
    """The heap after every cycle, with the slope that was found."""

    def draw(axes: Axes, colors: Colors) -> None:
        numbers = range(len(found.values))
        marker = "o" if len(found.values) <= _MARKED else ""
        axes.plot(
            numbers, found.values, color=colors.line, marker=marker, markersize=4, linewidth=1.5, label="heap after"
        )
        if found.bytes_per_cycle is not None:
            # Through the last value: what was found is a slope, not a place.
            last, end = len(found.values) - 1, found.values[-1]
            fitted = [end - found.bytes_per_cycle * (last - number) for number in (1, last)]
            axes.plot([1, last], fitted, color=colors.second, linestyle="--", linewidth=2, label="slope")
        _in_bytes(axes)
        axes.set_xlabel("cycle (0 is before the first)")
        axes.set_ylabel("DSP heap")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    return draw


def memory(points: Sequence[Point]) -> Draw:
    """The runner's memory on the CPU's side over the stages, stacked; RSS as a line."""

    def draw(axes: Axes, colors: Colors) -> None:
        numbers = list(range(len(points)))
        private = [point.private_dirty or 0 for point in points]
        shared = [max((point.pss or 0) - (point.private_dirty or 0), 0) for point in points]
        dma = [point.dma_buf or 0 for point in points]
        axes.stackplot(
            numbers, private, shared, dma,
            colors=[colors.line, colors.second, colors.third], alpha=0.55,
            labels=["private dirty", "rest of PSS", "DMA-BUF"],
        )  # fmt: skip
        rss = [float("nan") if point.rss is None else point.rss for point in points]
        axes.plot(numbers, rss, color=colors.text, linestyle="--", linewidth=1, label="RSS")
        _in_bytes(axes)
        step = max(1, -(-len(points) // _MOST_LABELS))
        axes.set_xticks(numbers[::step])
        axes.set_xticklabels([point.label for point in points][::step], rotation=35, ha="right", parse_math=False)
        axes.set_ylabel("memory")

    return draw


def page_svg(draw: Draw, prefix: str) -> str:
    """An SVG element for the page: no text of its own, colours are CSS variables, every id begins with ``prefix``."""
    buffer = io.StringIO()
    figure = _figure(draw, _PAGE, "")
    with mpl.rc_context({"svg.hashsalt": prefix}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'(?:xlink:)?href="#', f'href="#{prefix}-', text).replace("url(#", f"url(#{prefix}-")
    for color, name in _VARIABLES.items():
        text = text.replace(color, f"var(--{name})")
    return re.sub(
        r'<svg [^>]*?(viewBox="[^"]+")[^>]*>', r'<svg \1 aria-hidden="true" focusable="false">', text, count=1
    )


def file_bytes(draw: Draw, title: str, kind: str) -> bytes:
    """A plot as a file of the kind ``png`` or ``svg``."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure = _figure(draw, FILES, title)
    with mpl.rc_context({"svg.hashsalt": "heapprof"}):
        figure.savefig(buffer, format=kind, dpi=120, metadata=metadata)
    return buffer.getvalue()


def _figure(draw: Draw, colors: Colors, title: str) -> Figure:
    figure = Figure(figsize=(8, 3.4), layout="constrained", facecolor=colors.background)
    axes = figure.add_subplot()
    axes.set_facecolor("none")
    draw(axes, colors)
    axes.grid(visible=True, color=colors.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(colors.grid)
    axes.tick_params(colors=colors.text)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(colors.text)
    if title:
        axes.set_title(title, color=colors.text, fontsize=10, parse_math=False, wrap=True)
    figure.legend(loc="outside lower center", ncols=5, fontsize=9, frameon=False, labelcolor=colors.text)
    return figure


def _in_bytes(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: readable_bytes(round(value))))
    low, high = axes.get_ylim()
    if high - low < 16:  # equal values: matplotlib would show fractions of a byte
        middle = (low + high) / 2
        low, high = middle - 8, middle + 8
        axes.set_ylim(low, high)
    # Steps of a power of two are whole numbers of KiB.
    axes.yaxis.set_major_locator(MultipleLocator(2 ** max(0, math.ceil(math.log2((high - low) / 6)))))


def _moment(text: str) -> float | None:
    """matplotlib's number of a time such as 2026-12-07T10:00:00Z."""
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
        return float(date2num(moment))  # type: ignore[no-untyped-call]
    except ValueError:
        return None
