"""What our models may cost the DSP heap."""

from pathlib import Path

import pytest

MODELS = sorted(path for path in Path("models").iterdir() if path.suffix in (".bin", ".pte", ".onnx"))


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
@pytest.mark.max_dsp_heap_difference("64 KiB")
def test_a_model_gives_back_its_dsp_heap(heapprof, model):
    heapprof.run(model)


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
@pytest.mark.no_dsp_leak(cycles=8)
def test_a_model_does_not_leak(heapprof, model):
    heapprof.run(model, perf_mode="burst")
