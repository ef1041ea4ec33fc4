"""Cycles, threads, the series, the memory ledger, and the stand-in chained to the real library."""

from __future__ import annotations

import json
import signal

import pytest

from tests.native.runner_tools import AFTER, BEFORE, GOOD, REFERENCE

MODELS = [
    GOOD / "conv_sm8850_v81_qnn2.51.bin",
    GOOD / "two_graphs_sm8850_v81_qnn2.51.bin",
    GOOD / "three_in_two_out_qnn2.51.bin",
]
LEDGER = ["--memory_ledger_path=ledger.jsonl"]
SERIES = ["--heap_series_path=series.csv"]
SIZES = [
    "rss_bytes", "peak_rss_bytes", "pss_bytes", "private_dirty_bytes", "dma_buf_bytes", "dma_buf_mapped_bytes",
    "system_free_bytes", "system_available_bytes",
]  # fmt: skip


def series(result):
    lines = (result.folder / "series.csv").read_text().splitlines()
    assert lines[0] == "cycle,before_bytes,after_bytes"
    return [tuple(int(word) if word else None for word in line.split(",")) for line in lines[1:]]


def ledger(result):
    return [json.loads(line) for line in (result.folder / "ledger.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_leak_comes_out_as_exactly_its_slope(run, standin, threads):
    flags = ["--cycles=50", f"--threads={threads}", *SERIES]
    result = run(*MODELS, flags=flags, libraries=standin(leak_per_cycle=4096))
    assert result.code == 0, result.stderr
    assert series(result) == [(i, 928212 + 4096 * (i - 1), 928212 + 4096 * i) for i in range(1, 51)]
    assert result.heap == BEFORE.format(928212) + AFTER.format(928212 + 50 * 4096)
    assert result.status["heap"]["events"] == 100


def test_a_one_time_cost_comes_out_as_no_slope(run, standin):
    result = run(*MODELS, flags=["--cycles=20", *SERIES], libraries=standin(one_time=65536))
    grown = 928212 + 65536
    assert series(result) == [(1, 928212, grown), *((i, grown, grown) for i in range(2, 21))]
    assert result.heap == BEFORE.format(928212) + AFTER.format(grown)


def test_unknown_values_of_a_series_are_empty(run, standin, conv):
    result = run(conv, flags=["--cycles=2", *SERIES], libraries=standin(events="after"))
    assert series(result) == [(1, None, 928212), (2, None, 928212)]


def test_a_crash_in_a_later_cycle_keeps_the_first_line_and_the_series(run, standin, conv):
    result = run(conv, flags=["--cycles=5", *SERIES], libraries=standin(crash_stage="execute", crash_at=3))
    assert (result.code, result.status["signal"]) == (30, signal.SIGSEGV)
    assert result.heap == BEFORE.format(928212)
    assert [row[0] for row in series(result)] == [1, 2]
    assert "cycle=3" in result.stderr.splitlines()[-2]


def test_an_error_in_a_later_cycle_ends_the_run(run, standin, conv):
    result = run(conv, conv, flags=["--cycles=5", *SERIES], libraries=standin(fail_stage="create", fail_at=6))
    assert (result.code, result.error["stage"]) == (22, "create")
    assert [row[0] for row in series(result)] == [1, 2, 3]


@pytest.mark.parametrize("threads", [2, 3, 64])
def test_threads_keep_first_create_and_last_free(run, standin, threads):
    # Delays make the calls overlap: a reading that isn't of the first create or the last free would
    # hold the 64 KB of another context.
    libraries = standin(create_delay_ms=3, execute_delay_ms=1)
    result = run(*MODELS * 3, flags=["--cycles=5", f"--threads={threads}", *SERIES], libraries=libraries)
    assert result.code == 0, result.stderr
    assert {row[1:] for row in series(result)} == {(928212, 928212)}


@pytest.mark.parametrize("failing", [1, 2, 5])
def test_threads_and_a_failed_create(run, standin, conv, failing):
    libraries = standin(fail_stage="create", fail_at=failing, create_delay_ms=2)
    result = run(*[conv] * 6, flags=["--threads=4"], libraries=libraries)
    assert result.code == 22
    assert result.heap == (None if failing == 1 else REFERENCE)
    assert result.stages.count("free") < 6


def test_ledger_has_a_line_at_each_checkpoint(run, conv):
    result = run(conv, flags=["--cycles=2", *LEDGER])
    rows = ledger(result)
    cycle = ["before_create", "after_create", "after_execute", "after_free"]
    assert [row["checkpoint"] for row in rows] == ["start", *cycle, *cycle, "end"]
    assert [row["cycle"] for row in rows] == [None, *[1] * 4, *[2] * 4, None]
    for row in rows:
        assert sorted(row) == sorted(["checkpoint", "cycle", "seconds", *SIZES])
        assert all(row[key] is None or isinstance(row[key], int) for key in SIZES)
        assert 0 < row["rss_bytes"] <= row["peak_rss_bytes"]
        assert row["pss_bytes"] is None or 0 < row["pss_bytes"] <= row["rss_bytes"]
        assert row["system_free_bytes"] > 0
    times = [row["seconds"] for row in rows]
    assert times == sorted(times)


def test_ledger_of_a_crash_ends_where_it_happened(run, standin, conv):
    rows = ledger(run(conv, flags=LEDGER, libraries=standin(crash_stage="free")))
    assert rows[-1]["checkpoint"] == "after_execute"


def test_ledger_sees_a_contexts_memory_come_and_go(run, real):
    run.heap = False
    rows = {row["checkpoint"]: row for row in ledger(run(*MODELS, flags=LEDGER, libraries=real))}
    assert rows["after_create"]["rss_bytes"] > rows["before_create"]["rss_bytes"]


def test_unwritable_ledger_and_series_are_write_errors(run, conv):
    for flag in ("--memory_ledger_path", "--heap_series_path"):
        result = run(conv, flags=[f"{flag}=/proc/nowhere/x"])
        assert result.code == 25 and "/proc/nowhere/x" in result.error["message"], flag


# With threads, malloc may open another of its pools at any time: a step, but no slope.
@pytest.mark.parametrize(("threads", "limit"), [(1, 64 * 1024), (4, 1024 * 1024)])
def test_the_runner_itself_does_not_grow(run, threads, limit):
    result = run(*MODELS, flags=["--cycles=200", f"--threads={threads}", *LEDGER])
    sizes = [row["rss_bytes"] for row in ledger(result) if row["checkpoint"] == "after_free"]
    assert len(sizes) == 200
    assert max(sizes[100:]) - min(sizes[100:]) <= limit


def test_chained_standin_runs_the_real_library_with_simulated_events(run, standin, real):
    libraries = standin(chain=real.htp, leak_per_cycle=4096)
    flags = ["--cycles=8", "--threads=4", *SERIES, "--htp_performance_mode=burst"]
    result = run(*MODELS, flags=flags, libraries=libraries)
    assert result.code == 0, result.stderr
    assert series(result) == [(i, 928212 + 4096 * (i - 1), 928212 + 4096 * i) for i in range(1, 9)]
    assert result.status["library"]["build_id"].startswith("v0.0.0-heapprof-standin+v2.")


def test_chained_standin_passes_real_errors_on(run, standin, real):
    result = run(GOOD.parent / "bad" / "blobzero.bin", libraries=standin(chain=real.htp))
    assert (result.code, result.error["code"]) == (22, 5005)
    broken = run(MODELS[0], libraries=standin(chain="/no/such/libQnnHtp.so"))
    assert broken.code == 21 and "/no/such/libQnnHtp.so" in broken.error["message"]


def test_spill_fill_sharing_is_asked_for(run, standin, real, conv):
    flags = ["--share_spill_fill=1048576"]
    assert run(conv, conv, conv, flags=flags).code == 0  # the stand-in checks the group's first handle
    run.heap = False
    refused = run(conv, conv, flags=flags, libraries=real)
    assert (refused.code, refused.error["code"]) == (22, 5010)
    assert "spill-fill" in refused.error["message"]
