"""From a log to the causes it tells of, by the catalogue of rules in ``configs/diagnosis*.yaml``.

``explain()`` reads any text that QNN, FastRPC, adb, ExecuTorch, onnxruntime or a shell leaves behind; it needs no
phone. The story of an explanation: reading -> scanning -> matching -> concluding.
"""

from heapprof_cli.diagnosis.explaining import explain, explain_files
from heapprof_cli.diagnosis.records import STAGES, Explanation, RunFacts
from heapprof_cli.log_findings import Certainty, Finding, Line

__all__ = ["STAGES", "Certainty", "Explanation", "Finding", "Line", "RunFacts", "explain", "explain_files"]
