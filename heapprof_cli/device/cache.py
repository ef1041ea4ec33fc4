"""The content cache on the phone: every artifact once, by its SHA-256, and linked into each run's folder.

A file counts as present only after its size and hash were verified on the phone. What was verified is
remembered there with inode, size and time of change, and checked again when one of them differs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.records import Artifact

_FOLDER = "cache"
_INDEX = "verified"
_STAT = "%n %i %s %Y %h"
_SHA = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class Entry:
    """A file of the cache: its hash by name, and what ``stat`` says of it."""

    sha256: str
    inode: int
    size: int
    changed: int
    links: int

    @property
    def stamp(self) -> str:
        """What the index remembers of a verified file."""
        return f"{self.sha256} {self.inode} {self.size} {self.changed}"


@dataclass(frozen=True)
class Inventory:
    """What the cache holds: entries by hash, and stamps of verified ones."""

    entries: dict[str, Entry] = field(default_factory=dict)
    verified: frozenset[str] = frozenset()

    def has(self, artifact: Artifact) -> bool:
        """Whether the phone holds ``artifact``, verified and unchanged since."""
        entry = self.entries.get(artifact.sha256)
        return entry is not None and entry.size == artifact.size and entry.stamp in self.verified

    def doubtful(self, artifact: Artifact) -> bool:
        """Whether a file of the right name and size is there that has not been verified in its present state."""
        entry = self.entries.get(artifact.sha256)
        return entry is not None and entry.size == artifact.size and entry.stamp not in self.verified


def shared_store(workspace: str) -> str:
    """The cache that all runs of a workspace share."""
    return f"{workspace}/{_FOLDER}"


def private_store(folder: RunFolder) -> str:
    """A cache that lives and goes with one run: for ``--no-cache``."""
    return folder.file(_FOLDER)


def part(store: str, run_id: str, artifact: Artifact) -> str:
    """Where a file is received before it has been verified."""
    return f"{store}/.part.{run_id}.{artifact.sha256}"


def inventory(store: str) -> str:
    """Prints ``cached=NAME INODE SIZE MTIME LINKS`` for each file and ``verified=STAMP`` for each verified one."""
    return (
        f"cd {shlex.quote(store)} 2>/dev/null && {{ stat -c 'cached={_STAT}' [0-9a-f]* 2>/dev/null; "
        f"sed 's/^/verified=/' {_INDEX} 2>/dev/null; cd /; }}"
    )


def parse_inventory(lines: Iterable[str]) -> Inventory:
    """The inventory in the lines that :func:`inventory` printed; lines that make no sense are passed over."""
    entries: dict[str, Entry] = {}
    verified: set[str] = set()
    for line in lines:
        key, _, value = line.partition("=")
        if key == "cached":
            words = value.split(" ")
            if len(words) == 5 and _SHA.match(words[0]) and all(w.isascii() and w.isdigit() for w in words[1:]):
                entries[words[0]] = Entry(words[0], *map(int, words[1:]))
        elif key == "verified":
            verified.add(value)
    return Inventory(entries, frozenset(verified))


def recency(store: str) -> str:
    """Prints the hashes of what was used, least recently used first."""
    return f"ls -tr {shlex.quote(store)}/used 2>/dev/null; exit 0"


def missing_space(found: Inventory, wanted: Iterable[Artifact], limit: int) -> int:
    """By how many bytes the cache with ``wanted`` in it would be over ``limit``; 0 or less when it fits."""
    new = {artifact.sha256: artifact.size for artifact in wanted if artifact.sha256 not in found.entries}
    return sum(entry.size for entry in found.entries.values()) + sum(new.values()) - limit


def verify(store: str, run_id: str, received: Sequence[Artifact], doubtful: Sequence[Artifact]) -> str:
    """Hashes received parts and doubtful files on the phone; good parts become entries, bad ones go.

    Prints ``good=HASH`` or ``bad=HASH FOUND`` for each. A part becomes an entry by rename, so a broken
    transfer never has an entry's name.
    """
    parts = " ".join(a.sha256 for a in received)
    present = " ".join(a.sha256 for a in doubtful)
    return (
        f"cd {shlex.quote(store)} || exit 97; "
        'sum() { set -- $(sha256sum "$1" 2>/dev/null); echo "$1"; }; '
        f'remember() {{ stat -c "%n %i %s %Y" "$1" >> {_INDEX}; echo "good=$1"; }}; '
        f"for h in {parts}; do p=.part.{run_id}.$h; s=$(sum $p); "
        'if [ "$s" = $h ]; then chmod 755 $p && { [ ! -d $h ] || rm -rf $h; } && '
        'mv -f $p $h && remember $h || echo "bad=$h unstorable"; '
        'else rm -f $p; echo "bad=$h $s"; fi; done; '
        f"for h in {present}; do s=$(sum $h); "
        'if [ "$s" = $h ]; then remember $h; else rm -f $h; echo "bad=$h $s"; fi; done; '
        # The index grows by a line a verification; only lines of present files are worth keeping.
        f'if [ "$(wc -l < {_INDEX} 2>/dev/null || echo 0)" -gt 2000 ]; then '
        f'stat -c "%n %i %s %Y" [0-9a-f]* 2>/dev/null | grep -xFf {_INDEX} > {_INDEX}.new; '
        f"mv {_INDEX}.new {_INDEX}; fi; exit 0"
    )


def link(store: str, folder: RunFolder, artifacts: Sequence[Artifact]) -> str:
    """Links each artifact under its name into the run's folder (a copy where links can't be made), notes the use.

    Ends with status 96 when a file is no longer in the cache.
    """
    pairs = " ".join(f"{a.sha256} {shlex.quote(a.remote_name)}" for a in artifacts)
    used = " ".join(sorted({a.sha256 for a in artifacts}))
    return (
        f"cd {shlex.quote(folder.path)} || exit 97; C={shlex.quote(store)}; set -- {pairs}; "
        'while [ $# -gt 0 ]; do ln "$C/$1" "$2" 2>/dev/null || cp "$C/$1" "$2" || exit 96; shift 2; done; '
        f'mkdir -p "$C/used" && cd "$C/used" && touch {used}; exit 0'
    )


def evict(store: str, hashes: Sequence[str]) -> str:
    """Removes entries by hash."""
    names = " ".join(hashes)
    return f"cd {shlex.quote(store)} && rm -f {names} && cd used && rm -f {names}; exit 0"


def discard_parts(store: str, run_id: str) -> str:
    """Removes what this run received and did not get to verify."""
    return f"rm -f {shlex.quote(store)}/.part.{run_id}.*"


def choose_evictions(
    found: Inventory, wanted: Iterable[Artifact], missing: int, oldest_first: Sequence[str]
) -> list[str]:
    """Hashes to remove to gain ``missing`` bytes, least recently used first.

    Never one that is wanted, nor one that a run's folder still links to (more than one link).
    """
    needed = {artifact.sha256 for artifact in wanted}
    rank = {sha256: number for number, sha256 in enumerate(oldest_first)}
    candidates = [e for e in found.entries.values() if e.sha256 not in needed and e.links == 1]
    chosen: list[str] = []
    for entry in sorted(candidates, key=lambda e: rank.get(e.sha256, -1)):
        if missing <= 0:
            break
        chosen.append(entry.sha256)
        missing -= entry.size
    return chosen
