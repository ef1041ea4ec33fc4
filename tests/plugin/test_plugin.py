"""The pytest plugin, in a pytest of its own on the virtual phone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MODELS, clean_environment

MODEL = str(MODELS / "good" / "conv_sm8850_v81_qnn2.51.bin")
PREAMBLE = f"""
import pytest
MODEL = {MODEL!r}
"""


def run_pytest(folder: Path, code: str, *flags: str) -> tuple[int, str]:
    """Exit status and output of pytest over a module with ``code``."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider --strict-markers\n")
    (folder / "test_it.py").write_text(PREAMBLE + code)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *flags],
        cwd=folder,
        env={**clean_environment(folder), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_measurements_pass_and_are_in_the_summary(tmp_path: Path) -> None:
    code = """
@pytest.mark.max_dsp_heap_difference("4 KiB")
def test_a(heapprof):
    result = heapprof.run(MODEL)
    assert result.reading.before_bytes == 928212
    assert result.simulated

@pytest.mark.no_dsp_leak(cycles=5)
def test_b(heapprof):
    assert heapprof.run(MODEL, perf_mode="burst").growth.verdict == "stable"

def test_other():
    pass
"""
    status, output = run_pytest(tmp_path, code, "--heapprof-virtual", "-n", "2")
    assert status == 0, output
    assert "3 passed" in output
    lines = [line for line in output.splitlines() if line.startswith("test_it.py::")]
    assert lines == [
        "test_it.py::test_a  conv_sm8850_v81_qnn2.51.bin on SM8850: before 928212, after 928212, "
        "difference 0 bytes [simulated]",
        "test_it.py::test_b  conv_sm8850_v81_qnn2.51.bin on SM8850: before 928212, after 928212, "
        "difference 0 bytes, stable [simulated]",
    ]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            '@pytest.mark.max_dsp_heap_difference("4 KiB")\n'
            "def test_it(heapprof):\n    heapprof.run(MODEL, qnn_libs=LIBS)\n",
            "the difference is 5000 bytes, 904 more than the 4096",
        ),
        (
            "@pytest.mark.no_dsp_leak(cycles=5)\ndef test_it(heapprof):\n    heapprof.run(MODEL, qnn_libs=LIBS)\n",
            "leak: grows by exactly 1000 bytes",
        ),
        (
            "@pytest.mark.no_dsp_leak(cycles=2)\ndef test_it(heapprof):\n    heapprof.run(MODEL)\n",
            "nothing to tell a leak by",
        ),
        ('@pytest.mark.max_dsp_heap_difference("4 KiB")\ndef test_it():\n    pass\n', "measured nothing"),
        (
            '@pytest.mark.max_dsp_heap_difference("many")\ndef test_it(heapprof):\n    heapprof.run(MODEL)\n',
            "'many' is no size",
        ),
        ("def test_it(heapprof):\n    heapprof.run('absent.bin')\n", "absent.bin"),
        ("def test_it(heapprof):\n    heapprof.run(MODEL, soc='SM8650')\n", "hint:"),
        ("def test_it(heapprof):\n    heapprof.run(MODEL, no_such_option=1)\n", "No such option"),
    ],
)
def test_what_is_wrong_fails_the_test_in_words(tmp_path: Path, standin_folder: Path, code: str, words: str) -> None:
    status, output = run_pytest(tmp_path, f"LIBS = {str(standin_folder)!r}\n{code}", "--heapprof-virtual")
    assert status == 1, output
    assert words in output
    assert "1 failed" in output and "Traceback" not in output and "INTERNALERROR" not in output


def test_check_false_leaves_it_to_the_test(tmp_path: Path) -> None:
    code = """
def test_it(heapprof):
    result = heapprof.run(MODEL, soc="SM8650", check=False)
    assert result.exit_code == 6
    assert result.failure.hints
"""
    status, output = run_pytest(tmp_path, code, "--heapprof-virtual")
    assert status == 0, output


def test_a_session_without_measurements_costs_and_says_nothing(tmp_path: Path) -> None:
    code = (
        "import sys\ndef test_it():\n    assert not [m for m in sys.modules if m.startswith('heapprof_cli.session')]\n"
    )
    status, output = run_pytest(tmp_path, code)
    assert status == 0, output
    assert "heapprof)" not in output


@pytest.fixture
def standin_folder(tmp_path: Path) -> Path:
    """Stand-in libraries that leak 1000 bytes a cycle, and 4000 once."""
    from heapprof_cli.artifacts.shipped import standin_folder as shipped

    folder = tmp_path / "libs"
    folder.mkdir()
    for library in shipped("linux-x86_64").glob("*.so"):
        (folder / library.name).symlink_to(library)
    (folder / "standin.conf").write_text("leak_per_cycle = 1000\none_time = 4000\n")
    return folder
