"""heapprof: what a QNN model costs the heap of a Qualcomm DSP, measured over ADB."""

__version__ = "0.1.0"
