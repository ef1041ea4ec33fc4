"""Where QNN libraries come from: archives, SDKs of both layouts, ExecuTorch builds; and their build ids."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from heapprof_cli.artifacts import Bundle, Sources, resolve
from heapprof_cli.artifacts.archives import unpacked
from heapprof_cli.artifacts.qnn_build import qnn_build, release
from heapprof_cli.artifacts.targets import TARGETS
from heapprof_cli.errors import PreflightError
from tests.models_and_artifacts.made_libraries import V51, fill

ANDROID, BOARD = TARGETS["android-arm64"], TARGETS["linux-arm64"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a made-up runner for every target."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "cache"))
    for target in TARGETS:
        (tmp_path / "device" / target).mkdir(parents=True)
        (tmp_path / "device" / target / "heapprof_runner").write_bytes(b"runner")
    monkeypatch.setattr("heapprof_cli.resources.device_build", lambda target: tmp_path / "device" / target)
    return tmp_path / "cache"


def archive(path: Path, folder: Path, inside: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(folder.iterdir()):
            made.write(file, f"{inside}{file.name}")
        made.writestr("classes.jar", b"not ours")
    return path


def names(bundle: Bundle) -> list[str]:
    return [library.name for library in bundle.libraries]


WANTED = ["libQnnHtp.so", "libQnnHtpV81Skel.so", "libQnnHtpV81Stub.so", "libQnnSystem.so"]


@pytest.mark.parametrize(
    ("name", "inside"),
    [("qnn-runtime.aar", "jni/arm64-v8a/"), ("runtime.zip", ""), ("onnxruntime_qnn.whl", "onnxruntime_qnn/")],
)
def test_archives(tmp_path: Path, own_cache: Path, name: str, inside: str) -> None:
    path = archive(tmp_path / name, fill(tmp_path / "libs"), inside)
    bundle = resolve(ANDROID, 81, Sources(qnn_libs=path))
    assert names(bundle) == WANTED
    assert {library.name: library.qnn_build for library in bundle.libraries} == {
        **dict.fromkeys(WANTED, V51),
        "libQnnSystem.so": None,
    }
    assert all(Path(library.path).is_relative_to(own_cache) for library in bundle.libraries)
    assert not list(own_cache.rglob("classes.jar")), "only libraries are taken"
    assert resolve(ANDROID, 81, Sources(qnn_libs=path)).libraries == bundle.libraries
    assert not [p for p in (own_cache / "archives").iterdir() if p.name.startswith("unpacking")]


def test_an_sdk_in_an_archive(tmp_path: Path) -> None:
    inside = "qairt/2.51.0/lib/aarch64-android/"
    path = archive(tmp_path / "sdk.zip", fill(tmp_path / "libs"), inside)
    bundle = resolve(ANDROID, 81, Sources(qnn_libs=unpacked(path) / "qairt" / "2.51.0"))
    assert names(bundle) == WANTED


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "holds no QNN library"),
        ({"../libQnnHtp.so": b"x", "/libQnnHtp.so": b"x", "a\\libQnnHtp.so": b"x"}, "holds no QNN library"),
        ({f"{i}/libQnnHtp.so": b"" for i in range(600)}, "more libraries than any"),
    ],
)
def test_archives_that_are_refused(tmp_path: Path, content: dict[str, bytes], words: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as made:
        for name, data in content.items():
            made.writestr(name, data)
    with pytest.raises(PreflightError) as caught:
        unpacked(tmp_path / "x.zip")
    assert words in caught.value.message and caught.value.hints
    assert not (tmp_path / "libQnnHtp.so").exists()


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.aar").write_bytes(b"no zip")
    whole = archive(tmp_path / "y.zip", fill(tmp_path / "libs"), "").read_bytes()
    (tmp_path / "y.zip").write_bytes(
        whole.replace(b"made by QNN", b"made by qnn").replace(b"\x50\x4b\x05\x06", b"\0\0\0\0")
    )
    for name in ("x.aar", "y.zip"):
        with pytest.raises(PreflightError, match="can't take libraries out of"):
            unpacked(tmp_path / name)


@pytest.mark.parametrize("layout", ["qairt", "old", "side by side"])
def test_sdk_layouts(tmp_path: Path, layout: str) -> None:
    libs = fill(tmp_path / "libs")
    root = tmp_path / "sdk"
    base = root / "2.51.0" if layout == "side by side" else root
    cpu, dsp = ("lib/aarch64-android", "lib/hexagon-v81/unsigned")
    if layout == "old":
        cpu, dsp = ("target/aarch64-android/lib", "target/hexagon-v81/lib/unsigned")
    if layout == "side by side":
        fill(root / "2.47.0" / "lib/aarch64-android")
    for file in libs.iterdir():
        place = base / (dsp if "Skel" in file.name else cpu)
        place.mkdir(parents=True, exist_ok=True)
        file.rename(place / file.name)
    bundle = resolve(ANDROID, 81, Sources(qnn_sdk=root))
    assert names(bundle) == WANTED
    assert all(Path(library.path).is_relative_to(base) for library in bundle.libraries)


def test_an_executorch_build_knows_its_sdk(tmp_path: Path) -> None:
    sdk = tmp_path / "sdk"
    fill(sdk / "lib/aarch64-android")
    build = tmp_path / "build-android"
    build.mkdir()
    (build / "CMakeCache.txt").write_text(f"A:STRING=1\nQNN_SDK_ROOT:PATH={sdk}\nB:BOOL=ON\n")
    bundle = resolve(ANDROID, 81, Sources(build_folder=build))
    assert names(bundle) == WANTED
    assert str(sdk) in bundle.origin
    fill(build)
    assert {Path(a.path).parent for a in resolve(ANDROID, 81, Sources(build_folder=build)).libraries} == {build}


def test_every_candidate_is_reported(tmp_path: Path) -> None:
    bundle = resolve(ANDROID, 81, Sources(qnn_libs=fill(tmp_path / "libs")))
    chosen = [candidate for candidate in bundle.candidates if candidate.chosen]
    assert sorted(candidate.name for candidate in chosen) == WANTED
    assert any(not candidate.found for candidate in bundle.candidates)
    assert {Path(candidate.path).parent for candidate in chosen} == {tmp_path / "libs"}


def test_build_ids_are_remembered_by_content(tmp_path: Path, own_cache: Path) -> None:
    (tmp_path / "a.so").write_bytes(b"x v2.51.0.260929181845_1 y")
    assert qnn_build(tmp_path / "a.so", "a" * 64) == V51
    (tmp_path / "a.so").unlink()
    assert qnn_build(tmp_path / "a.so", "a" * 64) == V51
    (own_cache / "qnn_builds.json").write_text("[1, 2")
    assert qnn_build(tmp_path / "a.so", "a" * 64) is None


def test_releases_compare_as_numbers() -> None:
    assert release("v2.9.0.250101000000") < release("v2.51.0.1") == release(V51)
