"""Finding ExecuTorch's runner and backend in a build folder, and seeing what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapprof_cli import resources
from heapprof_cli.artifacts import Sources
from heapprof_cli.artifacts.executorch import BACKEND, PROGRAM, resolve_executorch
from heapprof_cli.artifacts.targets import TARGETS
from heapprof_cli.errors import PreflightError

X86 = TARGETS["linux-x86_64"]
MADE = resources.device_build(X86.name)


def sources(build: Path | None, libs: Path | None = None) -> Sources:
    return Sources(libs or MADE / "standin", build_folder=build)


def place(build: Path, *names: str) -> Path:
    """Copies of the stand-in's files under ``names``, each a path in the build folder."""
    for name in names:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_bytes((MADE / "standin_executorch" / Path(name).name).read_bytes())
    return build


@pytest.mark.parametrize(
    ("program", "backend"),
    [
        ("examples/qualcomm/executor_runner", "backends/qualcomm"),
        ("examples/qualcomm", "lib"),
        ("bin", "lib"),
        (".", "."),
    ],
)
def test_files_are_found_where_builds_leave_them(tmp_path: Path, program: str, backend: str) -> None:
    build = place(tmp_path, f"{program}/{PROGRAM}", f"{backend}/{BACKEND}")
    bundle = resolve_executorch(X86, 81, sources(build))
    assert (bundle.runner.name, bundle.runner.executable, bundle.standin) == (PROGRAM, True, True)
    assert Path(bundle.runner.path) == build / program / PROGRAM
    assert [a.name for a in bundle.libraries] == ["libQnnHtp.so", "libQnnSystem.so", BACKEND]
    chosen = {c.name: c.path for c in bundle.candidates if c.chosen}
    assert chosen[BACKEND] == str(build / backend / BACKEND)


def test_all_that_is_missing_is_named_with_where_it_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    with pytest.raises(PreflightError) as caught:
        resolve_executorch(X86, 81, sources(tmp_path, tmp_path / "libs"))
    for name in (PROGRAM, BACKEND, "libQnnHtp.so", "libQnnSystem.so"):
        assert name in caught.value.message
    assert any("examples/qualcomm/executor_runner" in hint for hint in caught.value.hints)


def test_without_a_build_folder_it_says_what_to_name() -> None:
    with pytest.raises(PreflightError, match="none was named") as caught:
        resolve_executorch(X86, 81, sources(None))
    assert "--build-folder" in caught.value.hints[0]


def test_an_old_runner_and_a_missing_backend_are_told_together(tmp_path: Path) -> None:
    build = place(tmp_path, PROGRAM)
    (build / PROGRAM).write_bytes((build / PROGRAM).read_bytes().replace(b"heap_profiling_path", b"x" * 19))
    with pytest.raises(PreflightError) as caught:
        resolve_executorch(X86, 81, sources(build))
    assert BACKEND in caught.value.message and "too old for heap profiling" in caught.value.message


def test_a_build_for_another_processor_is_refused(tmp_path: Path) -> None:
    build = place(tmp_path, PROGRAM, BACKEND)
    with pytest.raises(PreflightError) as caught:
        resolve_executorch(TARGETS["linux-arm64"], 81, sources(build))
    assert f"{PROGRAM} is for x86_64 (64 bit), the device needs aarch64" in caught.value.message


def test_a_build_for_the_other_c_library_is_refused(tmp_path: Path) -> None:
    arm64 = resources.device_build("linux-arm64") / "standin_executorch"
    if not arm64.is_dir():
        pytest.skip("the device programs for linux-arm64 are not built")
    build = place(tmp_path, PROGRAM, BACKEND)
    for name in (PROGRAM, BACKEND):
        (build / name).write_bytes((arm64 / name).read_bytes())
    with pytest.raises(PreflightError, match="is for Linux with glibc, the device has Android"):
        resolve_executorch(TARGETS["android-arm64"], 81, sources(build))


def test_a_library_beside_the_build_goes_along(tmp_path: Path) -> None:
    build = place(tmp_path, PROGRAM, BACKEND)
    renamed = (build / PROGRAM).read_bytes().replace(b"libc.so.6\0", b"libz.so.6\0")
    assert renamed != (build / PROGRAM).read_bytes()
    (build / PROGRAM).write_bytes(renamed)
    (build / "libz.so.6").write_bytes((MADE / "standin" / "libQnnSystem.so").read_bytes())
    bundle = resolve_executorch(X86, 81, sources(build))
    assert "libz.so.6" in [a.name for a in bundle.libraries]
