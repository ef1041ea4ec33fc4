"""What a run measures, on the stand-in and on the real x86 library."""

from __future__ import annotations

import pytest

from tests.native.runner_tools import AFTER, BAD_FILES, BEFORE, GOOD, GOOD_BINARIES, REFERENCE

# Facts: what the real library answers to each bad file; the stand-in has to answer the same.
BAD_CODES = {
    "blobrand.bin": 5005,
    "blobzero.bin": 5005,
    "empty.bin": 5000,
    "et_wrapped.bin": 30001,
    "hdr_blobsize.bin": 30010,
    "longer100.bin": 30010,
    "plain_not_epcontext.onnx": 30001,
    "random.bin": 30001,
    "trunc_4096.bin": 30010,
    "trunc_61439.bin": 30010,
}


def names(path):
    return path.name


@pytest.mark.parametrize("model", GOOD_BINARIES, ids=names)
def test_standin_gives_both_lines_exactly(run, model):
    result = run(model, flags=["--run_id=r-1"])
    assert (result.code, result.heap) == (0, REFERENCE), result.stderr
    status = result.status
    assert status["state"] == "done" and status["exit_code"] == 0 and status["error"] is None
    assert status["run_id"] == "r-1"
    assert status["library"]["build_id"].endswith("standin")
    assert status["heap"] == {
        "requested": True,
        "before_bytes": 928212,
        "after_bytes": 928212,
        "before_call": "contextCreateFromBinary",
        "after_call": "contextFree",
        "events": 2,
    }
    assert "simulated" in result.stderr
    assert result.stages == ["load", "setup", "create", "execute", "free", "write"]
    assert [stage["name"] for stage in status["stages"]] == result.stages
    assert result.leftovers() == []


@pytest.mark.parametrize("model", GOOD_BINARIES, ids=names)
def test_real_library_executes_every_graph(run, real, model):
    run.heap = False
    result = run(model, libraries=real, flags=["--output_folder_path=out"])
    assert result.code == 0, result.stderr
    status = result.status
    assert status["library"]["provider"] == "HTP_QTI_AISW"
    assert status["heap"]["requested"] is False
    (context,) = status["contexts"]
    outputs = sorted(path.name for path in (result.folder / "out").iterdir())
    several = len(context["graphs"]) > 1
    graphs = {name.split("output")[0] for name in outputs}
    assert len(graphs) == len(context["graphs"])
    assert several == outputs[0].startswith("graph_")


@pytest.mark.parametrize("model", GOOD_BINARIES, ids=names)
def test_both_system_libraries_tell_the_same_of_a_binary(run, real, model):
    run.heap = False
    told = run(model, libraries=real).status["contexts"]
    assert run(model).status["contexts"] == told
    assert told[0]["graphs"] and told[0]["soc_model"] and told[0]["htp_arch"]


def test_real_library_cannot_profile_dsp_memory(run, real, conv):
    result = run(conv, libraries=real)
    assert result.code == 22 and result.heap is None
    error = result.error
    assert error["code"] == 1000 and error["stage"] == "create" and error["call"] == "contextCreateFromBinary"
    assert "can't profile DSP memory" in error["message"]
    assert "Dsp memory profiling is not supported" in error["message"]


def test_standin_can_refuse_dsp_profiling_as_the_real_one(run, standin, conv):
    result = run(conv, libraries=standin(dsp_profiling="no"))
    assert (result.code, result.error["code"]) == (22, 1000)
    run.heap = False
    assert run(conv, libraries=standin(dsp_profiling="no")).code == 0


def test_two_models_are_one_measurement_of_first_create_and_last_free(run, conv):
    # The simulated heap holds 64 KB for each live context: a reading at any other call would show it.
    result = run(conv, GOOD / "two_graphs_sm8850_v81_qnn2.51.bin", GOOD / "three_in_two_out_qnn2.51.bin")
    assert (result.code, result.heap) == (0, REFERENCE)
    assert [len(context["graphs"]) for context in result.status["contexts"]] == [1, 2, 1]
    assert result.status["heap"]["events"] == 2
    assert result.stages == ["load", "setup", *["create"] * 3, *["execute"] * 3, *["free"] * 3, "write"]


@pytest.mark.parametrize("library", ["standin", "real"])
@pytest.mark.parametrize("model", BAD_FILES, ids=names)
def test_bad_files_end_with_a_placed_error(run, real, model, library):
    run.heap = False
    result = run(model, libraries=real if library == "real" else None)
    status = result.status
    if library == "real" and model.name == "blobrand.bin" and result.code == 30:
        assert status["state"] == "crashed" and status["signal"]  # damage in the blob may crash the real one
        return
    assert result.code == 22 and status["state"] == "failed" and status["stage"] == "create"
    error = status["error"]
    assert error["code"] == BAD_CODES[model.name]
    assert error["model"] == str(model) and error["call"] == "contextCreateFromBinary"
    assert f"error: stage=create code={error['code']} call=contextCreateFromBinary" in result.stderr


def test_bad_files_differ_in_their_words(run):
    run.heap = False
    said = {name: run(path).error["message"] for path in BAD_FILES if (name := path.name)}
    assert len({said["blobrand.bin"], said["blobzero.bin"], said["empty.bin"], said["random.bin"]}) == 4
    assert "0.0.0" in said["blobzero.bin"] and "cut off" in said["trunc_61439.bin"]


def test_missing_model_is_an_input_error(run, tmp_path):
    result = run(tmp_path / "absent.bin")
    assert result.code == 26 and "No such file" in result.error["message"]
    assert result.error["model"].endswith("absent.bin")


@pytest.mark.parametrize(
    ("keys", "heap"),
    [
        ({"events": "none"}, None),
        ({"events": "before"}, BEFORE.format(928212)),
        ({"events": "after"}, AFTER.format(928212)),
        ({"order": "reversed"}, REFERENCE),
        ({"nested": "yes"}, REFERENCE),
        ({"nested": "yes", "order": "reversed", "repeat": 3}, REFERENCE),
        ({"repeat": 5}, REFERENCE),
        ({"repeat": 5, "order": "reversed", "before": 7, "after": 3}, BEFORE.format(7) + AFTER.format(3)),
        ({"before": 0, "after": 2**64 - 1}, BEFORE.format(0) + AFTER.format(2**64 - 1)),
        ({"one_time": 100, "leak_per_cycle": 5}, BEFORE.format(928212) + AFTER.format(928317)),
    ],
)
def test_no_order_or_repeat_of_events_loses_or_doubles_a_line(run, standin, conv, keys, heap):
    result = run(conv, libraries=standin(**keys))
    assert (result.code, result.heap) == (0, heap), result.stderr
    assert ("no DSP heap events" in result.stderr) == (heap is None)


def test_a_stale_heap_file_never_survives(run, standin, conv, tmp_path):
    (tmp_path / "heap.txt").write_text(REFERENCE)
    assert run(conv, libraries=standin(events="none")).heap is None


def test_heap_path_empty_means_off(run, conv):
    run.heap = False
    result = run(conv, flags=["--heap_profiling_path="])
    assert result.code == 0 and result.status["heap"]["requested"] is False
    assert "simulated" not in result.stderr


def test_iteration_zero_creates_and_frees_only(run, standin, conv):
    result = run(conv, flags=["--iteration=0"], libraries=standin(fail_stage="execute"))
    assert (result.code, result.heap) == (0, REFERENCE)
    assert "execute" not in result.stages


def test_iterations_and_warm_up_are_counted(run, standin, conv):
    flags = ["--iteration=3", "--warm_up=2"]
    assert run(conv, flags=flags, libraries=standin(fail_stage="execute", fail_at=5)).code == 23
    assert run(conv, flags=flags, libraries=standin(fail_stage="execute", fail_at=6)).code == 0


@pytest.mark.parametrize(("kind", "size"), [("text", 100_000), ("binary", 1_000_000), ("ansi", 50_000)])
def test_noise_on_stdout_is_harmless(run, standin, conv, kind, size):
    result = run(conv, libraries=standin(noise=kind, noise_bytes=size))
    assert (result.code, result.heap, len(result.stdout)) == (0, REFERENCE, size)


def test_log_lines_reach_stderr_as_single_clean_lines(run, standin, conv):
    libraries = standin(log_file="log.txt")
    (libraries.htp.parent / "log.txt").write_bytes(
        b"<E> transport failed 0x80000406\n<I> hidden\nplain\xff\x1b[2J\x00x\n<E> stage fake\n"
    )
    result = run(conv, libraries=libraries)
    assert result.code == 0
    assert "qnn <E> transport failed 0x80000406" in result.stderr
    assert "qnn <W> plain? [2J" in result.stderr and "\x1b" not in result.stderr
    assert "hidden" not in result.stderr
    assert "hidden" in run(conv, flags=["--log_level=3"], libraries=libraries).stderr


def test_newer_and_older_binaries(run, standin, conv):
    newer = run(conv, libraries=standin(sdk="2.47"))
    assert newer.error["code"] == 5000 and "newer context binary on old SDK" in newer.error["message"]
    older = run(conv, libraries=standin(sdk="2.60"))
    assert older.code == 0 and "version mismatch" in older.stderr
    assert run(conv, libraries=standin(sdk="2.51")).code == 0
