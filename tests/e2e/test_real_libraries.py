"""Preflight and doctor with Qualcomm's own arm64 libraries: the right ones chosen, wrong ones refused by name.

The libraries are real (arm64 wheels of onnxruntime-qnn), the phone is virtual and calls itself an arm64 board: nothing
of them is run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli.artifacts import Sources, resolve
from heapprof_cli.artifacts.targets import TARGETS
from heapprof_cli.virtual import VirtualPhone
from tests.conftest import MODELS, Ended, OnPhone
from tests.models_and_artifacts.real_libraries import VERSIONS, fetch_wheels, unpack

NEW, OLD = VERSIONS
MODEL = MODELS / "good" / "conv_sm8850_v81_qnn2.51.bin"
SKEL, STUB = "libQnnHtpV81Skel.so", "libQnnHtpV81Stub.so"
pytestmark = pytest.mark.timeout(600)  # the wheels are 160 MB


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> dict[str, Path]:
    base = tmp_path_factory.getbasetemp()
    found = fetch_wheels((base if worker_id == "master" else base.parent) / "arm64-wheels")
    if set(found) != set(VERSIONS):
        pytest.skip("the package registry gives no arm64 wheels of onnxruntime-qnn; HEAPPROF_WHEELS may name a folder")
    return found


@pytest.fixture(scope="module")
def builds(wheels: dict[str, Path]) -> dict[str, str]:
    """The QNN build of each release, as its libQnnHtp.so says it."""
    told = {}
    for version, wheel in wheels.items():
        bundle = resolve(TARGETS["linux-arm64"], 81, Sources(qnn_libs=wheel))
        told[version] = next(each.qnn_build for each in bundle.libraries if each.name == "libQnnHtp.so") or ""
    return told


@pytest.fixture(scope="module")
def board() -> Iterator[VirtualPhone]:
    properties = {"ro.soc.model": "SM8850", "ro.product.cpu.abi": "arm64-v8a", "ro.product.cpu.abilist": "arm64-v8a"}
    uname = {"/system/bin/uname": ("#!/system/bin/sh\necho aarch64\n", 0o755)}
    with VirtualPhone(properties=properties, files=uname) as phone:
        yield phone


@pytest.fixture
def both(board: VirtualPhone, heapprof: Callable[..., Ended]) -> Callable[[Path], tuple[Ended, Ended]]:
    """What doctor says of a folder of libraries, and how `run` ends with it."""

    def call(libraries: Path) -> tuple[Ended, Ended]:
        words = [*OnPhone(board, heapprof).flags(), "--format", "json", "--qnn-libs", libraries]
        words += ["--runner-target", "linux-arm64", MODEL]
        return heapprof("doctor", *words), heapprof("run", *words)

    return call


def refused(ended: tuple[Ended, Ended], check: str) -> str:
    """Both refuse, by that check, before anything is sent; the doctor's words."""
    doctor, run = ended
    errors = [each for each in doctor.json["checks"] if each["severity"] == "error"]
    assert [each["id"] for each in errors] == [check], doctor.stdout + doctor.stderr
    assert doctor.code == run.code == 6
    assert not {"push", "run"} & {stage["name"] for stage in run.json["stages"]}
    assert errors[0]["what"] in run.json["error"]["message"]
    assert errors[0]["fix"]
    return str(errors[0]["what"])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("arch", [68, 69, 73, 75, 79, 81])
def test_each_arch_gets_its_own_of_one_build(wheels: dict[str, Path], version: str, arch: int) -> None:
    bundle = resolve(TARGETS["linux-arm64"], arch, Sources(qnn_libs=wheels[version]))
    names = {library.name for library in bundle.libraries}
    assert {"libQnnHtp.so", "libQnnSystem.so", f"libQnnHtpV{arch}Stub.so", f"libQnnHtpV{arch}Skel.so"} <= names
    assert not any("Skel" in name or "Stub" in name for name in names if f"V{arch}S" not in name)
    told = {library.qnn_build for library in bundle.libraries if library.name != "libQnnSystem.so"}
    assert len(told) == 1 and None not in told


def test_a_whole_folder_fits(wheels: dict[str, Path], tmp_path: Path, both: Callable[..., tuple[Ended, Ended]]) -> None:
    doctor, _ = both(unpack(wheels[NEW], tmp_path / "libs", 81))
    assert doctor.code == 0, doctor.stdout + doctor.stderr
    told = {each["id"]: each["severity"] for each in doctor.json["checks"]}
    assert told["artifacts"] == "ok" and "error" not in told.values()


@pytest.mark.parametrize("name", [SKEL, STUB, "libQnnHtp.so"])
def test_mixed_builds_are_refused_with_both_ids(
    wheels: dict[str, Path],
    builds: dict[str, str],
    tmp_path: Path,
    both: Callable[..., tuple[Ended, Ended]],
    name: str,
) -> None:
    folder = unpack(wheels[NEW], tmp_path / "new", 81)
    shutil.copy(unpack(wheels[OLD], tmp_path / "old", 81) / name, folder / name)
    ended = both(folder)
    if name == "libQnnHtp.so":  # older than the model too
        assert {each["id"] for each in ended[0].json["checks"] if each["severity"] == "error"} == {
            "qnn-builds", "model-build",
        }  # fmt: skip
        assert ended[0].code == ended[1].code == 6
        said = ended[1].json["error"]["message"]
    else:
        said = refused(ended, "qnn-builds")
    assert builds[NEW] != builds[OLD]
    assert builds[NEW] in said and builds[OLD] in said and name in said


@pytest.mark.parametrize("name", [SKEL, STUB, "libQnnSystem.so"])
def test_what_is_missing_is_named(
    wheels: dict[str, Path], tmp_path: Path, both: Callable[..., tuple[Ended, Ended]], name: str
) -> None:
    folder = unpack(wheels[NEW], tmp_path / "libs", 81)
    (folder / name).unlink()
    assert name in refused(both(folder), "artifacts")


def test_libraries_of_another_arch_are_named(
    wheels: dict[str, Path], tmp_path: Path, both: Callable[..., tuple[Ended, Ended]]
) -> None:
    said = refused(both(unpack(wheels[NEW], tmp_path / "libs", 79)), "artifacts")
    assert STUB in said and SKEL in said


def test_a_renamed_skel_is_told(
    wheels: dict[str, Path], tmp_path: Path, both: Callable[..., tuple[Ended, Ended]]
) -> None:
    folder = unpack(wheels[NEW], tmp_path / "libs", 81)
    shutil.copy(unpack(wheels[NEW], tmp_path / "other", 79) / "libQnnHtpV79Skel.so", folder / SKEL)
    assert f"{SKEL} is really libQnnHtpV79Skel.so (HTP V79)" in refused(both(folder), "library-arch")


def test_a_model_of_a_newer_sdk_is_refused_with_both_ids(
    wheels: dict[str, Path], builds: dict[str, str], tmp_path: Path, both: Callable[..., tuple[Ended, Ended]]
) -> None:
    said = refused(both(unpack(wheels[OLD], tmp_path / "libs", 81)), "model-build")
    assert builds[OLD] in said and "v2.51" in said
