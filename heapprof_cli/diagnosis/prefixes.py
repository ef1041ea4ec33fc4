"""The message of a log line, without what loggers put before it."""

from __future__ import annotations

import re

_LEVEL = "[VDIWEFS]"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_DATE = r"(?:\d{4}-)?\d\d-\d\d"
# Each stands at the start of a line; none repeats a group that repeats, so that no line makes them slow.
_KINDS = (
    # ExecuTorch: `E 00:00:00.010 executorch:file.cpp:181] `; glog alike
    rf"{_LEVEL} ?\d{{2,4}}[\d: .]{{0,24}} [^\]\n]{{0,120}}\] ",
    # onnxruntime: `2024-07-01 12:00:00.1 [E:onnxruntime:, file.cc: 513 GetCapability] `
    rf"(?:\d{{4}}-\d\d-\d\d {_CLOCK} )?\[[VIWEF]:[^\]\n]{{1,200}}\] ",
    # logcat -v threadtime, uid, year, zone, epoch
    rf"(?:{_DATE} {_CLOCK}|\d{{9,10}}\.\d{{3,9}})(?: [+-]\d{{4}})? +(?:\w+ +)?\d+ +\d+ {_LEVEL} [^:\n]{{0,80}}: ?",
    # logcat -v brief, tag, time
    rf"(?:{_DATE} {_CLOCK} )?{_LEVEL}/[^\n(:]{{0,80}}(?:\( *\d+\))?: ?",
    # logcat -v process, thread
    rf"{_LEVEL}\( *\d+(?:: *\w+)?\) ",
    # Android Studio, new and old
    rf"(?:{_DATE} )?{_CLOCK} +\d+-\d+/[\w.:?]+ {_LEVEL}/[^:\n]{{0,80}}: ?",
    rf"(?:{_DATE} )?{_CLOCK} +(?:\d+-\d+ +)?(?:\S{{1,80}} +){{1,2}}{_LEVEL} +",
    # `E ion     : `
    rf"{_LEVEL} [\w.\-]{{1,40}} *: ",
    # kernel log, syslog, journal
    r"(?:<\d+>)?\[ *\d+\.\d+\](?: ?\[ *[TC]\d+\])? (?:c\d+ +\d+ )?",
    rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK} \S{{1,64}} (?:\S{{0,64}}\[\d+\]: )?",
    rf"\d{{4}}-\d\d-\d\dT{_CLOCK}(?:Z|[+-]\d\d:?\d\d)? (?:\S{{1,64}} (?:[\w.\-]{{1,64}}(?:\[\d+\])?: )?)?",
    rf"\[?(?:\d{{4}}-\d\d-\d\d )?{_CLOCK}\]? +",
    # `     0.0ms [ ERROR ] `, `[ERROR] [Qnn ExecuTorch]: `, `[ERROR] "...`, `[E] `
    r"\d+(?:\.\d+)?ms +",
    r"\[ ?(?:ERROR|ERR|WARNING|WARN|INFO|DEBUG|VERBOSE|FATAL|error|warn|info|[VDIWEF]) ?\]:? ?",
    r"\[Qnn ExecuTorch\]:? ?",
    r"(?:QnnDsp|QnnHtp|QnnSystem|QNN|Qnn|HTP)?:? ?<[VDIWEF]> ?",
    r"(?:ERROR|WARNING): (?=Q)",
    "[\"']",
    r"(?:STDOUT|STDERR|stdout|stderr): ?",
)
_PREFIX = re.compile(r"\s{0,64}(?:" + "|".join(f"(?:{kind})" for kind in _KINDS) + ")")
_MOST = 6


def message_of(line: str) -> str:
    """``line`` without timestamps, processes, levels and tags in front."""
    start = 0
    for _ in range(_MOST):
        match = _PREFIX.match(line, start)
        if match is None or match.end() == start:
            break
        start = match.end()
    return line[start:].strip()
