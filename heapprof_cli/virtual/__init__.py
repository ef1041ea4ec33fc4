"""A phone without hardware: a device-side ADB endpoint to which the real adb server connects.

:class:`VirtualPhone` is what everybody uses; ``python -m heapprof_cli.virtual`` runs one by itself.
"""

from heapprof_cli.virtual.phone import VirtualPhone, VirtualPhoneError
from heapprof_cli.virtual.server import PrivateAdbServer, bundled_adb

__all__ = ["PrivateAdbServer", "VirtualPhone", "VirtualPhoneError", "bundled_adb"]
