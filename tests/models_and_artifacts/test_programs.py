"""ExecuTorch programs of every shape: where payloads lie, older schemas, and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files import extracted, read_model
from heapprof_cli.model_files.qnn_options import QnnOptions, parse_options
from heapprof_cli.records import ModelFacts
from tests.models_and_artifacts.made_programs import (
    CONTEXT,
    OTHER_CONTEXT,
    Delegate,
    compile_spec,
    prefixed,
    program,
)


def read(tmp_path: Path, content: bytes, name: str = "made.pte") -> ModelFacts:
    path = tmp_path / name
    path.write_bytes(content)
    return read_model(path)


def digests(*contents: bytes) -> list[str]:
    return [hashlib.sha256(content).hexdigest() for content in contents]


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
def test_payloads_lie_inline_or_in_a_segment_with_or_without_prefix(tmp_path: Path, inline: bool, prefix: bool) -> None:
    payload = prefixed(CONTEXT) if prefix else CONTEXT
    facts = read(tmp_path, program([Delegate()], [payload], inline=inline))
    assert [context.sha256 for context in facts.contexts] == digests(CONTEXT)
    assert (facts.soc, facts.htp_arch, facts.profile_level, facts.online_prepare) == ("SM8850", 81, 2, False)


def test_several_plans_and_payloads_are_measured_in_their_order(tmp_path: Path) -> None:
    content = program([Delegate(1), Delegate(0)], [prefixed(CONTEXT), prefixed(OTHER_CONTEXT)], plans=2)
    facts = read(tmp_path, content)
    assert [context.sha256 for context in facts.contexts] == digests(OTHER_CONTEXT, CONTEXT)
    assert facts.delegates == 4
    assert any("4 delegates share 2 payloads" in warning for warning in facts.warnings)
    with extracted([facts]) as payloads:
        assert [p.name for p in payloads] == ["made.pte (context 1)", "made.pte (context 2)"]


def test_equal_payloads_in_different_places_count_once(tmp_path: Path) -> None:
    facts = read(tmp_path, program([Delegate(0), Delegate(1)], [prefixed(CONTEXT), CONTEXT]))
    assert [context.sha256 for context in facts.contexts] == digests(CONTEXT)
    assert facts.delegates == 2


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("log_level", range(6))
@pytest.mark.parametrize(("profile", "online"), [(0, False), (1, True), (2, False)])
def test_compile_specs_of_both_schemas(old: bool, length: bool, log_level: int, profile: int, online: bool) -> None:
    spec = compile_spec(profile=profile, online=online, log_level=log_level, old=old, length=length)
    assert parse_options(spec) == QnnOptions(87, 81, 2, profile, online)


def test_what_a_program_was_compiled_for_is_compared_with_what_it_holds(tmp_path: Path) -> None:
    facts = read(tmp_path, program([Delegate(spec=compile_spec(soc=57, arch=75))], [CONTEXT]))
    assert (facts.soc, facts.htp_arch) == ("SM8850", 81)
    assert any("compile spec says HTP V75" in warning for warning in facts.warnings)


def test_another_backend_of_qnn_is_told(tmp_path: Path) -> None:
    facts = read(tmp_path, program([Delegate(spec=compile_spec(backend=1))], [CONTEXT]))
    assert any("GPU backend" in warning for warning in facts.warnings)


def test_online_prepare_with_a_graph_as_payload_is_readable_but_not_measurable(tmp_path: Path) -> None:
    facts = read(tmp_path, program([Delegate(spec=compile_spec(online=True))], [b"PK\3\4 a graph"]))
    assert (facts.online_prepare, facts.contexts, facts.soc) == (True, (), "SM8850")
    with pytest.raises(ModelFileError, match="online_prepare") as caught, extracted([facts]):
        pass
    assert caught.value.hints


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (program([Delegate(backend="XnnpackBackend")], [CONTEXT]), "XnnpackBackend"),
        (program([], [CONTEXT]), "no delegate at all"),
        (program([Delegate(3)], [CONTEXT]), "part 3 of a list of 1"),
        (program([Delegate()], [b""]), "payload is empty"),
        (program([Delegate()], [CONTEXT], segment_offsets=[1 << 60]), "outside the file"),
        (program([Delegate()], [CONTEXT], segment_offsets=[64]), "outside the file"),
        (program([Delegate()], [prefixed(CONTEXT, len(CONTEXT) + 1)]), "its prefix announces"),
        (program([Delegate()], [prefixed(CONTEXT, len(CONTEXT) - 1)]), "cut off"),
        (program([Delegate()], [prefixed(b"")]), "its prefix announces"),
        (program([Delegate()], [b"no context binary at all, but long enough for a header"]), "signature"),
        (program([Delegate(spec=b"\xff" * 64)], [CONTEXT]), "damaged ExecuTorch program"),
        (program([Delegate()], [CONTEXT])[:-1], "is cut off"),
        (program([Delegate()], [CONTEXT])[:300], "is cut off"),
        (program([Delegate()], [CONTEXT])[:20], "header is cut off"),
        (program([Delegate()], [CONTEXT], inline=True)[:-50_000], "damaged ExecuTorch program"),
    ],
)
def test_programs_that_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(ModelFileError, match=r"made\.pte") as caught:
        read(tmp_path, content)
    assert words in caught.value.message
    assert caught.value.hints
