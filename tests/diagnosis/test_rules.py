"""The catalogue: every rule knows its examples, in whatever dress a log writes them; good logs give none."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest

from heapprof_cli.diagnosis import RunFacts, explain
from heapprof_cli.diagnosis.catalogue import catalogue
from heapprof_cli.diagnosis.codes import one_form, tables
from heapprof_cli.diagnosis.rules import Rule
from tests.diagnosis.ordinary import logcat

RULES = [rule for rule in catalogue().rules.values() if rule.causes]
WITH_EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]
PREFIXES = {
    "bare": "",
    "executorch": "[ERROR] [Qnn ExecuTorch]: ",
    "threadtime": "11-30 23:59:58.017  4711  4712 E QnnDsp  : ",
    "uid and year": "2026-11-30 23:59:58.017 +0100  2000  4711  4712 E QnnDsp: ",
    "brief": "E/QnnDsp ( 4711): ",
    "time": "11-30 23:59:58.017 E/QnnDsp( 4711): ",
    "tag": "E/QnnDsp: ",
    "studio": "2026-11-30 23:59:58.017 4711-4712/com.example.app E/QnnDsp: ",
    "onnxruntime": "2026-11-30 23:59:58.0171 [E:onnxruntime:Default, qnn_backend_manager.cc:251 QnnLogging] ",
    "mllm": "     12.5ms [ ERROR ] ",
    "genie": '[ERROR] "',
    "iso": "2026-11-30T23:59:58.017+01:00 board runner[4711]: ",
}


def _bare(line: str) -> str:
    """An example without the prefix that it came with."""
    from heapprof_cli.diagnosis.prefixes import message_of

    return message_of(line)


def _first_of(rule: Rule) -> set[str]:
    return {cause.id for cause in rule.causes}


@pytest.mark.parametrize(("rule", "example"), WITH_EXAMPLES, ids=lambda value: getattr(value, "id", ""))
def test_a_rule_s_example_gives_its_cause_first(rule: Rule, example: tuple[str, ...]) -> None:
    findings = explain(example).findings
    assert findings, example
    assert findings[0].id in _first_of(rule), (findings[0].id, example)
    assert findings[0].lines


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_change_nothing(prefix: str) -> None:
    """Rules that ask for a QNN context get it from the prefixes that carry one, so those are only dressed further."""
    for rule, example in WITH_EXAMPLES:
        dressed = [PREFIXES[prefix] + (line if rule.context else _bare(line)) for line in example]
        findings = explain(dressed).findings
        assert findings and findings[0].id in _first_of(rule), (rule.id, dressed, [f.id for f in findings])


def _numbers_changed(line: str, chosen: random.Random) -> str:
    """Other SoCs, arches, pids, sizes, handles and paths; codes and what a message's meaning hangs on stay."""
    line = re.sub(r"\b(SM8)\d{3}\b", lambda m: f"{m[1]}{chosen.choice(('350', '550', '650', '850'))}", line)
    line = re.sub(r"(libQnnHtpV)\d\d", lambda m: f"{m[1]}{chosen.choice((68, 69, 73, 75, 79, 81))}", line)
    line = re.sub(r"/data/local/tmp/(?=\w)", lambda m: f"/data/local/tmp/f{chosen.randrange(10**6)}/", line)
    line = re.sub(
        r"\b(pid|tid|fd:|length:|of size|handle) \d+\b", lambda m: f"{m[1]} {chosen.randrange(7, 10**8)}", line
    )
    return re.sub(r"(\.c{1,2}(?:pp)?:)\d+", lambda m: f"{m[1]}{chosen.randrange(9, 9999)}", line)


def test_other_numbers_and_paths_change_nothing() -> None:
    chosen = random.Random(11)
    for rule, example in WITH_EXAMPLES:
        for _ in range(5):
            changed = [_numbers_changed(line, chosen) for line in example]
            findings = explain(changed).findings
            assert findings and findings[0].id in _first_of(rule), (rule.id, changed)


def _forms(code: int) -> Iterator[str]:
    qnn, fastrpc = tables()
    if code in qnn:
        yield from (str(code), hex(code), f"0x{code:08X}", f"-{code}", f"0x{0x8000_0000 | code:x}", qnn[code])
    else:
        signed = code - (1 << 32)
        yield from (
            hex(code),
            f"0x{code:X}",
            str(code),
            str(signed),
            f"0x{code & 0xFFFF:x}",
            f"{code:x}",
            fastrpc[code],
        )
        yield f"0xffffffff{code:08x}"


@pytest.mark.parametrize("code", [*tables()[0], *tables()[1]])
def test_a_code_is_one_thing_in_every_form(code: int) -> None:
    expected = one_form(str(code) if code in tables()[0] else hex(code))
    for form in _forms(code):
        assert one_form(f"err {form}, x") == f"err {expected}, x"


def test_codes_in_messages_in_every_form() -> None:
    asked: list[tuple[int, Callable[[str], str], str]] = [
        (14001, "[Qnn ExecuTorch]: Failed to create device_handle for ID 6, error={}".format, "skel-load-chain"),
        (5005, "<E> Failed to create context from binary with err {}".format, "context-create"),
        (1002, "<E> Failed to initialize graph with id 2, err {}".format, "error-1002"),
        (0x80000406, "<E> DspTransport.openSession qnn_open failed, {}".format, "skel-unable-to-load"),
        (0x80000402, "<E> remote call (error code {})".format, "dsp-memory-words"),
    ]  # fmt: skip
    for code, message, rule in asked:
        for form in _forms(code):
            findings = explain([message(form)]).findings
            assert findings and findings[0].id == rule, (message(form), [f.id for f in findings])


def test_ordinary_logcat_has_no_findings() -> None:
    for seed in (1, 2):
        explanation = explain(logcat(1_000_000, seed).splitlines())
        assert not explanation.findings, [(f.id, f.lines[0].text) for f in explanation.findings]
        assert not explanation.unknown_errors


def test_facts_of_the_run_speak_where_the_log_does_not() -> None:
    def first(**facts: object) -> str:
        return explain([], RunFacts(**facts)).findings[0].id  # type: ignore[arg-type]

    assert first(heap_file="incomplete") == "heap-file-one-line"
    assert first(heap_file="missing") == "heap-file-missing"
    assert first(signal="SIGSEGV") == "run-signal"
    assert first(timed_out=True) == "run-timed-out"
    assert explain([], RunFacts(heap_file="ok", exit_status=0, timed_out=False)).findings == ()


def test_facts_of_the_run_rank_causes() -> None:
    line = '[ERROR] "Could not create context from binary for context index = 0 : err 5005"'
    assert explain([line]).findings[0].stage == "context_binary_version"
    other = RunFacts(htp_arch=75, model_htp_arch=81)
    found = explain([line], other).findings[0]
    assert (found.stage, found.certainty.value) == ("soc_arch_mismatch", "likely")
    older = RunFacts(qnn_build="v2.41.0.1", model_qnn_build="v2.51.0.2", htp_arch=81, model_htp_arch=81)
    assert explain([line], older).findings[0].stage == "context_binary_version"


def test_a_run_s_end_is_only_the_tail_of_a_cause() -> None:
    lines = ["<E> fastrpc memory map for fd: 58 with length: 4 failed with error: 0x1", "Aborted"]
    explanation = explain(lines, RunFacts(signal="SIGABRT", heap_file="missing"))
    assert [(f.id, [line.number for line in f.lines]) for f in explanation.findings] == [("map-refused", [1, 2])]
