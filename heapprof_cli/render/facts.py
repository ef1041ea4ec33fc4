"""What a result was measured on, in words that table, Markdown and JUnit share."""

from __future__ import annotations

from collections.abc import Iterator

from heapprof_cli.records import Result

SIMULATED = "simulated heap numbers"


def measured_on(result: Result) -> Iterator[tuple[str, str]]:
    """Label and value: phone, SoC, QNN build, runner, performance mode."""
    device = result.device
    if device is not None:
        android = f", Android {device.android}" if device.android else ""
        virtual = ", virtual" if device.virtual else ""
        yield "phone", f"{device.model or 'unknown model'} ({device.alias}{android}{virtual})"
        arch = f"HTP V{device.htp_arch}" if device.htp_arch else "HTP arch unknown"
        yield "SoC", f"{device.soc or 'unknown'}, {arch}"
    yield "QNN build", result.qnn_build or "unknown"
    yield "runner", f"{result.runner}, {result.target or 'not chosen'}"
    yield "performance", str(result.settings.get("perf_mode", "unknown"))


_MEMORY = {"rss_bytes": "runner's RSS", "pss_bytes": "runner's PSS", "dma_buf_bytes": "DMA-BUF"}


def judged(result: Result) -> Iterator[tuple[str, str]]:
    """Label and sentence: what the cycles, the runs and the baseline say."""
    if result.growth is not None:
        yield "cycles", f"{result.growth.verdict}: {result.growth.sentence}"
    if result.noise is not None:
        yield "runs", result.noise.sentence
    if result.baseline is not None:
        yield "baseline", f"{result.baseline.outcome}: {result.baseline.sentence}"
    for name, growth in result.memory_growth.items():
        yield _MEMORY[name], f"{growth.verdict}: {growth.sentence}"
