"""What an ExecuTorch program was compiled with for QNN: the compile spec `qnn_compile_spec`.

A FlatBuffer QnnExecuTorchOptions, with or without a 4 byte length in front. Field numbers follow the
published schema backends/qualcomm/serialization/qc_compiler_spec.fbs of pytorch/executorch. Older
versions had one more field, the graph's name, in third place: all later numbers are one higher there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from heapprof_cli.model_files.flatbuffer import FlatBuffer, Table

HTP = 2
BACKENDS = {0: "undefined", 1: "GPU", 2: "HTP", 3: "DSP", 4: "LPAI"}
_SOC_INFO, _BACKEND_OPTIONS, _LOG_LEVEL = 0, 1, 3
_ONLINE_PREPARE, _PROFILE_LEVEL = 4, 6
_SOC_MODEL, _HTP_INFO, _HTP_ARCH = 0, 1, 0
_BACKEND_TYPE = 0
_HIGHEST_LOG_LEVEL = 5


@dataclass(frozen=True)
class QnnOptions:
    """The options that matter for heap profiling; ``backend`` is 2 for HTP."""

    soc_id: int | None
    htp_arch: int | None
    backend: int
    profile_level: int
    online_prepare: bool


def parse_options(spec: bytes) -> QnnOptions:
    """Raises FlatBufferError when the compile spec is damaged."""
    start = 4 if len(spec) >= 8 and struct.unpack_from("<I", spec)[0] == len(spec) - 4 else 0
    options = FlatBuffer(spec, start, len(spec)).root()
    soc = options.table(_SOC_INFO)
    htp = soc.table(_HTP_INFO) if soc else None
    backend = options.table(_BACKEND_OPTIONS)
    shift = 1 if _has_graph_name(options) else 0
    return QnnOptions(
        soc_id=(soc.unsigned(_SOC_MODEL, 4) if soc else None) or None,
        htp_arch=(htp.unsigned(_HTP_ARCH, 4) if htp else None) or None,
        backend=(backend.unsigned(_BACKEND_TYPE, 4, 0) if backend else 0) or 0,
        profile_level=options.unsigned(_PROFILE_LEVEL + shift, 4, 0) or 0,
        online_prepare=bool(options.unsigned(_ONLINE_PREPARE + shift, 1, 0)),
    )


def _has_graph_name(options: Table) -> bool:
    """Whether this is the older layout: its field 3 is a text's offset, in the newer one a log level of 0-5."""
    return (options.unsigned(_LOG_LEVEL, 4, 0) or 0) > _HIGHEST_LOG_LEVEL
