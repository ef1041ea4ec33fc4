"""Outputs of the real library through the runner equal those through onnxruntime-qnn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.native.runner_tools import GOOD

X = {"x": [1, 32, 28, 28]}
Y = {"y": [1, 32, 28, 28]}
SMALL = [1, 8, 4, 16]
CASES = [
    ("conv_sm8850_v81_qnn2.51.bin", "float32", X, Y),
    ("conv_sm8550_v73_qnn2.47.bin", "float32", X, Y),
    ("conv_sm8450_v69_qnn2.51.bin", "float32", X, Y),
    ("three_in_two_out_qnn2.51.bin", "uint8", dict.fromkeys("abc", SMALL), {"y1": SMALL, "y2": SMALL}),
]


def words(tensors):
    return [f"{name}={','.join(map(str, dims))}" for name, dims in tensors.items()]


@pytest.mark.parametrize(("name", "element", "inputs", "outputs"), CASES, ids=[case[0] for case in CASES])
def test_outputs_equal_those_of_onnxruntime(run, standin, real, tmp_path, name, element, inputs, outputs):
    run.heap = False
    graph = run(GOOD / name).status["contexts"][0]["graphs"][0]
    reference = tmp_path / "reference"
    reference.mkdir()
    script = Path(__file__).with_name("ort_reference.py")
    command = [sys.executable, script, GOOD / name, graph, element, reference, *words(inputs), "--", *words(outputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (tmp_path / "list.txt").write_text(" ".join(f"{tensor}:={reference / tensor}.raw" for tensor in inputs))
    flags = ["--input_list_path=list.txt", "--output_folder_path=plain", "--iteration=2"]
    result = run(GOOD / name, flags=flags, libraries=real)
    assert result.code == 0, result.stderr
    for index, tensor in enumerate(outputs):
        given = (tmp_path / "plain" / f"output_0_{index}.raw").read_bytes()
        assert given == (reference / f"{tensor}.raw").read_bytes()
        assert any(given), "an output of zeros proves nothing"
    flags[1] = "--output_folder_path=chained"
    run.heap = True
    assert run(GOOD / name, flags=flags, libraries=standin(chain=real.htp)).code == 0
    for file in (tmp_path / "plain").iterdir():
        assert file.read_bytes() == (tmp_path / "chained" / file.name).read_bytes()
