"""Model files on the host: what they are and what they say, before any phone is touched."""

from heapprof_cli.model_files.extracting import extracted, refuse_unmeasurable
from heapprof_cli.model_files.reading import read_model

__all__ = ["extracted", "read_model", "refuse_unmeasurable"]
