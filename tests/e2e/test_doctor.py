"""`heapprof doctor` and preflight in `run`: on the virtual phone, with the stand-in and with folders that don't fit."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import heapprof_cli
from heapprof_cli.settings import CHECK_NAMES
from heapprof_cli.virtual import VirtualPhone
from tests.conftest import MODELS, TARGET, Ended, OnPhone
from tests.models_and_artifacts.made_libraries import V47, V51, X86_64, fill

GOOD = MODELS / "good"


@pytest.fixture
def doctor(on_phone: OnPhone) -> Callable[..., Ended]:
    """`heapprof doctor` on the virtual phone."""
    return lambda *words, **options: on_phone.heapprof("doctor", *on_phone.flags(), *words, **options)


def severities(done: Ended) -> dict[str, str]:
    return {check["id"]: check["severity"] for check in done.json["checks"]}


def test_all_is_well(doctor: Callable[..., Ended], model: Path) -> None:
    done = doctor("--format", "json", model)
    assert done.code == 0, done.stdout + done.stderr
    told = ["conditions"] if "conditions" in severities(done) else []  # governors and sensors may not be seen
    assert severities(done) == dict.fromkeys(
        ["model-file", "phone", "soc", "workspace", *told, "artifacts", "fit"], "ok"
    )
    table = doctor(model)
    assert table.code == 0
    assert "stand-in libraries" in table.stdout and model.name in table.stdout


def test_a_model_that_can_t_be_read_and_one_that_can_t_be_measured(doctor: Callable[..., Ended]) -> None:
    done = doctor("--format", "json", MODELS / "bad" / "blobzero.bin", GOOD / "sm8850_online.pte")
    assert done.code == done.json["exit_code"] == 2
    told = [check for check in done.json["checks"] if check["severity"] == "error"]
    assert [check["id"] for check in told] == ["model-file", "model-file"]
    assert "blobzero.bin" in told[0]["what"] and "online_prepare" in told[1]["what"]
    assert all(check["fix"] for check in told)
    assert severities(done)["phone"] == "ok", "later checks still run"


def test_missing_libraries(doctor: Callable[..., Ended], tmp_path: Path, model: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = doctor("--format", "json", "--qnn-libs", tmp_path / "empty", model)
    assert done.code == 6
    assert severities(done)["artifacts"] == "error"


def test_libraries_for_another_machine_end_a_run_before_anything_is_sent(
    on_phone: OnPhone, doctor: Callable[..., Ended], tmp_path: Path, model: Path
) -> None:
    libs = fill(tmp_path / "libs", android=False)
    checked = doctor("--format", "json", "--qnn-libs", libs, model)
    assert (checked.code, severities(checked)["library-machine"]) == (6, "error")
    done = on_phone.run("--format", "json", "--qnn-libs", libs, model)
    assert (done.code, done.json["error"]["code"]) == (6, "preflight")
    assert "is for aarch64" in done.json["error"]["message"]
    assert any("--skip library-machine" in hint for hint in done.json["error"]["hints"])
    assert "push" not in [stage["name"] for stage in done.json["stages"]]


def test_the_emulator_s_age_is_a_warning_until_strict(
    doctor: Callable[..., Ended], tmp_path: Path, model: Path
) -> None:
    libs = fill(tmp_path / "libs", build=V47, android=False, machine=X86_64)
    for name in ("libQnnHtpV81Skel.so", "libQnnHtpV81Stub.so"):
        (libs / name).unlink()
    done = doctor("--format", "json", "--qnn-libs", libs, model)
    assert (done.code, severities(done)["model-build"]) == (0, "warning")
    assert V47 in done.stdout and V51 in done.stdout
    assert doctor("--strict", "--qnn-libs", libs, model).code == 6
    assert doctor("--strict", "--skip", "model-build", "--qnn-libs", libs, model).code == 0
    unknown = doctor("--skip", "model-biuld", model)
    assert unknown.code == 2 and "did you mean model-build" in unknown.stderr


def test_a_wrong_soc(doctor: Callable[..., Ended], model: Path) -> None:
    done = doctor("--format", "json", "--soc", "SM8650", model)
    assert (done.code, severities(done)["artifacts"]) == (6, "error")
    assert severities(doctor("--format", "json", GOOD / "conv_sm8650_v75_qnn2.51.bin"))["model-arch"] == "warning"


def test_no_phone(heapprof: Callable[..., Ended], model: Path) -> None:
    done = heapprof("doctor", "--serial", "none", "--adb-port", "1", "--format", "json", model)
    assert done.code == 4
    assert severities(done) == {"model-file": "ok", "phone": "error"}


@pytest.mark.parametrize("folder", ["/proc/heapprof", "/sys/heapprof"])
def test_a_workspace_that_is_of_no_use(doctor: Callable[..., Ended], model: Path, folder: str) -> None:
    done = doctor("--format", "json", "--workspace", folder, model)
    assert (done.code, severities(done)["workspace"]) == (6, "error")


def test_a_variant_is_told(heapprof: Callable[..., Ended]) -> None:
    with VirtualPhone(properties={"ro.soc.model": "SM8750P"}) as phone:
        flags = OnPhone(phone, heapprof).flags()
        done = heapprof("doctor", *flags, "--format", "json")
        assert (done.code, severities(done)["soc"]) == (0, "warning")
        assert "SM8750P: taken as SM8750 (HTP V79)" in done.stdout


def test_every_check_has_a_name_that_skip_takes() -> None:
    used = set()
    for path in Path(heapprof_cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("Finding", "_failed"):
                first = node.args[0] if node.args else None
                used |= {first.value} if isinstance(first, ast.Constant) else set()
    assert used == set(CHECK_NAMES)
    assert TARGET == "linux-x86_64"
