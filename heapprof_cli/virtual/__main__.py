"""``python -m heapprof_cli.virtual``: a virtual phone that lives until its standard input ends, or SIGTERM."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from pathlib import Path

from heapprof_cli.virtual import VirtualPhone


def main() -> int:
    """Print one JSON line that says where the phone is, then wait."""
    parser = argparse.ArgumentParser(prog="python -m heapprof_cli.virtual", description=__doc__)
    parser.add_argument("--property", action="append", default=[], metavar="NAME=VALUE", help="a system property")
    parser.add_argument("--adb", type=Path, help="the adb program of its server")
    parser.add_argument("--root", type=Path, help="a folder for its files, which stays")
    parser.add_argument("--unauthorized", action="store_true", help="as if nobody had allowed this computer")
    arguments = parser.parse_args()
    for line in arguments.property:
        if "=" not in line:
            parser.error(f"--property {line!r} is not NAME=VALUE")
    properties = dict(line.split("=", 1) for line in arguments.property)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    auth = "unauthorized" if arguments.unauthorized else "authorized"
    with (
        contextlib.suppress(KeyboardInterrupt),
        VirtualPhone(properties=properties, adb=arguments.adb, root=arguments.root, auth=auth) as phone,  # type: ignore[arg-type]
    ):
        print(json.dumps({name: getattr(phone, name) for name in _SAID}), flush=True)
        while sys.stdin.buffer.read(4096):
            pass
    return 0


_SAID = ("serial", "adb_host", "adb_port", "endpoint_port", "workspace", "isolation")

if __name__ == "__main__":
    raise SystemExit(main())
