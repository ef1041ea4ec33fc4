"""Logs of runs that went well, tool by tool, as such tools write them: warnings, zero codes and harmless errors in
them. No rule may find anything here."""

# ruff: noqa: E501  (lines of logs)

from __future__ import annotations

_EXECUTORCH = """\
I 00:00:00.000343 executorch:qnn_executor_runner.cpp:232] Model file model.pte is loaded.
I 00:00:00.000401 executorch:qnn_executor_runner.cpp:241] Using method forward
I 00:00:00.000433 executorch:qnn_executor_runner.cpp:288] Setting up planned buffer 0, size 1204224.
[INFO] [Qnn ExecuTorch]: Deserializing processed data using QnnContextCustomProtocol
[INFO] [Qnn ExecuTorch]: create QNN Logger with log_level 1
[INFO] [Qnn ExecuTorch]: Initialize Qnn backend parameters for Qnn executorch backend type 2
[INFO] [Qnn ExecuTorch]: Caching: Caching is in RESTORE MODE.
[INFO] [Qnn ExecuTorch]: QnnContextCustomProtocol expected magic number: 0x5678abcd but get: 0x2000000
[WARNING] [Qnn ExecuTorch]: QnnDsp <W> Function not called, PrepareLib isn't loaded!
[INFO] [Qnn ExecuTorch]: Running level=1 optimization.
I 00:00:00.174532 executorch:qnn_executor_runner.cpp:311] Method loaded.
I 00:00:00.174800 executorch:qnn_executor_runner.cpp:351] Inputs prepared.
I 00:00:00.180112 executorch:qnn_executor_runner.cpp:366] Model executed successfully.
I 00:00:00.180300 executorch:qnn_executor_runner.cpp:399] 1 inference took 5.312000 ms, avg 5.312000 ms
[INFO] [Qnn ExecuTorch]: Destroy Qnn backend parameters
[INFO] [Qnn ExecuTorch]: Destroy Qnn context
[INFO] [Qnn ExecuTorch]: Destroy Qnn device
[INFO] [Qnn ExecuTorch]: Destroy Qnn backend"""

_HEAP = """\
I 00:00:00.000343 executorch:qnn_executor_runner.cpp:232] Model file model.pte is loaded.
[INFO] [Qnn ExecuTorch]: Profile level 2, heap profiling enabled
DSP:before_context_created (bytes), 928212
DSP:after_context_freed (bytes), 928212
I 00:00:00.180112 executorch:qnn_executor_runner.cpp:366] Model executed successfully."""

_NATIVE = """\
heapprof_runner: stage=backend
heapprof_runner: stage=device
heapprof_runner: stage=context 1 of 1
heapprof_runner: stage=execute
heapprof_runner: stage=free
heapprof_runner: stage=done errors=0"""

_QNN_NET_RUN = """\
qnn-net-run pid:4711
qnn-net-run build version: v2.31.0.250130151446_114721
Backend        build version: v2.31.0.250130151446_114721
Profiling turned on; level = detailed
0.0ms [WARNING] Caching is enabled, error reporting level is basic
12.5ms [ INFO ] QnnContext_createFromBinary done. status 0x0
12.9ms [ INFO ] QnnGraph_execute started
15.0ms [ INFO ] QnnGraph_execute done. status 0x0
Finished Executing Graphs
Graph execution time: 2.1 ms, 0 errors"""

_NET_RUN_SIMPLE = """\
     0.0ms [  INFO ] Model wasn't loaded from a shared library.
     0.0ms [  INFO ] qnn_open call successful
     3.1ms [  INFO ] Skel lib id verified
     9.7ms [  INFO ] QnnDevice_create done. status 0x0
    20.0ms [VERBOSE] ~BackendManager: no error"""

_ORT = """\
2026-03-01 10:00:00.1000 [I:onnxruntime:, inference_session.cc:583 TraceSessionOptions] Session Options {  }
2026-03-01 10:00:00.1100 [I:onnxruntime:Default, qnn_backend_manager.cc:101 LoadBackend] backend build version: v2.31.0
2026-03-01 10:00:00.1200 [V:onnxruntime:Default, qnn_backend_manager.cc:251 QnnLogging]  <I> QnnDevice_create done. status 0x0
2026-03-01 10:00:00.1300 [V:onnxruntime:Default, qnn_backend_manager.cc:251 QnnLogging]  <W> Initializing HtpProvider
2026-03-01 10:00:00.1400 [I:onnxruntime:, inference_session.cc:2100 Initialize] Session successfully initialized.
2026-03-01 10:00:00.1500 [W:onnxruntime:, session_state.cc:1162 VerifyEachNodeIsAssignedToAnEp] Some nodes were not assigned to the preferred execution providers which may or may not have an negative impact on performance."""

_GENIE = """\
Using libGenie.so version 1.5.0
[INFO]  "Using create From Binary List Async"
[INFO]  "Allocated total size = 283869696 across 6 buffers"
[PROMPT]: What is an error code?
[BEGIN]:  An error code such as 1002 or 5005 tells why a call failed.[END]
[KPIS]: Init Time: 3010922 us, Prompt Processing Time: 122350 us, Token Generation Rate: 12.3 toks/sec"""

_ADB = """\
* daemon not running; starting now at tcp:5037
* daemon started successfully
List of devices attached
2ab3abbb	device
model.bin: 1 file pushed, 0 skipped. 37.7 MB/s (1173739244 bytes in 29.715s)
[100%] /data/local/tmp/x/libQnnHtp.so
/data/local/tmp/x/heap.csv: 1 file pulled, 0 skipped. 0.0 MB/s (83 bytes in 0.004s)"""

_ADB_LIST = """\
List of devices attached
emulator-5554          device product:sdk_gphone64 model:sdk_gphone64 device:emu64a transport_id:1
2ab3abbb               device usb:1-4 product:kalama model:Kalama device:kalama transport_id:2
Android Debug Bridge version 1.0.41
Version 36.0.0-13206524"""

_FASTRPC = """\
03-01 10:00:00.000  4711  4711 I qnn_executor_runner: fastrpc_apps_user.c:4510: fastrpc_apps_user_init done with default domain:3 and &fastrpc_trace:0x7a
03-01 10:00:00.001  4711  4711 I qnn_executor_runner: fastrpc_apps_user.c:3387: open_device_node: no access to default device of domain 3, open thru HAL, (sess_id 0)
03-01 10:00:00.002  4711  4711 W qnn_executor_runner: fastrpc_apps_user.c:1433:Warning: remote_handle_invoke: Non-domain usage of FastRPC will be deprecated, use domains to offload to DSP using FastRPC
03-01 10:00:00.003  4711  4711 I qnn_executor_runner: fastrpc_apps_user.c:3672: apps_dev_init: opened device 6 for domain 3, unsigned PD
03-01 10:00:00.004  4711  4711 D qnn_executor_runner: fastrpc_apps_user.c:1204: remote_handle_open_domain: Successfully opened handle 0x1eca990 for file:///libQnnHtpV81Skel.so?qnn_skel_handle_invoke&_modver=1.0&_dom=cdsp on domain 3
03-01 10:00:00.900  4711  4711 D qnn_executor_runner: fastrpc_apps_user.c:1759: remote_handle64_close: closed handle 0xb4000077a82475c0 remote handle 0x1eca990, num of open handles: 0"""

_FARF = """\
03-01 10:00:01.000   900   910 D adsprpc : CDSP: HTP: hexagon V81, VTCM 8388608 bytes, 0 errors
03-01 10:00:01.001   900   910 D adsprpc : CDSP: graph prepared, spill fill 0, weights 1204224
03-01 10:00:01.002   900   910 D adsprpc : CDSP: power vote done, result 0
03-01 10:00:01.003   900   910 I cdsprpcd: vendor/qcom/proprietary/adsprpc/src/cdsprpcd.c:40: cdsp daemon starting"""

_KERNEL = """\
[   12.345678] remoteproc remoteproc1: powering up 32300000.remoteproc-cdsp
[   12.456789] remoteproc remoteproc1: Booting fw image cdsp.mdt, size 8124
[   12.567890] remoteproc remoteproc1: remote processor 32300000.remoteproc-cdsp is now up
[   13.000000] adsprpc: fastrpc_probe: no reserved memory region for fd, continuing
[   13.100000] lowmemorykiller: kill threshold set, no process killed"""

_LINKER = """\
WARNING: linker: Warning: "/data/local/tmp/x/libQnnHtp.so" unused DT entry: DT_RPATH (type 0xf arg 0x12) (ignoring)
WARNING: linker: /data/local/tmp/x/qnn-net-run: unsupported flags DT_FLAGS_1=0x8000001
libQnnHtp.so: loaded
libQnnSystem.so: loaded"""

_GFLAGS = """\
qnn_executor_runner: Warning: SetUsageMessage() never called
  Flags from qnn_executor_runner.cpp:
    -heap_profiling_path (Path of the DSP heap file, empty means off) type: string default: ""
    -iteration (Repeats of the execution) type: int32 default: 1
    -error_rate (Not used) type: double default: 0"""

_PYTEST = """\
============================= test session starts ==============================
collected 12 items
tests/test_errors.py::test_error_1002_is_explained PASSED
tests/test_errors.py::test_crash_report PASSED
============================== 12 passed in 3.21s =============================="""

_LITERT = """\
INFO: [environment.cc:28] Creating LiteRT environment with options
INFO: [dispatch_api.cc:94] Loading shared library: /data/local/tmp/x/libLiteRtDispatch_Qualcomm.so
INFO: [qnn_manager.cc:300] Adding shared library dir to path: /data/local/tmp/x
INFO: [qnn_log.cc:43] [Qnn] QnnDevice_create done. status 0x0
INFO: [run_model.cc:120] Run succeeded, 0 failures"""

_LLAMA = """\
ggml-hex: Hexagon backend (experimental) : allocating new registry : ndev 1
ggml-hex: Hexagon Arch version v81
ggml-hex: new session: HTP0 : session-id 0 domain-id 3 uri file:///libggml-htp-v81.so?htp_iface_skel_handle_invoke&_modver=1.0&_dom=cdsp&_session=0
load_tensors: HTP0 model buffer size = 0.26 MiB
llama_perf_context_print: total time = 1200.00 ms / 64 tokens, 0 failed"""

_BUILD = """\
-- Found Python3: /usr/bin/python3.11
-- Performing Test HAVE_ERROR_FLAG - Failed
[ 50%] Building CXX object CMakeFiles/app.dir/error_handling.cpp.o
[100%] Built target heapprof_runner
-- Installing: /tmp/install/lib/libQnnHtpV81Stub.so"""

_CONVERTER = """\
INFO - INFO_INITIALIZATION_SUCCESS: Initialized conversion
WARNING - 305 - WARNING_OP_VERSION_NOT_SUPPORTED: Operation Clip Not Supported. Expected operator version: [1, 6, 11, 12], instead got version: 13
INFO - Saving QNN Model...
INFO - Model CPP saved at: model.cpp
INFO - Conversion complete!
[INFO] 0 errors generated, 3 warnings"""

_CI = """\
Run heapprof run --serial 2ab3abbb --soc SM8850 model.bin
heapprof: models: 1 model
heapprof: push: 7 files into /data/local/tmp/heapprof
heapprof: run: at most 300 s
before_context_created     928212
after_context_freed        928212
difference                      0
no growth: after equals before"""

_MIXED_LEVELS = """\
[INFO] [Qnn ExecuTorch]: Qnn backend library version 2.17.0 is used. The version is tested against 2.15.0.
[WARNING] [Qnn ExecuTorch]:  <W> sg_stubPtr is not null, skip loadRemoteSymbols
[WARNING] [Qnn ExecuTorch]:  <W> This META does not have Alloc2 Support
[INFO] [Qnn ExecuTorch]: <I> Memory map for fd: 58 with length: 1204224 done, error: 0x0
[INFO] [Qnn ExecuTorch]: <I> QnnContext_free done. status 0x0
E 34:02:26.313949 executorch:qnn_executor_runner.cpp:264] ignoring error from set_output_data_ptr(): 0x2"""

CLEAN_LOGS: dict[str, list[str]] = {
    name: text.splitlines()
    for name, text in {
        "executorch verbose": _EXECUTORCH,
        "executorch with heap profiling": _HEAP,
        "executorch twice": f"{_EXECUTORCH}\n{_EXECUTORCH}",
        "executorch with fastrpc": f"{_FASTRPC}\n{_EXECUTORCH}",
        "executorch warnings": _MIXED_LEVELS,
        "native runner": _NATIVE,
        "qnn-net-run": _QNN_NET_RUN,
        "qnn sample app": _NET_RUN_SIMPLE,
        "onnxruntime": _ORT,
        "genie": _GENIE,
        "adb": _ADB,
        "adb devices": _ADB_LIST,
        "fastrpc": _FASTRPC,
        "dsp": _FARF,
        "kernel": _KERNEL,
        "linker warnings": _LINKER,
        "gflags help": _GFLAGS,
        "pytest": _PYTEST,
        "litert": _LITERT,
        "llama.cpp": _LLAMA,
        "build": _BUILD,
        "converter": _CONVERTER,
        "ci": _CI,
    }.items()
}
