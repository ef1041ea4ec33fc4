"""Verdicts: only this run's complete and plausible reading counts."""

import json

import pytest

from heapprof_cli.device.phone import Leavings
from heapprof_cli.errors import RunnerError, StageTimeout
from heapprof_cli.records import HeapReading, Payload, Verdict
from heapprof_cli.session.judge import judge
from heapprof_cli.session.outcome import failure_of
from heapprof_cli.session.runner_status import parse_status

MODEL = Payload("my model.bin", "/x/my model.bin", "0" * 64, 1, "v2.51")


def heap(before: int, after: int) -> bytes:
    return f"DSP:before_context_created (bytes), {before}\nDSP:after_context_freed (bytes), {after}\n".encode()


def status(**fields: object) -> bytes:
    return json.dumps({"run_id": "r", "stage": "done", **fields}).encode()


def heap_status(before: int | None, after: int | None, events: int = 2) -> bytes:
    return status(heap={"before_bytes": before, "after_bytes": after, "events": events})


def leavings(content: bytes | None, *, older: bool = False, others: tuple[str, ...] = ()) -> Leavings:
    return Leavings(content, older, False, others, None)


@pytest.mark.parametrize(
    ("left", "told", "verdict", "reading"),
    [
        (leavings(heap(5, 5)), heap_status(5, 5), Verdict.OK, HeapReading(5, 5)),
        (leavings(heap(5, 9)), heap_status(5, 9), Verdict.OK, HeapReading(5, 9)),
        (leavings(heap(9, 5)), heap_status(9, 5), Verdict.IMPLAUSIBLE, HeapReading(9, 5)),
        (leavings(heap(5, 5)), heap_status(5, 6), Verdict.STALE, None),
        (leavings(heap(5, 5)), heap_status(None, None), Verdict.STALE, None),
        (leavings(None, older=True), heap_status(5, 5), Verdict.STALE, None),
        (leavings(None), heap_status(None, None, 0), Verdict.MISSING, None),
        (leavings(None), heap_status(5, 5), Verdict.MISSING, None),
        (leavings(None, others=("/w/heap.txt",)), heap_status(None, None, 0), Verdict.STALE, None),
        (leavings(heap(5, 5)[:42]), heap_status(5, None, 1), Verdict.MALFORMED, None),
        (leavings(heap(5, 5).splitlines()[0]), heap_status(5, None, 1), Verdict.INCOMPLETE, None),
        (leavings(b"garbage"), heap_status(5, 5), Verdict.MALFORMED, None),
        (Leavings(None, False, True, (), None), heap_status(5, 5), Verdict.MALFORMED, None),
    ],
)
def test_verdicts(left: Leavings, told: bytes, verdict: Verdict, reading: HeapReading | None) -> None:
    judgement = judge(left, parse_status(told))
    assert (judgement.verdict, judgement.reading) == (verdict, reading)
    assert judgement.sentence
    assert verdict is Verdict.OK or judgement.hints


@pytest.mark.parametrize("data", [None, b"", b"[1]", b"{", b"\xff\xfe", b"[" * 100_000, b"null"])
def test_a_status_that_is_none_is_none(data: bytes | None) -> None:
    assert parse_status(data) is None


def test_status_fields_of_wrong_types_are_unknown() -> None:
    found = parse_status(status(exit_code="22", error=[], heap={"before_bytes": True}, signal_name=11))
    assert found is not None
    assert (found.exit_code, found.error_code, found.heap_before, found.signal_name) == (None, None, None, None)


def test_status_text_is_cleaned() -> None:
    found = parse_status(status(error={"message": "\x1b[31mboom\x00", "model": "m\n"}))
    assert found is not None
    assert found.error_message == "boom\ufffd"


@pytest.mark.parametrize(
    ("shell", "told", "seen", "kind", "words"),
    [
        (22, status(stage="create", error={"code": 1000, "message": "no DSP profiling", "model": "model_0.bin"}), None,
         RunnerError, ["'create'", "my model.bin", "1000", "no DSP profiling"]),
        (30, status(stage="execute", signal_name="SIGSEGV"), None, RunnerError, ["SIGSEGV", "'execute'"]),
        (139, None, "create", RunnerError, ["SIGSEGV", "'create'"]),
        (137, None, None, RunnerError, ["SIGKILL", "'start'"]),
        (31, status(stage="execute"), None, StageTimeout, ["time limit", "'execute'"]),
        (126, None, None, RunnerError, ["can't execute the runner", "Permission denied"]),
        (127, None, None, RunnerError, ["can't execute the runner"]),
        (20, None, "load", RunnerError, ["'load'", "exit status 20"]),
        (1, None, None, RunnerError, ["exit status 1"]),
    ],
)  # fmt: skip
def test_a_failed_runner_is_explained(
    shell: int, told: bytes | None, seen: str | None, kind: type[Exception], words: list[str]
) -> None:
    tail = "Permission denied" if shell == 126 else ""
    error = failure_of(shell, parse_status(told), seen, tail, (MODEL,))
    assert isinstance(error, kind)
    for word in words:
        assert word in error.message
    assert error.hints


def test_a_good_end_is_no_failure() -> None:
    assert failure_of(0, None, None, "noise", ()) is None
