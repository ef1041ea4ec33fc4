"""Failures staged end to end: on the virtual phone a library says what a real one said, and `run` names the cause.

What the stand-in library and the stand-in for logcat say are the literal lines of public reports
(tests/diagnosis/reports.json) or of the kinds that they stand for; the DSP is simulated, the rest happens.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heapprof_cli import resources
from heapprof_cli.diagnosis.catalogue import catalogue
from heapprof_cli.virtual import VirtualPhone
from tests.conftest import MODELS, TARGET, Ended, OnPhone

CONTEXT, P0 = "conv_sm8850_v81_qnn2.51.bin", "sm8850_p0.pte"
# Says what the test put there, of the time and the process that it is asked for.
LOGCAT = """#!/system/bin/sh
while [ $# -gt 0 ]; do case "$1" in -b) buffers=$2 ;; -T) begin=$2 ;; esac; shift; done
case "$buffers" in kernel) from=kernel ;; *) from=main ;; esac
pid=$(cat /data/local/tmp/*/runs/*/status_*.json 2>/dev/null | sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p')
[ -n "$begin" ] && sed "s/@PID@/${pid:-1}/g; s/@TIME@/$begin/g" "/data/local/tmp/logcat_$from" 2>/dev/null
"""
DENIED = (
    'heapprof_runner: type=1400 audit(0.0:14): avc: denied { open } for path="/dev/adsprpc-smd" dev="tmpfs" ino=1406 '
    "scontext=u:r:shell:s0 tcontext=u:object_r:vendor_qdsp_device:s0 tclass=chr_file permissive=0"
)
MAIN, KERNEL = "@TIME@ @PID@ @PID@ {} {}", "@TIME@     0     0 I kernel  : {}"


@dataclass(frozen=True)
class Stage:
    """What happens, and what must be said of it: exit code, finding and its stage."""

    finding: str
    stage: str
    code: int = 5
    standin: Mapping[str, object] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    model: str = CONTEXT
    executorch: bool = False
    flags: tuple[str, ...] = ()
    among: int = 1


def failing(stage: str, code: int) -> Mapping[str, object]:
    return {"fail_stage": stage, "fail_code": code}


def adsprpc(*texts: str) -> tuple[str, ...]:
    return tuple(MAIN.format("E", f"adsprpc : {text}") for text in texts)


STAGED = {
    "another SoC's VTCM": Stage(
        "vtcm-unsupported", "soc_arch_mismatch", standin=failing("create", 5005),
        says=("<E> Request feature vtcm size with value 8388608 unsupported",
              "<E> Failed to register context to device and backend",
              "<E> Failed to create context from binary with err 0x138d"),
    ),
    "another arch": Stage(
        "arch-unsupported", "soc_arch_mismatch", standin=failing("device", 14001),
        says=("<E> Unsupported HTP arch 73 from device custom config",),
    ),
    "Skel not found": Stage(
        "skel-unable-to-load", "library_search_path", standin=failing("device", 14001),
        says=("<E> DspTransport.openSession qnn_open failed, 0x80000406", "<E> IDspTransport: Unable to load lib "
              "0x80000406", "<E> Unable to load Skel Library. transportStatus: 9",
              "<E> Failed to load skel, error: 1008"),
    ),
    "Skel not found, says FastRPC": Stage(
        "skel-not-found", "library_search_path", standin=failing("device", 14001),
        says=("<E> Failed to load skel, error: 1008",),
        log=adsprpc("remote_handle_open_domain: dynamic loading failed for file:///libQnnHtpV81Skel.so?qnn_skel_handle_"
                    "invoke&_modver=1.0&_dom=cdsp on domain 3 (dlerror cannot open libQnnHtpV81Skel.so)"),
    ),
    "Stub of another SDK": Stage(
        "stub-build-mismatch", "library_mismatch", standin=failing("device", 1008),
        says=("<E> Stub lib id mismatch: expected (v2.28.0.241029232508_102474), detected "
              "(v2.25.17.241017130936_18858)", "<E> Unable to load Remote symbols 1008"),
    ),
    "Skel that does not load": Stage(
        "skel-load-chain", "library_search_path", standin=failing("device", 14001),
        says=("<E> Unable to load Remote symbols 4000", "<E> Failed to load skel, error: 4000",
              "<E> Transport layer setup failed: 14001"),
    ),
    "Skel not signed": Stage(
        "signature", "unsigned_pd", standin=failing("device", 14001), says=("<E> Failed to load skel, error: 4000",),
        log=adsprpc("remote_handle_open_domain: dynamic loading failed for file:///libQnnHtpV81Skel.so on domain 3 "
                    "(dlerror signature verify start failed for libQnnHtpV81Skel.so)"),
    ),
    "no right to the DSP": Stage(
        "dsp-device-denied", "permissions", standin=failing("device", 14001),
        says=("<E> Failed to load skel, error: 4000",),
        log=(MAIN.format("W", DENIED),),
    ),
    "no way to the DSP": Stage(
        "fastrpc-no-device", "fastrpc", standin=failing("device", 14001),
        log=adsprpc("fastrpc_apps_user.c:4247: Error 0x80000416: apps_dev_init failed for domain 3, errno Success"),
    ),
    "DSP memory for weights": Stage(
        "map-refused", "dsp_memory", standin=failing("create", 1002),
        says=("<E> fastrpc memory map for fd: 58 with length: 440401920 failed with error: 0x1",
              "<E> Failed to map weights buffer to device!", "<E> Could not allocate persistent weights buffer!",
              "<E> Context create from binary failed for deviceId 0 coreId 0 pdId 0 for context 7, err 1002"),
    ),
    "DSP memory, says FastRPC": Stage(
        "map-refused", "dsp_memory", standin=failing("execute", 1003),
        log=adsprpc("fastrpc_mem.c:700: Error 0x58: remote_mmap64_internal failed for fd 0xffffffff of size 293601280 "
                    "(flags 0x1000, vaddrin 0x0) errno Success"),
    ),
    "DSP memory for a session": Stage(
        "dsp-memory-words", "dsp_memory", standin=failing("device", 14001),
        says=("<E> Failed to allocate memory", "<E> Failed to create transport for device, error: 4000",
              "<E> Transport layer setup failed: 14001"),
    ),
    "no DSP process left": Stage(
        "dsp-memory-words", "dsp_memory", standin=failing("device", 14001), says=("<E> Failed to find available PD",),
    ),
    "binary of another version": Stage(
        "binary-version", "context_binary_version", standin=failing("create", 5005),
        says=("<E> Failed to create context from context binary: Unsupported context binary version.",),
    ),
    "binary of a newer QNN": Stage(
        "binary-version", "context_binary_version", standin={"sdk": "2.47"},
    ),
    "binary full of zeros": Stage(
        "binary-blank", "context_binary_malformed", standin=failing("create", 5005),
        says=("<E> Unsupported buffer version 0.0.0 (supported: 3.3.2)",),
    ),
    "DSP restarted": Stage(
        "dsp-restart", "crash", standin=failing("execute", 1100),
        kernel=("remoteproc remoteproc2: crash detected in cdsp: type fatal error",
                "remoteproc remoteproc2: handling crash #1 in cdsp", "remoteproc remoteproc2: recovering cdsp"),
    ),
    "execution failed": Stage(
        "execution-failed", "crash", standin=failing("execute", 1100),
        says=("<E> Dma execution failed on the skel side. result = 1100 transport error = 0",
              "<E> Graph forward failed in execution with err 1100"),
    ),
    "crash": Stage(
        "process-crash", "crash", standin={"crash_stage": "create"},
        log=(MAIN.format("F", "libc    : Fatal signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0 in tid @PID@ "
             "(heapprof_runner), pid @PID@ (heapprof_runner)"),
             "@TIME@ 999 999 F DEBUG   : pid: @PID@, tid: @PID@, name: heapprof_runner  >>> ./heapprof_runner <<<",
             "@TIME@ 999 999 F DEBUG   : signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0000000000000000",
             "@TIME@ 999 999 F DEBUG   :       #00 pc 0000000000042a10  /data/local/tmp/libQnnHtp.so"),
    ),
    "crash without a word": Stage("process-crash", "crash", standin={"crash_stage": "execute", "crash_signal": "ABRT"}),
    "killed for memory": Stage(
        "low-memory-killer", "dsp_memory", standin={"crash_stage": "create", "crash_signal": "KILL"},
        kernel=("lowmemorykiller: Killing 'heapprof_runner' (@PID@), adj 0, to free 812344kB on behalf of 'kswapd0'",),
    ),
    "hangs": Stage(
        "qnn-timed-out", "timeout", code=7, standin={"hang_stage": "execute"}, flags=("--timeout", "1"),
    ),
    "no heap profiling": Stage(
        "profiling-unsupported", "profiling_off", standin={"dsp_profiling": "no"},
        says=("<E> Dsp memory profiling is not supported",),
    ),
    "no heap events": Stage("heap-file-missing", "profiling_off", code=3, standin={"events": "none"}),
    "half a heap file": Stage("heap-file-one-line", "heap_file", code=3, standin={"events": "before"}),
    "ExecuTorch too old for its flag": Stage(
        "unknown-flag", "wrong_flags", executorch=True, model="sm8850_p2.pte",
        standin={"runner_unknown_flag": "heap_profiling_path"},
    ),
    "ExecuTorch without a path": Stage(
        "profiling-path-empty", "profiling_off", code=3, executorch=True, model="sm8850_p2.pte",
        standin={"runner_heap_path": "lost"},
    ),
    "ExecuTorch's profile off": Stage(
        "heap-file-missing", "profiling_off", code=3, executorch=True, model=P0,
        standin={"runner_profile_level": "ignored"},
    ),
    "ExecuTorch crashes": Stage(
        "process-crash", "crash", executorch=True, model="sm8850_p2.pte", standin={"runner_crash": "yes"},
        log=("@TIME@ 998 998 F DEBUG   : pid: 4711, tid: 4711, name: qnn_executor_ru  >>> ./qnn_executor_runner <<<",
             "@TIME@ 998 998 F DEBUG   : signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0"),
    ),
}  # fmt: skip
# What other apps say at the same time is not about this run.
OTHERS = (
    "@TIME@  77  77 F libc    : Fatal signal 6 (SIGABRT), code -1 (SI_QUEUE) in tid 77 (camera), pid 77 (camera)",
    "@TIME@ 700 700 F DEBUG   : pid: 77, tid: 77, name: camera  >>> /vendor/bin/camera <<<",
    "@TIME@ 700 700 F DEBUG   : signal 6 (SIGABRT), code -1 (SI_QUEUE), fault addr --------",
    "@TIME@  78  78 E adsprpc : remote_handle_open_domain: dynamic loading failed for file:///libother_skel.so on "
    "domain 3 (dlerror cannot open libother_skel.so)",
)


@pytest.fixture(scope="module")
def logging_phone() -> Iterator[VirtualPhone]:
    with VirtualPhone(files={"/system/bin/logcat": (LOGCAT, 0o755)}) as phone:
        yield phone


@pytest.fixture
def staged(
    logging_phone: VirtualPhone, heapprof: Callable[..., Ended], standin: Callable[..., Path], tmp_path: Path
) -> Callable[..., Ended]:
    def call(stage: Stage, *flags: str | Path) -> Ended:
        kernel = tuple(KERNEL.format(text) for text in stage.kernel)
        lines = {"logcat_main": (*OTHERS, *stage.log), "logcat_kernel": kernel, "library_says": stage.says}
        for name, texts in lines.items():
            path = logging_phone.host_path(f"/data/local/tmp/{name}")
            path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        # From the run's folder, where the library lies.
        libraries = standin(**stage.standin, **({"log_file": "../../../library_says"} if stage.says else {}))
        runner = ["--runner", "executorch", "--build-folder", _build(tmp_path / "build")] if stage.executorch else []
        where = OnPhone(logging_phone, heapprof)
        return where.run(*flags, "--qnn-libs", libraries, *runner, *stage.flags, MODELS / "good" / stage.model)

    return call


def _build(folder: Path) -> Path:
    made = resources.device_build(TARGET) / "standin_executorch"
    places = {
        "qnn_executor_runner": "examples/qualcomm/executor_runner",
        "libqnn_executorch_backend.so": "backends/qualcomm",
    }
    for name, place in places.items():
        (folder / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(made / name, folder / place / name)
    return folder


def test_there_are_at_least_25() -> None:
    assert len(STAGED) >= 25
    assert len({stage.finding for stage in STAGED.values()}) >= 20


@pytest.mark.parametrize("name", STAGED)
def test_run_names_cause_and_fix(staged: Callable[..., Ended], name: str) -> None:
    stage = STAGED[name]
    done = staged(stage, "--format", "json")
    assert done.code == stage.code, done.stderr
    found = [(finding["id"], finding["stage"]) for finding in done.json["findings"]]
    assert (stage.finding, stage.stage) in found[: stage.among], json.dumps(done.json["findings"], indent=1)
    top = done.json["findings"][0]
    assert "camera" not in json.dumps(done.json["findings"]) and "libother" not in json.dumps(done.json["findings"])
    hint = done.json["error"]["hints"][0]
    assert top["cause"].rstrip(".") in hint and top["fix"] in hint
    assert hint in done.stderr
    causes = {cause.id for rule in catalogue().rules.values() for cause in rule.causes}
    assert top["id"] in causes


def test_the_words_on_a_terminal_and_the_folder_of_logs(
    staged: Callable[..., Ended], tmp_path: Path, name: str = "crash"
) -> None:
    done = staged(STAGED[name])
    assert done.code == 5
    (where,) = [line.split("logs: ")[1] for line in done.stderr.splitlines() if line.startswith("  logs: ")]
    folder = Path(where)
    assert folder.is_relative_to(tmp_path), "in the user's own state folder"
    assert {path.name for path in folder.iterdir()} == {"stderr.txt", "logcat.txt", "status.json"}
    log = (folder / "logcat.txt").read_text("utf-8")
    assert "libQnnHtp.so" in log and "camera" not in log and "libother" not in log
    assert json.loads((folder / "status.json").read_text("utf-8"))["signal_name"] == "SIGSEGV"
    assert (folder / "stderr.txt").read_text("utf-8").startswith("heapprof_runner: stage load\n")


def test_a_good_run_keeps_nothing(staged: Callable[..., Ended], tmp_path: Path) -> None:
    done = staged(Stage("", ""), "--format", "json")
    assert (done.code, done.json["findings"]) == (0, [])
    assert not list(tmp_path.rglob("failed_runs"))


def test_a_wrong_file_of_rules_takes_nothing_from_the_result(
    on_phone: OnPhone, standin: Callable[..., Path], tmp_path: Path
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules: [{id: 1}]")
    libraries = standin(**failing("create", 5005))
    done = on_phone.run(
        "--format", "json", "--qnn-libs", libraries, MODELS / "good" / CONTEXT, HEAPPROF_RULES=str(rules)
    )
    assert (done.code, done.json["findings"]) == (5, [])
    assert any("rules.yaml" in hint for hint in done.json["error"]["hints"])
