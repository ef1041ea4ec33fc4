"""The settings file: where it lies, and what it says with the place of every word. No option is known here."""

from heapprof_cli.config_file.finding import find, read
from heapprof_cli.config_file.nodes import Entry, Items, Place, Scalar, SettingsFile, Table, Value

__all__ = ["Entry", "Items", "Place", "Scalar", "SettingsFile", "Table", "Value", "find", "read"]
