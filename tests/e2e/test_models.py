"""`run` and `inspect` with all three kinds of model files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import MODELS, Ended, OnPhone

GOOD = MODELS / "good"
CONTEXT = hashlib.sha256((GOOD / "conv_sm8850_v81_qnn2.51.bin").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "kind", "warned"),
    [
        ("sm8850_p2.pte", "pte", None),
        ("sm8850_p0.pte", "pte", "profile level 0"),
        ("sm8850_multi3.pte", "pte", "3 delegates share 1 payload"),
        ("epcontext_sm8850_external.onnx", "epcontext", None),
    ],
)
def test_what_a_model_holds_is_measured(on_phone: OnPhone, name: str, kind: str, warned: str | None) -> None:
    done = on_phone.run("--format", "json", GOOD / name)
    assert done.code == 0, done.stderr
    assert done.json["after_bytes"] == 928212
    (model,) = done.json["model"]
    assert (model["name"], model["kind"], model["soc"]) == (name, kind, "SM8850")
    (sent,) = [artifact for artifact in done.json["artifacts"] if artifact["name"] == name]
    assert sent["sha256"] == CONTEXT
    assert [warned in warning for warning in done.json["warnings"]] == ([True] if warned else [])


def test_models_of_all_kinds_are_one_measurement(on_phone: OnPhone, standin: Callable[..., Path]) -> None:
    names = ["sm8850_p2.pte", "two_graphs_sm8850_v81_qnn2.51.bin", "epcontext_sm8850_external.onnx"]
    done = on_phone.run("--format", "json", "--qnn-libs", standin(), *(GOOD / name for name in names))
    assert done.code == 0, done.stderr
    assert [model["name"] for model in done.json["model"]] == names


def test_online_prepare_is_refused_before_any_phone_is_touched(heapprof: Callable[..., Ended]) -> None:
    done = heapprof("run", "--adb-port", "1", "--format", "json", GOOD / "sm8850_online.pte")
    assert (done.code, done.json["error"]["code"], done.json["error"]["stage"]) == (2, "usage", "model")
    assert "online_prepare" in done.json["error"]["message"]
    assert done.json["error"]["hints"]


def test_a_dry_run_shows_where_a_context_comes_from(
    heapprof: Callable[..., Ended], standin: Callable[..., Path]
) -> None:
    done = heapprof(
        "run", "--dry-run", "--qnn-libs", standin(), "--runner-target", "linux-x86_64", GOOD / "sm8850_p2.pte"
    )
    assert done.code == 0, done.stderr
    assert "sm8850_p2.pte[1536+61440]" in done.stdout


def test_inspect_as_a_table(heapprof: Callable[..., Ended]) -> None:
    done = heapprof("inspect", GOOD / "sm8850_multi3.pte", GOOD / "three_in_two_out_qnn2.51.bin")
    assert (done.code, done.stderr) == (0, "")
    for words in ("3 delegates, 1 distinct context", "profile level   2", "SM8850 (id 87), HTP V81", "1 x 8 x 4 x 16"):
        assert words in done.stdout


def test_inspect_as_json(heapprof: Callable[..., Ended]) -> None:
    done = heapprof("inspect", "--format", "json", GOOD / "sm8850_p0.pte", GOOD / "two_graphs_sm8850_v81_qnn2.51.bin")
    assert (done.code, done.stderr) == (0, "")
    assert done.json["schema_version"] == 1
    program, binary = done.json["models"]
    assert (program["kind"], program["profile_level"], program["online_prepare"]) == ("pte", 0, False)
    assert program["contexts"][0]["sha256"] == CONTEXT
    assert (binary["kind"], binary["profile_level"], binary["online_prepare"]) == ("context_binary", None, None)
    graph = binary["contexts"][0]["graphs"][0]
    assert graph["inputs"] == [{"name": "x", "dims": [1, 32, 28, 28], "dtype": "float32", "bytes": 100352}]
    assert len(binary["contexts"][0]["graphs"]) == 2


def test_inspect_of_what_differs(heapprof: Callable[..., Ended]) -> None:
    pair = (GOOD / "sm8850_p0.pte", GOOD / "sm8850_p2.pte")
    done = heapprof("inspect", "--diff", *pair)
    assert done.code == 0
    assert "-  profile level   0" in done.stdout and "+  profile level   2" in done.stdout
    assert heapprof("inspect", "--diff", "--format", "json", *pair).json["differences"]["profile_level"] == [0, 2]
    assert "hold the same" in heapprof("inspect", "--diff", pair[0], pair[0]).stdout
    assert heapprof("inspect", "--diff", pair[0]).code == 2


@pytest.mark.parametrize("name", ["blobzero.bin", "plain_not_epcontext.onnx", "absent.bin"])
def test_inspect_of_what_is_no_model(heapprof: Callable[..., Ended], name: str) -> None:
    done = heapprof("inspect", "--format", "json", MODELS / "bad" / name)
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert name in done.stderr
