"""The debug bundle: all that a colleague needs, and nothing that names anyone."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from heapprof_cli.errors import ExitCode
from heapprof_cli.records import CheckOutcome, Failure, LogFile, Result, Verdict
from heapprof_cli.render.anonymous import Anonymous
from heapprof_cli.render.bundle import bundle
from tests.conftest import Ended, OnPhone

SERIAL = "1a2b3c4d"


def files(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("serial 1a2b3c4d is offline", "serial phone-1 is offline"),
        ("'1a2b3c4d'", "'phone-1'"),
        ("x1a2b3c4dx", "x1a2b3c4dx"),
        ("failed to connect to 192.168.1.20:5555", "failed to connect to ADDRESS:5555"),
        ("at 10.0.0.7.", "at ADDRESS."),
        ("v2.51.0.260929181845 and 2.28.0.241029", "v2.51.0.260929181845 and 2.28.0.241029"),
        ("lib 1.2.3.4.5", "lib 1.2.3.4.5"),
        ("server 127.0.0.1:5037", "server 127.0.0.1:5037"),
        ("fe80::1ff:fe23:4567:890a%2", "ADDRESS%2"),
        ("12:30:01 and 10:00:00.123", "12:30:01 and 10:00:00.123"),
        ("wlan0 aa:bb:cc:dd:ee:ff up", "wlan0 MAC-ADDRESS up"),
        ("/home/jane/models/a.bin", "~/models/a.bin"),
        ("/Users/Jane Doe/x", "~ Doe/x"),
        (r"C:\Users\jane\x", r"~\x"),
        ("[ro.serialno]: [ABCDEF0123]", "[ro.serialno]: [SERIAL]"),
        ("jane@build-box-7", "USER@COMPUTER"),
        ("/data/local/tmp/heapprof/runs", "/data/local/tmp/heapprof/runs"),
    ],
)
def test_what_names_someone_is_replaced(text: str, shown: str) -> None:
    hide = Anonymous({SERIAL: "phone-1", "jane": "USER", "build-box-7": "COMPUTER", "x": "NEVER"})
    assert hide(text) == shown


def test_longer_names_come_first() -> None:
    assert Anonymous({"abc": "A", "abc-def": "B"})("abc-def abc") == "B A"


def test_what_it_holds() -> None:
    result = Result(
        Verdict.ERROR,
        ExitCode.RUNNER_FAILED,
        f"lost {SERIAL}",
        failure=Failure("runner_failed", "run", f"lost {SERIAL}", ("do this",)),
        checks=(CheckOutcome("thermal", "warning", "hot", "wait"),),
        logs=(LogFile("stderr.txt", f"on {SERIAL}\n"), LogFile("logcat.txt", "nul \0 and \udcff\n")),
        settings={"soc": "auto"},
        settings_origins={"soc": "default"},
    )
    content = bundle(result, {"heapprof": "1"}, Anonymous({SERIAL: "phone-1"}))
    found = files(content)
    assert set(found) == {
        "README.txt", "result.json", "versions.json", "preflight.json", "artifacts.json", "logs/stderr.txt",
        "logs/logcat.txt",
    }  # fmt: skip
    assert SERIAL not in "".join(found.values())
    assert json.loads(found["result.json"])["settings_origins"] == {"soc": "default"}
    assert json.loads(found["preflight.json"])["checks"][0]["fix"] == "wait"
    assert "exit code 5" in found["README.txt"] and "Hint: do this" in found["README.txt"]
    assert content == bundle(result, {"heapprof": "1"}, Anonymous({SERIAL: "phone-1"}))


@pytest.mark.parametrize("code", [0, 5])
def test_a_run_writes_one_whether_it_ends_well_or_not(
    on_phone: OnPhone, standin: Callable[..., Path], tmp_path: Path, model: Path, code: int
) -> None:
    behaviour = {"fail_stage": "create"} if code else {}
    target = tmp_path / "run.zip"
    done = on_phone.run("--qnn-libs", standin(**behaviour), "--bundle", target, "--format", "json", model)
    assert done.code == code, done.stderr
    found = files(target.read_bytes())
    assert {"result.json", "versions.json", "logs/stderr.txt", "logs/status.json"} <= set(found)
    everything = "".join(found.values())
    assert on_phone.phone.serial not in everything
    assert str(tmp_path) not in found["result.json"]
    assert json.loads(found["result.json"])["exit_code"] == code
    assert json.loads(found["versions.json"])["heapprof"]
    assert not list(tmp_path.glob(".run.zip*"))


def test_one_that_can_t_be_written_is_told_before_anything(
    heapprof: Callable[..., Ended], tmp_path: Path, model: Path
) -> None:
    done = heapprof("run", "--adb-port", "1", "--bundle", tmp_path / "no" / "run.zip", model)
    assert done.code == 2 and "--bundle" in done.stderr
