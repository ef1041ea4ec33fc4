"""Preflight: what does not fit is found, named, and comes with its fix; what fits is silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heapprof_cli import __version__, resources, socs
from heapprof_cli.artifacts import Bundle, Sources, resolve
from heapprof_cli.artifacts.resolving import artifact
from heapprof_cli.artifacts.targets import TARGETS
from heapprof_cli.model_files import read_model
from heapprof_cli.preflight import Finding, Severity, Situation, check_all, runners
from heapprof_cli.records import DeviceFacts, Surroundings
from tests.conftest import MODELS
from tests.models_and_artifacts.made_libraries import AARCH64, HEXAGON, V47, V51, X86_64, elf, fill

PHONE = DeviceFacts("a", "s", machine="aarch64", is_android=True, soc="SM8850", htp_arch=81, free_bytes=1 << 40)
MODEL = "conv_sm8850_v81_qnn2.51.bin"
Make = Callable[..., Situation]


@pytest.fixture
def situation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A phone, a folder of libraries and models; ``change`` damages the folder before it is looked at."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "cache"))
    monkeypatch.setattr("heapprof_cli.resources.device_build", lambda target: made_runner(tmp_path / target, target))

    def make(
        change: Callable[[Path], object] = lambda folder: None,
        *models: str,
        device: DeviceFacts = PHONE,
        target: str = "android-arm64",
        runner: bytes | None = None,
    ) -> Situation:
        folder = fill(tmp_path / "libs")
        change(folder)
        bundle = resolve(TARGETS[target], 81, Sources(qnn_libs=folder))
        if runner is not None:
            Path(bundle.runner.path).write_bytes(runner)
        read = tuple(read_model(MODELS / "good" / model) for model in models or (MODEL,))
        return Situation(device, TARGETS[target], 81, bundle, read)

    return make


def runner_bytes(target: str, machine: int = AARCH64, version: str = __version__) -> bytes:
    """A runner of ``target`` as build.py makes it, with its version's words and nothing to run."""
    needed = "libc.so" if target.startswith("android") else "libc.so.6"
    return elf(machine, "heapprof_runner", [needed]) + f"heapprof_runner {version} {target}\n\0".encode()


def made_runner(folder: Path, target: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "heapprof_runner").write_bytes(runner_bytes(target))
    return folder


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_what_fits_is_silent(situation: Make) -> None:
    assert check_all(situation()) == []
    assert check_all(situation(lambda folder: None, "sm8850_p2.pte", "epcontext_sm8850_external.onnx")) == []


def test_mixed_builds_are_refused_with_both_ids(situation: Make) -> None:
    name = "libQnnHtpV81Skel.so"
    finding = only(check_all(situation(lambda folder: (folder / name).write_bytes(elf(HEXAGON, name, [], V47)))))
    assert (finding.id, finding.severity) == ("qnn-builds", Severity.ERROR)
    assert V47 in finding.what and V51 in finding.what and name in finding.what
    assert finding.fix


@pytest.mark.parametrize(
    ("name", "machine", "words"),
    [
        ("libQnnHtp.so", X86_64, "is for x86_64 (64 bit), needed is aarch64"),
        ("libQnnHtpV81Stub.so", X86_64, "is for x86_64"),
        ("libQnnHtpV81Skel.so", AARCH64, "is for aarch64 (64 bit), needed is hexagon (32 bit)"),
        ("libQnnSystem.so", HEXAGON, "is for hexagon (32 bit)"),
    ],
)
def test_libraries_for_another_machine(situation: Make, name: str, machine: int, words: str) -> None:
    findings = check_all(situation(lambda folder: (folder / name).write_bytes(elf(machine, name, [], V51))))
    assert [finding.id for finding in findings] == ["library-machine"]
    assert words in findings[0].what and name in findings[0].what


def test_libraries_of_a_linux_board_on_android_and_the_other_way_round(situation: Make) -> None:
    finding = only(check_all(situation(lambda folder: fill(folder, android=False))))
    assert finding.id == "library-system" and "Linux with glibc" in finding.what
    board = replace(PHONE, is_android=False)
    finding = only(check_all(situation(device=board, target="linux-arm64")))
    assert finding.id == "library-system" and "is for Android" in finding.what


def test_a_renamed_skel_is_seen(situation: Make) -> None:
    data = elf(HEXAGON, "libQnnHtpV79Skel.so", [], V51)
    finding = only(check_all(situation(lambda folder: (folder / "libQnnHtpV81Skel.so").write_bytes(data))))
    assert finding.id == "library-arch"
    assert "libQnnHtpV81Skel.so is really libQnnHtpV79Skel.so" in finding.what


def test_a_model_of_a_newer_sdk(situation: Make) -> None:
    finding = only(check_all(situation(lambda folder: fill(folder, build=V47))))
    assert (finding.id, finding.severity) == ("model-build", Severity.ERROR)
    assert V51 in finding.what and V47 in finding.what
    older = "conv_sm8550_v73_qnn2.47.bin"
    assert [f.id for f in check_all(situation(lambda folder: None, older))] == ["model-arch"]


def test_a_model_for_another_arch(situation: Make) -> None:
    finding = only(check_all(situation(lambda folder: None, "conv_sm8650_v75_qnn2.51.bin")))
    assert (finding.id, finding.severity) == ("model-arch", Severity.ERROR)
    assert "SM8650 (HTP V75)" in finding.what and "V81" in finding.what


def test_a_model_for_a_sibling_is_a_warning(situation: Make) -> None:
    finding = only(check_all(situation(device=replace(PHONE, soc="SW6100"))))
    assert (finding.id, finding.severity) == ("model-soc", Severity.WARNING)
    assert "4 MB VTCM" in finding.what


def test_a_model_that_wants_more_vtcm_than_the_phone_has(situation: Make, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("socs: [{name: SM8850, id: 87, htp_arch: 81, vtcm_mb: 2}]")
    socs.use(tmp_path / "own.yaml")
    try:
        finding = only(check_all(situation()))
    finally:
        socs.use(None)
    assert (finding.id, finding.severity) == ("model-vtcm", Severity.ERROR)
    assert "4.0 MiB VTCM, SM8850 has 2 MB" in finding.what


def test_a_library_that_needs_one_that_is_not_sent(situation: Make) -> None:
    data = elf(AARCH64, "libQnnHtp.so", ["libc.so", "libc++_shared.so"], V51)
    finding = only(check_all(situation(lambda folder: (folder / "libQnnHtp.so").write_bytes(data))))
    assert (finding.id, finding.severity) == ("library-needs", Severity.WARNING)
    assert "libc++_shared.so" in finding.what


def test_the_phone_s_own_copies(situation: Make) -> None:
    seen = Surroundings(vendor_copies=("/odm/lib64/libQnnHtp.so", "/odm/lib64/libQnnHtpV79Stub.so"))
    finding = only(check_all(situation(device=replace(PHONE, surroundings=seen))))
    assert finding.id == "vendor-copies"
    assert "/odm/lib64/libQnnHtp.so, /odm/lib64/libQnnHtpV79Stub.so;" in finding.what


def test_too_little_space_is_a_warning(situation: Make) -> None:
    finding = only(check_all(situation(device=replace(PHONE, free_bytes=1000))))
    assert (finding.id, finding.severity) == ("free-space", Severity.WARNING)
    assert check_all(situation(device=replace(PHONE, free_bytes=None))) == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (runner_bytes("android-arm64", X86_64), "heapprof_runner is for x86_64 (64 bit), the device needs aarch64"),
        (runner_bytes("android-arm64", HEXAGON), "heapprof_runner is for hexagon (32 bit)"),
        (runner_bytes("linux-arm64"), "heapprof_runner is for Linux with glibc, the device has Android"),
        (b"#!/bin/sh\nheapprof_runner " + __version__.encode() + b" android-arm64\n", "is no program"),
        (runner_bytes("android-arm64")[:40] + b"heapprof_runner 0.1.0 android-arm64\n", "is no program"),
    ],
)
def test_a_runner_of_another_machine_or_system(situation: Make, data: bytes, words: str) -> None:
    finding = only(check_all(situation(runner=data)))
    assert (finding.id, finding.severity) == ("runner-machine", Severity.ERROR)
    assert words in finding.what and finding.fix and "heapprof runner build" in finding.fix


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (runner_bytes("android-arm64", version="0.0.9"), "heapprof_runner is 0.0.9, heapprof is " + __version__),
        (elf(AARCH64, "heapprof_runner", ["libc.so"]), "heapprof_runner is of an unknown version"),
    ],
)
def test_a_runner_of_another_heapprof(situation: Make, data: bytes, told: str) -> None:
    finding = only(check_all(situation(runner=data)))
    assert (finding.id, finding.severity) == ("runner-version", Severity.ERROR)
    assert told in finding.what


def test_the_runners_that_were_built_pass_as_they_are() -> None:
    built = [target for target in TARGETS if (resources.device_build(target) / "heapprof_runner").is_file()]
    assert "linux-x86_64" in built
    for target in built:
        file = artifact(resources.device_build(target) / "heapprof_runner", "heapprof_runner")
        bundle = Bundle(runner=file, libraries=(), origin="nowhere", standin=False)
        what = Situation(PHONE, TARGETS[target], 81, bundle, ())
        assert [*runners.machine(what), *runners.version(what)] == []


def test_several_faults_are_told_at_once(situation: Make) -> None:
    def spoil(folder: Path) -> None:
        fill(folder, build=V47)
        (folder / "libQnnHtp.so").write_bytes(elf(X86_64, "libQnnHtp.so", [], V51))

    assert {finding.id for finding in check_all(situation(spoil))} == {"library-machine", "qnn-builds"}
