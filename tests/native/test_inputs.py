"""Input lists and outputs."""

from __future__ import annotations

import pytest

from tests.native.runner_tools import GOOD

THREE = GOOD / "three_in_two_out_qnn2.51.bin"
SIZE = 1 * 8 * 4 * 16


@pytest.fixture
def files(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.raw").write_bytes(bytes(range(256)) * (SIZE // 256))
    return tmp_path


def run_list(run, files, text, *, model=THREE, libraries=None, flags=()):
    (files / "list.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    flags = ["--input_list_path=list.txt", "--output_folder_path=out", *flags]
    return run(model, flags=flags, libraries=libraries)


@pytest.mark.parametrize(
    "text",
    [
        "a.raw b.raw c.raw\n",
        "a:=a.raw b:=b.raw c:=c.raw",
        "c:=c.raw a:=a.raw\tb:=b.raw \r\n\r\n",
        "\n\n  a.raw   b.raw  c.raw  \n\n",
    ],
)
def test_forms_of_a_list(run, files, text):
    result = run_list(run, files, text)
    assert result.code == 0, result.stderr
    assert sorted(path.name for path in (files / "out").iterdir()) == ["output_0_0.raw", "output_0_1.raw"]
    assert (files / "out" / "output_0_0.raw").stat().st_size == SIZE


def test_each_line_is_one_inference(run, files):
    result = run_list(run, files, "a.raw b.raw c.raw\n" * 3)
    assert result.code == 0
    assert len(list((files / "out").iterdir())) == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.raw b.raw", "names 2 files, the graph has 3 inputs"),
        ("a.raw b.raw absent.raw", "absent.raw can't be read"),
        ("a:=a.raw b.raw c.raw", "mixed"),
        ("a:=a.raw b:=b.raw x:=c.raw", "no file is named for input c"),
        ("a:= b:=b.raw c:=c.raw", "empty"),
        ("", "the list is empty"),
        ("\n \n", "the list is empty"),
        (b"a.raw\x00 b.raw c.raw", "NUL"),
        ("a.raw b.raw short.raw", "tensor 'c' expects 512 bytes, short.raw has 5"),
        ("a.raw b.raw .", "can't be read"),
    ],
)
def test_bad_lists_are_input_errors_with_names(run, files, text, words):
    (files / "short.raw").write_bytes(b"12345")
    result = run_list(run, files, text)
    assert result.code == 26 and words in result.error["message"], result.stderr
    assert not list(files.rglob("output_*"))


def test_a_missing_list_is_an_input_error(run, files):
    result = run(THREE, flags=["--input_list_path=absent.txt"])
    assert result.code == 26 and "absent.txt" in result.error["message"]


def test_number_of_lists_must_fit_the_graphs(run, files):
    flags = ["--input_list_path=list.txt"]
    result = run_list(run, files, "a.raw b.raw c.raw", flags=flags)
    assert result.code == 26 and "2 input lists are given for 1 graphs" in result.error["message"]


def test_one_list_for_each_graph(run, files):
    (files / "x.raw").write_bytes(bytes(100352))
    (files / "x.txt").write_text("x.raw")
    two = GOOD / "two_graphs_sm8850_v81_qnn2.51.bin"
    result = run(two, flags=["--input_list_path=x.txt", "--input_list_path=x.txt", "--output_folder_path=out"])
    assert result.code == 0
    assert sorted(path.name for path in (files / "out").iterdir()) == [
        "graph_0_output_0_0.raw",
        "graph_1_output_0_0.raw",
    ]


def test_unwritable_output_folder_is_a_write_error(run, files):
    result = run(THREE, flags=["--output_folder_path=/proc/nowhere"])
    assert result.code == 25 and "/proc/nowhere" in result.error["message"]
