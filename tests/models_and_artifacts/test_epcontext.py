"""ONNX EPContext models: several nodes, embedded and external contexts, and paths that lead astray."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper, save

from heapprof_cli.errors import ModelFileError
from heapprof_cli.model_files import extracted, read_model
from tests.models_and_artifacts.made_programs import CONTEXT, OTHER_CONTEXT


def node(index: int = 0, **attributes: Any) -> Any:
    attributes = {"source": "QNN", **attributes}
    return helper.make_node("EPContext", [f"x{index}"], [f"y{index}"], domain="com.microsoft", **attributes)


def write(path: Path, *nodes: Any) -> Path:
    value = helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1])
    graph = helper.make_graph(list(nodes), "g", [value], [])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("com.microsoft", 1)]), path)
    return path


def external(name: str, **attributes: Any) -> Any:
    return node(embed_mode=0, ep_cache_context=name, **attributes)


def test_several_nodes_embedded_and_external(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.bin").write_bytes(OTHER_CONTEXT)
    nodes = [
        node(0, ep_cache_context=CONTEXT),  # embed_mode is 1 where it is absent
        external("sub/other.bin"),
        external("./sub/../sub/other.bin"),
        node(3, main_context=0),
    ]
    facts = read_model(write(tmp_path / "m.onnx", *nodes))
    assert [c.sha256 for c in facts.contexts] == [hashlib.sha256(c).hexdigest() for c in (CONTEXT, OTHER_CONTEXT)]
    assert facts.delegates == 4
    with extracted([facts]) as payloads:
        assert [Path(payload.path).read_bytes() for payload in payloads] == [CONTEXT, OTHER_CONTEXT]
        assert payloads[1].path == str(tmp_path / "sub" / "other.bin")


def test_models_are_known_by_their_content_too(tmp_path: Path) -> None:
    facts = read_model(write(tmp_path / "model.bin", node(ep_cache_context=CONTEXT)))
    assert facts.kind == "epcontext"


def test_nodes_of_other_backends_are_left_out(tmp_path: Path) -> None:
    both = write(tmp_path / "m.onnx", node(ep_cache_context=CONTEXT), node(1, source="TensorRT", ep_cache_context=b"x"))
    facts = read_model(both)
    assert (facts.delegates, len(facts.contexts)) == (1, 1)
    assert "another backend" in facts.warnings[0]


@pytest.mark.parametrize("name", ["../out.bin", "/etc/hostname", "link.bin", "folder/../../out.bin", "loop.bin"])
def test_a_path_may_not_leave_the_model_s_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "models"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "out.bin").write_bytes(CONTEXT)
    (folder / "link.bin").symlink_to(tmp_path / "out.bin")
    (folder / "loop.bin").symlink_to(folder / "loop.bin")
    with pytest.raises(ModelFileError) as caught:
        read_model(write(folder / "m.onnx", external(name)))
    assert "outside its own folder" in caught.value.message or (
        name == "loop.bin" and "missing" in caught.value.message
    )


def test_context_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.bin")
    (tmp_path / "empty.bin").write_bytes(b"")
    (tmp_path / "cut.bin").write_bytes(CONTEXT[:-1])
    for name, words in (
        ("gone.bin", "missing beside it"),
        ("fifo.bin", "not a regular file"),
        ("empty.bin", "is empty"),
        ("cut.bin", "cut off"),
        ("", "without a context"),
        (".", "not a regular file"),
        ("a\0b", "no usable path"),
        ("x" * 5000, "no usable path"),
    ):
        with pytest.raises(ModelFileError) as caught:
            read_model(write(tmp_path / "m.onnx", external(name)))
        assert words in caught.value.message, name
        assert caught.value.hints or words != "missing beside it"


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([node(source="OpenVINO", ep_cache_context=b"x")], "another backend (OpenVINO)"),
        ([node()], "without a context"),
        ([node(main_context=0)], "without a context"),
        ([node(ep_cache_context=CONTEXT[:100])], "cut off"),
        ([node(ep_cache_context=b"something else that is longer than a header is")], "signature"),
        ([helper.make_node("Relu", ["x0"], ["y0"])], "without an EPContext node"),
    ],
)
def test_models_that_are_refused(tmp_path: Path, nodes: list[Any], words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        read_model(write(tmp_path / "m.onnx", *nodes))
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("name", "content", "words", "hint"),
    [
        ("m.dlc", b"PK\3\4" + bytes(60), "a DLC", "qnn-context-binary-generator --dlc_path"),
        ("m.zip", b"PK\3\4" + bytes(20) + b"model.params" + bytes(60), "a DLC", "--dlc_path"),
        ("m.zip", b"PK\3\4" + bytes(60), "a zip archive", "unpack"),
        ("qnn.aar", b"PK\3\4" + bytes(60), "Android archive", "--qnn-libs"),
        ("m.tflite", b"\x1c\0\0\0TFL3" + bytes(60), "TensorFlow Lite", "qnn-tflite-converter"),
        ("libmodel.so", b"\x7fELF\2\1\1" + bytes(60), "shared library", "--model"),
        ("m.onnx", b"\x08\x07\x3a\xff\xff\xff\xff\x0f", "damaged ONNX", "write it again"),
        ("m.onnx", b"not protobuf at all", "ONNX", "ep.context_enable"),
    ],
)
def test_other_kinds_are_told_what_to_convert(tmp_path: Path, name: str, content: bytes, words: str, hint: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        read_model(tmp_path / name)
    assert words in caught.value.message
    assert hint in caught.value.hints[0]
