"""The debug bundle: all that a colleague needs, and nothing that names anyone."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heapprof_cli.cli.keeping import keep_logs
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
        ("/Users/Jane Doe/x", "~/x"),
        ("/home/jane is here, /data/x", "~ is here, /data/x"),
        ("C:\\\\Users\\\\jane\\\\x", "~\\\\x"),
        ("/mnt/d/Users/jane/x", "~/x"),
        ("JANE@BUILD-BOX-7", "USER@COMPUTER"),
        ("peer src:2001:db8::77", "peer src:ADDRESS"),
        ("inet6:fe80::1 up", "inet6:ADDRESS up"),
        ("2001:db8:1:2:3:4:5:6:5555", "ADDRESS:5555"),
        ("IP192.168.1.20 _192.168.1.21", "IPADDRESS _ADDRESS"),
        ("std::add::add, a::fa", "std::add::add, a::fa"),
        ("mac:aa:bb:cc:dd:ee:01 AA-BB-CC-DD-EE-FF", "mac:MAC-ADDRESS MAC-ADDRESS"),
        ("androidboot.serialno=R5CTSECRET1 ok", "androidboot.serialno=SERIAL ok"),
        ("[ro.ril.oem.imei]: [356938035643809]", "[ro.ril.oem.imei]: [SERIAL]"),
        ("serial: 0x80000406, serial number mismatch", "serial: 0x80000406, serial number mismatch"),
        (
            "the phone is measured by bob on bobs-laptop.corp-12d06dda (process 6384, 50 s left)",
            "the phone is measured by USER on COMPUTER (process 6384, 50 s left)",
        ),
        (r"C:\Users\jane\x", r"~\x"),
        ("[ro.serialno]: [ABCDEF0123]", "[ro.serialno]: [SERIAL]"),
        ("jane@build-box-7", "USER@COMPUTER"),
        ("/data/local/tmp/heapprof/runs", "/data/local/tmp/heapprof/runs"),
    ],
)
def test_what_names_someone_is_replaced(text: str, shown: str) -> None:
    hide = Anonymous({SERIAL: "phone-1", "jane": "USER", "build-box-7": "COMPUTER", "x": "NEVER"})
    assert hide(text) == shown


def test_json_keeps_its_keys_numbers_and_form() -> None:
    hide = Anonymous({"61440": "USER", "bytes": "COMPUTER", "jane": "USER"})
    result = Result(
        Verdict.ERROR, ExitCode.RUNNER_FAILED, r"C:\Users\jane\a.bin", settings={"bytes": 61440},
        logs=(LogFile("status.json", '{"bytes": 61440, "message": "C:\\\\Users\\\\jane\\\\x"}'),),
    )  # fmt: skip
    found = files(bundle(result, {}, hide))
    assert json.loads(found["result.json"])["settings"] == {"bytes": 61440}
    assert json.loads(found["result.json"])["summary"] == r"~\a.bin"
    assert json.loads(found["logs/status.json"]) == {"bytes": 61440, "message": r"~\x"}


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


@pytest.mark.parametrize("name", ["no/run.zip", "a" * 300 + ".zip", "a" * 300 + "/x.zip", ".", "pipe"])
def test_one_that_can_t_be_written_is_told_before_anything(
    heapprof: Callable[..., Ended], tmp_path: Path, model: Path, name: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = heapprof("run", "--adb-port", "1", "--bundle", tmp_path / name, model)
    assert done.code == 2 and "--bundle" in done.stderr


def test_it_overwrites_nothing_of_this_run(heapprof: Callable[..., Ended], tmp_path: Path, model: Path) -> None:
    copy = tmp_path / "model.bin"
    shutil.copy(model, copy)
    (tmp_path / "link.bin").symlink_to(copy)
    for target in (copy, tmp_path / "link.bin", tmp_path / "." / "model.bin"):
        done = heapprof("run", "--adb-port", "1", "--bundle", target, copy)
        assert done.code == 2 and "is read by this run" in done.stderr
        done = heapprof("run", "--adb-port", "1", "-o", f"json:{target}", copy)
        assert done.code == 2 and "is read by this run" in done.stderr
    done = heapprof("run", "--adb-port", "1", "-o", "json:same", "--bundle", "same", copy)
    assert done.code == 2 and "written twice" in done.stderr
    assert copy.read_bytes() == model.read_bytes()


def test_a_pipe_that_nobody_reads_holds_nothing_up(on_phone: OnPhone, model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = on_phone.run("-o", f"json:{tmp_path / 'pipe'}", "--format", "json", model)
    assert (done.code, done.json["exit_code"]) == (2, 0) and "can't write" in done.stderr


def test_a_user_without_a_name_and_a_home(on_phone: OnPhone, standin: Callable[..., Path], model: Path) -> None:
    """As in a container that is started with a number: no entry in /etc/passwd, no HOME."""
    words = ["run", *on_phone.flags(), "--format", "json", "--qnn-libs", str(standin(fail_stage="create")), str(model)]
    script = f"""
import os, pwd, sys
os.environ.pop("HOME", None)
def unknown(uid): raise KeyError(uid)
pwd.getpwuid = unknown
from heapprof_cli.cli.main import run
sys.exit(run({words!r}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout)["exit_code"] == 5
    assert "logs:" not in done.stderr and "Traceback" not in done.stderr and "history" in done.stderr


def test_a_folder_of_logs_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_state_dir", lambda name: str(tmp_path))
    failed = Result(
        Verdict.ERROR, ExitCode.RUNNER_FAILED, "", failure=Failure("a", "b", "c"), started_at="2026-01-01T00:00:00Z"
    )
    whole = replace(failed, logs=(LogFile("stderr.txt", "said"),))
    kept = [keep_logs(whole) for _ in range(25)]
    assert kept[-1] is not None and (kept[-1] / "stderr.txt").read_text() == "said"
    assert len(list((tmp_path / "failed_runs").iterdir())) == 20
    before = sorted((tmp_path / "failed_runs").iterdir())
    assert keep_logs(replace(failed, logs=(LogFile("stderr.txt", "said"), LogFile("no/such/folder.txt", "")))) is None
    assert sorted((tmp_path / "failed_runs").iterdir()) == before
