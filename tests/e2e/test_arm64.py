"""The whole flow on a virtual phone whose processor is arm64: the linux-arm64 runner under QEMU's emulator."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli import resources
from heapprof_cli.virtual import VirtualPhone, VirtualPhoneError
from tests.conftest import MODELS, Ended, OnPhone, litter, wait_until

TARGET = "linux-arm64"


@pytest.fixture(scope="module")
def arm_phone() -> Iterator[VirtualPhone]:
    try:
        phone = VirtualPhone(machine="aarch64", private_root=True)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    try:
        phone.start()
    except VirtualPhoneError as error:
        phone.close()
        pytest.skip(f"this kernel gives no binfmt_misc to namespaces: {error}")
    yield phone
    phone.close()


@pytest.fixture
def arm(arm_phone: VirtualPhone, heapprof: Callable[..., Ended]) -> Iterator[OnPhone]:
    yield OnPhone(arm_phone, heapprof)
    wait_until(lambda: not any("heapprof_runner" in line for _, line in arm_phone.processes()), "a runner lives on")
    assert litter(arm_phone) == []


def standin(folder: Path, **behaviour: object) -> Path:
    folder.mkdir()
    for library in (resources.device_build(TARGET) / "standin").glob("*.so"):
        (folder / library.name).symlink_to(library)
    (folder / "standin.conf").write_text("".join(f"{key} = {value}\n" for key, value in behaviour.items()))
    return folder


@pytest.mark.parametrize("name", sorted(path.name for path in (MODELS / "good").glob("*.bin")))
def test_every_good_model(arm: OnPhone, name: str) -> None:
    done = arm.run("--format", "json", MODELS / "good" / name)
    assert done.code == 0, done.stderr
    result = done.json
    assert (result["before_bytes"], result["after_bytes"], result["simulated"]) == (928212, 928212, True)
    assert (result["runner"]["target"], result["device"]["abi"]) == (TARGET, "arm64-v8a")


def test_what_was_sent_is_arm64(arm: OnPhone, tmp_path: Path) -> None:
    runner = resources.device_build(TARGET) / "heapprof_runner"
    assert struct.unpack_from("<H", runner.read_bytes(), 18)[0] == 183
    libs = standin(tmp_path / "s", before=11, after=22)
    model = MODELS / "good" / "two_graphs_sm8850_v81_qnn2.51.bin"
    done = arm.run("--qnn-libs", libs, "--format", "json", model, model)
    assert (done.code, done.json["before_bytes"], done.json["after_bytes"]) == (0, 11, 22), done.stderr


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ({"crash_stage": "execute"}, 5, "SIGSEGV"),
        ({"fail_stage": "create", "fail_code": 5005}, 5, "5005"),
        ({"hang_stage": "free"}, 7, "'free'"),
        ({"events": "none"}, 3, "no DSP heap events"),
        ({"before": 9, "after": 3}, 3, "less than before"),
    ],
)
def test_failures(
    arm: OnPhone, tmp_path: Path, model: Path, behaviour: dict[str, object], code: int, words: str
) -> None:
    libs = standin(tmp_path / "s", **behaviour)
    done = arm.run("--qnn-libs", libs, "--timeout", "3", "--format", "json", model)
    assert done.code == code, done.stderr
    assert words in done.json["error"]["message"]


def test_the_emulator_is_the_phones_alone(arm_phone: VirtualPhone) -> None:
    told = subprocess.run(["ls", "/proc/sys/fs/binfmt_misc"], capture_output=True, text=True, check=False).stdout
    assert "aarch64" not in told.split(), json.dumps(told)
