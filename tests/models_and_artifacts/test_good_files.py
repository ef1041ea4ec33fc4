"""Every good file is read right: against a table, against libQnnSystem.so, against the onnx package."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import onnx
import pytest

from heapprof_cli.model_files import extracted, read_model
from heapprof_cli.model_files.graph_table import data_type
from tests.conftest import MODELS
from tests.models_and_artifacts.qnn_system import describe

GOOD = MODELS / "good"
V51, V47 = "v2.51.0.260929181845", "v2.47.0.260601114230"

# name: kind, SoC, its id, HTP arch, QNN build, profile level, online prepare, delegates, contexts, graphs
TABLE = {
    "conv_sm8450_v69_qnn2.51.bin": ("context_binary", "SM8450", 36, 69, V51, None, None, None, 1, 1),
    "conv_sm8550_v73_qnn2.47.bin": ("context_binary", "SM8550", 43, 73, V47, None, None, None, 1, 1),
    "conv_sm8650_v75_qnn2.51.bin": ("context_binary", "SM8650", 57, 75, V51, None, None, None, 1, 1),
    "conv_sm8850_v81_qnn2.51.bin": ("context_binary", "SM8850", 87, 81, V51, None, None, None, 1, 1),
    "three_in_two_out_qnn2.51.bin": ("context_binary", "SM8850", 87, 81, V51, None, None, None, 1, 1),
    "two_graphs_sm8850_v81_qnn2.51.bin": ("context_binary", "SM8850", 87, 81, V51, None, None, None, 1, 2),
    "epcontext_sm8650_embedded.onnx": ("epcontext", "SM8650", 57, 75, V51, None, None, 1, 1, 1),
    "epcontext_sm8850_external.onnx": ("epcontext", "SM8850", 87, 81, V51, None, None, 1, 1, 1),
    "sm8850_p2.pte": ("pte", "SM8850", 87, 81, V51, 2, False, 1, 1, 1),
    "sm8850_p0.pte": ("pte", "SM8850", 87, 81, V51, 0, False, 1, 1, 1),
    "sm8850_online.pte": ("pte", "SM8850", 87, 81, V51, 2, True, 1, 1, 1),
    "sm8850_multi3.pte": ("pte", "SM8850", 87, 81, V51, 2, False, 3, 1, 1),
}
SAME_AS = {
    "epcontext_sm8650_embedded.onnx": "conv_sm8650_v75_qnn2.51.bin",
    "epcontext_sm8850_external.onnx": "conv_sm8850_v81_qnn2.51.bin",
    **{f"sm8850_{name}.pte": "conv_sm8850_v81_qnn2.51.bin" for name in ("p2", "p0", "online", "multi3")},
}
WARNED = {"sm8850_p0.pte": "profile level 0", "sm8850_online.pte": "online_prepare", "sm8850_multi3.pte": "share 1"}


def test_every_good_file_is_in_the_table() -> None:
    assert {path.name for path in GOOD.iterdir()} == set(TABLE)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_good_files(name: str) -> None:
    facts = read_model(GOOD / name)
    assert (
        facts.kind,
        facts.soc,
        facts.soc_model,
        facts.htp_arch,
        facts.qnn_build,
        facts.profile_level,
        facts.online_prepare,
        facts.delegates,
        len(facts.contexts),
        facts.graph_count,
    ) == TABLE[name]
    assert facts.sha256 == hashlib.sha256((GOOD / name).read_bytes()).hexdigest()
    assert facts.size == (GOOD / name).stat().st_size
    assert [WARNED[name] in warning for warning in facts.warnings] == ([True] if name in WARNED else [])


@pytest.mark.parametrize("name", sorted(SAME_AS))
def test_what_a_wrapper_holds_is_found_to_the_byte(name: str) -> None:
    (context,) = read_model(GOOD / name).contexts
    plain = read_model(GOOD / SAME_AS[name])
    assert (context.sha256, context.size) == (plain.sha256, plain.size)
    assert context.binary == plain.contexts[0].binary


@pytest.mark.parametrize("name", sorted(name for name in TABLE if name.endswith(".bin")))
def test_the_real_library_says_the_same(name: str) -> None:
    (context,) = read_model(GOOD / name).contexts
    ours, theirs = context.binary, describe(GOOD / name)
    for fact in ("qnn_build", "core_api", "backend_api", "blob_version", "soc_id", "htp_arch"):
        assert getattr(ours, fact) == theirs[fact], fact
    assert len(ours.graphs) == len(theirs["graphs"])
    for graph, reference in zip(ours.graphs, theirs["graphs"], strict=True):
        assert graph.name == reference["name"]
        record = reference["record"]
        assert (graph.spill_fill_bytes, graph.vtcm_bytes, graph.weight_bytes) == (record[1], record[2], record[11])
        for side in ("inputs", "outputs"):
            seen = [(tensor.name, tensor.dims, tensor.dtype) for tensor in getattr(graph, side)]
            assert seen == [(name, dims, data_type(code)) for name, dims, code in reference[side]]
            for tensor, (_, dims, code) in zip(getattr(graph, side), reference[side], strict=True):
                assert tensor.bytes == math.prod(dims) * int(f"{code & 0xFF:02x}") // 8


@pytest.mark.parametrize("name", sorted(name for name in TABLE if name.endswith(".onnx")))
def test_the_onnx_package_says_the_same(name: str) -> None:
    (node,) = onnx.load(GOOD / name).graph.node
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    content = attributes["ep_cache_context"]
    if not attributes["embed_mode"]:
        content = (GOOD / content.decode()).read_bytes()
    (context,) = read_model(GOOD / name).contexts
    assert context.sha256 == hashlib.sha256(content).hexdigest()


def test_extracted_contexts_are_files_named_by_their_content() -> None:
    models = [read_model(GOOD / name) for name in ("sm8850_multi3.pte", "conv_sm8850_v81_qnn2.51.bin")]
    with extracted(models) as payloads:
        assert [payload.name for payload in payloads] == [model.name for model in models]
        copy = Path(payloads[0].path)
        assert copy.name == f"{payloads[0].sha256}.bin"
        assert hashlib.sha256(copy.read_bytes()).hexdigest() == payloads[0].sha256
        assert payloads[1].path == models[1].path
    assert not copy.exists()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0x08, "int8"), (0x0132, "uint32"), (0x0216, "float16"), (0x0308, "sfixed8"), (0x0416, "ufixed16"),
        (0x0508, "bool8"), (0x0404, "ufixed4"), (0x0608, "0x0608"), (0x7FFF, "0x7fff"),
    ],
)  # fmt: skip
def test_data_types_have_names(code: int, name: str) -> None:
    assert data_type(code) == name
