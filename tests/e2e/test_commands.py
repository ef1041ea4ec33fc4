"""The other commands, failures before any measurement, streams and interrupts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heapprof_cli.errors import ExitCode
from heapprof_cli.virtual import VirtualPhone
from tests.conftest import TARGET, Ended, OnPhone, clean_environment


def test_version_and_help(heapprof: Callable[..., Ended]) -> None:
    assert heapprof("--version").stdout.startswith("heapprof, version ")
    text = heapprof("--help").stdout
    for code in ExitCode:
        assert f"{code.value}  {code.name.lower()}" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "MODEL"),
        (["run", "--no-such-flag", "x.bin"], "--no-such-flag"),
        (["frobnicate"], "frobnicate"),
        (["run", "--adb-port", "0", "x.bin"], "--adb-port"),
        (["run", "--perf-mode", "11", "x.bin"], "performance mode"),
        (["run", "--soc", "SM9", "x.bin"], "unknown SoC"),
        (["run", "--workspace", "relative", "x.bin"], "--workspace"),
        (["run", "absent.bin"], "absent.bin"),
        (["run", "--qnn-libs", "absent", "x.bin"], "absent"),
        (["demo", "--standin", "x", "absent.bin"], "KEY=VALUE"),
        (["demo", "absent.bin"], "absent.bin"),
    ],
)
def test_usage_errors(heapprof: Callable[..., Ended], arguments: list[str], words: str) -> None:
    done = heapprof(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    if len(arguments) > 1:
        told = heapprof(*arguments, "--format", "json")
        assert (told.code, told.json["exit_code"], told.json["error"]["code"]) == (2, 2, "usage")


def test_no_server_is_explained(heapprof: Callable[..., Ended], model: Path) -> None:
    for command in (["run", model], ["devices"]):
        done = heapprof(*command, "--adb-port", "1", "--format", "json")
        assert (done.code, done.json["error"]["code"]) == (4, "device")
        assert "no adb server" in done.json["error"]["message"]


def test_a_phone_that_is_not_there(on_phone: OnPhone, heapprof: Callable[..., Ended], model: Path) -> None:
    port = str(on_phone.phone.adb_port)
    done = heapprof("run", "--adb-port", port, "--serial", "nobody", "--format", "json", model)
    assert done.code == 4
    assert "nobody" in done.json["error"]["message"]


def test_the_server_can_come_from_the_environment(on_phone: OnPhone, heapprof: Callable[..., Ended]) -> None:
    port = on_phone.phone.adb_port
    for variables in ({"ADB_SERVER_SOCKET": f"tcp:127.0.0.1:{port}"}, {"ANDROID_ADB_SERVER_PORT": str(port)}):
        done = heapprof("devices", "--format", "json", **variables)
        assert (done.code, len(done.json["devices"])) == (0, 1)


def test_devices(on_phone: OnPhone, heapprof: Callable[..., Ended]) -> None:
    port = str(on_phone.phone.adb_port)
    (device,) = heapprof("devices", "--adb-port", port, "--format", "json").json["devices"]
    assert (device["state"], device["soc"], device["htp_arch"], device["abi"]) == ("device", "SM8850", 81, "x86_64")
    assert device["free_bytes"] > 0
    assert "serial" not in device
    (shown,) = heapprof("devices", "--adb-port", port, "--format", "json", "--show-serial").json["devices"]
    assert shown["serial"] == on_phone.phone.serial
    table = heapprof("devices", "--adb-port", port).stdout
    assert device["alias"] in table and "SM8850" in table and on_phone.phone.serial not in table


def test_an_unauthorized_phone_is_explained(heapprof: Callable[..., Ended], model: Path) -> None:
    with VirtualPhone(auth="unauthorized") as phone:
        port = str(phone.adb_port)
        done = heapprof("run", "--adb-port", port, "--format", "json", model)
        assert done.code == 4
        assert "unauthorized" in done.json["error"]["message"]
        assert "Allow USB debugging" in done.json["error"]["hints"][0]
        listing = heapprof("devices", "--adb-port", port, "--format", "json").json["devices"]
        assert listing[0]["state"] == "unauthorized"


def test_demo(heapprof: Callable[..., Ended]) -> None:
    done = heapprof("demo")
    assert done.code == 0, done.stderr
    assert done.stdout.count("928212") == 2
    assert "simulated" in done.stdout


def test_demo_works_with_an_sdk_in_the_environment(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "sdk").mkdir()
    done = heapprof("demo", "--format", "json", QNN_SDK_ROOT=str(tmp_path / "sdk"), HEAPPROF_QNN_LIBS=str(tmp_path))
    assert (done.code, done.json["simulated"]) == (0, True)


def test_demo_takes_models_and_behaviour(heapprof: Callable[..., Ended], model: Path) -> None:
    done = heapprof("demo", "--format", "json", "--standin", "before=7", "--standin", "after=9", model)
    assert (done.code, done.json["difference_bytes"], done.json["device"]["virtual"]) == (0, 2, True)


def test_runner_path(heapprof: Callable[..., Ended]) -> None:
    assert Path(heapprof("runner", "path", TARGET).stdout.strip()).is_file()
    folder = Path(heapprof("runner", "path", TARGET, "--standin").stdout.strip())
    assert {"libQnnHtp.so", "libQnnSystem.so"} <= {p.name for p in folder.iterdir()}


def test_runner_build_and_verify(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    built = heapprof("runner", "build", "android-arm64", "--output", tmp_path / "out")
    assert built.code == 0, built.stderr
    runner = Path(built.stdout.strip())
    assert runner.is_file() and tmp_path in runner.parents
    right = heapprof("runner", "verify", runner)
    assert (right.code, "structurally right" in right.stdout) == (0, True)
    wrong = heapprof("runner", "verify", Path(heapprof("runner", "path", "linux-arm64").stdout.strip()))
    assert wrong.code == 6 and "interpreter" in wrong.stdout
    broken = heapprof("runner", "build", TARGET, "--output", tmp_path / "out", "--cc", "/no/such/compiler")
    assert broken.code == 2 and "/no/such/compiler" in broken.stderr


def test_dry_run_sends_nothing(heapprof: Callable[..., Ended], standin: Callable[..., Path], model: Path) -> None:
    done = heapprof("run", "--dry-run", "--adb-port", "1", "--qnn-libs", standin(), "--runner-target", TARGET, model)
    assert done.code == 0, done.stderr
    assert "--heap_profiling_path=" in done.stdout and "mkdir -p" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupts_clean_up(
    on_phone: OnPhone, standin: Callable[..., Path], model: Path, tmp_path: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "heapprof_cli", "run", *on_phone.flags(), "--format", "json"]
    process = subprocess.Popen(
        [*command, "--qnn-libs", str(standin(hang_stage="execute")), str(model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(tmp_path),
    )
    deadline = time.monotonic() + 30
    while not any(line.startswith("./heapprof_runner") for _, line in on_phone.phone.processes()):
        assert time.monotonic() < deadline, "the runner never started"
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    result = json.loads(out)
    assert (result["exit_code"], result["error"]["code"]) == (130, "interrupted")
    assert "cleaned up" in result["error"]["message"]
