"""`heapprof doctor` finds the causes of public failure reports before a run: each on a phone set up in that way.

The reports are those of tests/diagnosis/reports.json, by their ids. Libraries are made files whose ELF headers say
what the reporter's did; the phone is virtual and calls itself an arm64 one.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from heapprof_cli.virtual import VirtualPhone, VirtualPhoneError
from tests.conftest import MODELS, Ended
from tests.models_and_artifacts.made_libraries import AARCH64, V47, V51, elf, fill

ARM_UNAME = {"/system/bin/uname": ("#!/system/bin/sh\necho aarch64\n", 0o755)}
ARM_PHONE = {"ro.product.cpu.abi": "arm64-v8a", "ro.product.cpu.abilist": "arm64-v8a"}
V81_MODEL = "conv_sm8850_v81_qnn2.51.bin"


@dataclass(frozen=True)
class SetUp:
    """How the reporter's phone, folder and model were; what doctor must say of it."""

    check: str
    says: str
    model: str = V81_MODEL
    soc: str = "SM8850"
    properties: Mapping[str, str] = field(default_factory=dict)
    phone: Mapping[str, Any] = field(default_factory=dict)
    libraries: Callable[[Path], None] = lambda folder: None
    arch: int = 81
    code: int = 6
    severity: str = "error"
    words: tuple[str, ...] = ()
    serial: bool = True
    before: Callable[[VirtualPhone, contextlib.ExitStack], None] = lambda phone, stack: None


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def of_build(name: str, build: str) -> Callable[[Path], None]:
    return lambda folder: void((folder / name).write_bytes(elf(AARCH64, name, ["libc.so"], build)))


def old_sdk(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    fill(folder, build=V47)


def needing(*names: str) -> Callable[[Path], None]:
    return lambda folder: void((folder / "libQnnHtp.so").write_bytes(elf(AARCH64, "libQnnHtp.so", names, V51)))


def void(_: object) -> None:
    """What a lambda's value is taken for."""


WARNING: dict[str, Any] = {"code": 0, "severity": "warning"}
NO_SKEL = SetUp("artifacts", "libQnnHtpV81Skel.so", libraries=without("libQnnHtpV81Skel.so"))
OLDER_SDK = SetUp("model-build", f"{V51}, the libraries are older: {V47}", libraries=old_sdk)
COLONS = SetUp(
    "adsp-path", "separated by colons", phone={"variables": {"ADSP_LIBRARY_PATH": "/data/local/tmp:/dsp"}}, **WARNING
)


def unplugged(phone: VirtualPhone, stack: contextlib.ExitStack) -> None:
    assert phone.adb_server is not None
    phone.adb_server.disconnect(phone.serial)


def another_phone(phone: VirtualPhone, stack: contextlib.ExitStack) -> None:
    assert phone.adb_server is not None
    other = stack.enter_context(VirtualPhone(start_server=False))
    phone.adb_server.connect_afresh(other.serial)


NO_PHONE = SetUp("phone", "", code=4, before=unplugged)
TWO_ADBS = SetUp("adb-versions", "the adb on the PATH of", **WARNING)

REPORTS: dict[str, SetUp] = {
    # the wrong SoC
    "pytorch/executorch#9084": SetUp(
        "model-vtcm", "4.0 MiB VTCM, SM8850 has 2 MB", words=("--socs-file", "small_vtcm.yaml")
    ),
    "pytorch/executorch#4973": SetUp(
        "model-arch", "HTP V75", model="conv_sm8650_v75_qnn2.51.bin", soc="SM8550", arch=73
    ),
    "pytorch/executorch#1176": SetUp(
        "model-arch", "HTP V73", model="conv_sm8550_v73_qnn2.47.bin", soc="SM8450", arch=69
    ),
    "qualcomm/ai-hub-apps#15": SetUp(
        "model-arch", "HTP V81), the phone has HTP V79", model=V81_MODEL, soc="SM8750", arch=79
    ),
    "qualcomm/ai-hub-apps#46": SetUp("htp", "Hexagon V66; QNN's HTP begins with V68", soc="SM8250"),
    # missing libraries
    "pytorch/executorch#2788": NO_SKEL,
    "qualcomm/ai-hub-apps#31": NO_SKEL,
    "qualcomm/qidk#7": NO_SKEL,
    "microsoft/onnxruntime#21214": NO_SKEL,
    "DenisovAV/flutter_gemma#293": SetUp(
        "artifacts", "libQnnHtpV79Skel.so", soc="SM8750", libraries=without("libQnnHtpV79Skel.so"), arch=79
    ),
    "microsoft/onnxruntime#31353": SetUp("artifacts", "libQnnHtp.so", libraries=without("libQnnHtp.so")),
    "conan-io/conan-center-index#6865": SetUp(
        "library-needs", "libc++_shared.so", libraries=needing("libc.so", "libc++_shared.so"), **WARNING
    ),
    # libraries of another build, or the phone's own
    "pytorch/executorch#8762": SetUp(
        "vendor-copies",
        "/vendor/lib64/libQnnHtpV81Stub.so",
        phone={"files": {"/vendor/lib64/libQnnHtpV81Stub.so": "the maker's"}},
        **WARNING,
    ),
    "dev.to/jdshah-six-silent-failures": SetUp("qnn-builds", V47, libraries=of_build("libQnnHtpV81Stub.so", V47)),
    "pytorch/executorch#6188": OLDER_SDK,
    "qualcomm/ai-hub-apps#148": OLDER_SDK,
    "qualcomm/ai-hub-models#101": OLDER_SDK,
    "google-ai-edge/LiteRT#6889": OLDER_SDK,
    # the search path of the DSP
    "pytorch/executorch#21586": COLONS,
    "qualcomm/fastrpc#379": COLONS,
    "onnxruntime/onnxruntime-qnn#715": COLONS,
    "ggml-org/llama.cpp#27677": SetUp(
        "adsp-path",
        "/vendor/lib64",
        phone={"variables": {"ADSP_LIBRARY_PATH": "/data/local/tmp;/vendor/lib64"}},
        **WARNING,
    ),
    # rights to the DSP
    "qualcomm/ai-hub-apps#41": SetUp(
        "fastrpc", "may not open /dev/fastrpc-cdsp", phone={"files": {"/dev/fastrpc-cdsp": ("", 0)}}, **WARNING
    ),
    "particle-iot/tachyon-composer#63": SetUp(
        "unsigned-pd", "no fastrpc_shell_unsigned_3 in /dsp", phone={"files": {"/dsp/cdsp/other.so": ""}}, **WARNING
    ),
    # the workspace
    "larq/compute-engine#665": SetUp("workspace", "may not be executed", phone={"data_no_exec": True}),
    "Tencent/TNN#211": SetUp("workspace", "may not be executed", phone={"data_no_exec": True}),
    "termux/termux-packages#1776": SetUp("workspace", "may not be executed", phone={"data_no_exec": True}),
    "Genymobile/scrcpy#4876": SetUp("workspace", "can't be written to", words=("--workspace", "/proc/heapprof")),
    "frida/frida#1269": SetUp("workspace", "is not a folder", words=("--workspace", "/system/bin/sh/x")),
    # the phone and its server
    "httptoolkit/httptoolkit-website#64": SetUp(
        "abi", "is for aarch64, the phone's programs are x86_64", properties={"ro.product.cpu.abi": "x86_64"}
    ),
    "Genymobile/scrcpy#831": SetUp("phone", "unauthorized", phone={"auth": "unauthorized"}, code=4),
    "Genymobile/scrcpy#3042": NO_PHONE,
    "Lauriethefish/QuestPatcher#39": NO_PHONE,
    "Genymobile/scrcpy#5188": SetUp("phone", "offline", before=lambda phone, stack: phone.go_offline(60), code=4),
    "zai-org/Open-AutoGLM#308": SetUp(
        "phone", "2 phones are ready: which one?", serial=False, before=another_phone, code=4
    ),
    "amo13/Anarchy-Droid#6": TWO_ADBS,
    "Genymobile/scrcpy#6506": TWO_ADBS,
}

# What doctor can't see before a run, and why: by the kind of cause.
IN_THE_RUN = "the DSP's memory or state at that moment: it shows in the run, where heapprof explains the log"
NOT_HEAPPROF = "what failed there is a step that heapprof does in another way"
BEYOND: dict[str, str] = {
    "pytorch/executorch#5120": "libc++ of the computer that compiled the model: no model came out of it",
    "UbiquitousLearning/mllm#341": "the cause was never found",
    "onnxruntime/onnxruntime-qnn#781": "a fault within libraries that fit each other",
    "qualcomm/ai-hub-apps#56": "what that app asks of a phone beside its SoC",
    "chraac/llama.cpp#41": NOT_HEAPPROF,  # QNN asks for the unsigned PD before the first call
    "ggml-org/llama.cpp#16911": "an old FastRPC library: its version is nowhere to be read",
    "ggml-org/llama.cpp#22204": "a driver of another platform: no phone",
    "ggml-org/llama.cpp#22352": IN_THE_RUN,
    "UbiquitousLearning/mllm#134": IN_THE_RUN,
    "xororz/local-dream#165": IN_THE_RUN,
    "qualcomm/fastrpc#325": IN_THE_RUN,
    "alibaba/MNN#52": NOT_HEAPPROF,  # every file is pushed alone
    "sim0n00ps/L3-Dumping#9": NOT_HEAPPROF,  # every run has a folder of its own
    "tensorflow/minigo#749": "flags are heapprof's own; an ExecuTorch runner without one is told from its file or run",
    "baidu/Familia#53": "two copies of gflags in a program: it starts, and then refuses its flags",
}
BEFORE_THE_RUN = {
    "soc_arch_mismatch",
    "library_search_path",
    "library_mismatch",
    "context_binary_version",
    "device_state",
    "permissions",
    "unsigned_pd",
    "adb_server",
    "push",
    "wrong_flags",
}


@contextlib.contextmanager
def arm_phone(
    properties: Mapping[str, str], files: Mapping[str, Any] | None = None, **how: Any
) -> Iterator[VirtualPhone]:
    try:
        phone = VirtualPhone(properties=properties, files={**ARM_UNAME, **(files or {})}, private_root=True, **how)
        phone.start()
    except VirtualPhoneError as error:
        pytest.skip(f"no private root here: {error}")
    with contextlib.closing(phone):
        yield phone


def socs_of_a_small_vtcm(folder: Path) -> None:
    (folder / "small_vtcm.yaml").write_text("socs: [{name: SM8850, id: 87, htp_arch: 81, vtcm_mb: 2}]")


def an_older_adb(folder: Path) -> Path:
    program = folder / "bin" / "adb"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho Android Debug Bridge version 1.0.32\n")
    program.chmod(0o755)
    return program.parent


@pytest.mark.parametrize("report", REPORTS)
def test_the_cause_is_found(report: str, heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    case = REPORTS[report]
    libraries = fill(tmp_path / "libraries", case.arch)
    case.libraries(libraries)
    socs_of_a_small_vtcm(tmp_path)
    properties = {**ARM_PHONE, "ro.soc.model": case.soc, **case.properties}
    with contextlib.ExitStack() as stack:
        phone = stack.enter_context(arm_phone(properties, **case.phone))
        case.before(phone, stack)
        words = ["--serial", phone.serial] if case.serial else []
        words += ["--adb-port", str(phone.adb_port), "--workspace", phone.workspace, *case.words]
        variables = {"PATH": f"{an_older_adb(tmp_path)}:{os.environ['PATH']}"} if case is TWO_ADBS else {}
        done = heapprof(
            "doctor", *words, "--runner-target", "android-arm64", "--qnn-libs", libraries,
            "--format", "json", MODELS / "good" / case.model, cwd=tmp_path, **variables,
        )  # fmt: skip
    assert done.code == case.code, done.stdout + done.stderr
    found = [check for check in done.json["checks"] if check["id"] == case.check and check["severity"] != "ok"]
    assert [check["severity"] for check in found] == [case.severity], done.stdout
    assert case.says in found[0]["what"], found
    assert found[0]["fix"], "a finding without a way out"


def test_a_phone_that_fits_has_none_of_it(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    libraries = fill(tmp_path / "libraries")
    with arm_phone(ARM_PHONE) as phone:
        done = heapprof(
            "doctor", "--serial", phone.serial, "--adb-port", str(phone.adb_port), "--workspace", phone.workspace,
            "--runner-target", "android-arm64", "--qnn-libs", libraries, "--format", "json",
            MODELS / "good" / V81_MODEL,
        )  # fmt: skip
    told = {check["id"] for check in done.json["checks"] if check["severity"] != "ok"}
    assert (done.code, told - {"fastrpc"}) == (0, set()), done.stdout  # a virtual phone has no DSP's node


def test_every_report_of_a_cause_before_the_run_is_accounted_for() -> None:
    reports = json.loads((Path(__file__).parents[1] / "diagnosis" / "reports.json").read_text("utf-8"))["reports"]
    wanted = {report["report"] for report in reports if report["stage"] in BEFORE_THE_RUN}
    assert wanted <= REPORTS.keys() | BEYOND.keys(), wanted - REPORTS.keys() - BEYOND.keys()
    assert not REPORTS.keys() & BEYOND.keys()
