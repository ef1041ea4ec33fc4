"""The shell calls of a measurement, each put together from scripts: one call where one will do."""

from __future__ import annotations

from heapprof_cli.device import cache, lease, scripts, surroundings
from heapprof_cli.device.lease import Owner
from heapprof_cli.device.scripts import RunFolder

NO_LEASE = 95


def survey(workspace: str, store: str, *, closely: bool = False) -> str:
    """What the phone is, what its cache holds, who measures on it; ``closely``: also what bears on a run."""
    # The trial first: a shell that is killed for what it says has then removed its file.
    more = (surroundings.trial(workspace), surroundings.look()) if closely else ("", "")
    return f"{more[0]}{scripts.probe(workspace)}{more[1]}{cache.inventory(store)}; ( {lease.show(workspace)} ); exit 0"


def open_run(folder: RunFolder, store: str, owner: Owner, gone: str | None) -> str:
    """Take the lease, breaking that of the token ``gone``, and where that went well make the run's folder.

    Ends with NO_LEASE where the lease can't be made at all.
    """
    taking = lease.take(folder.workspace, owner, gone)
    return (
        f'r=$( {taking} ); echo "$r"; '
        f'case "$r" in *lease=taken*) {scripts.prepare(folder, store)} ;; '
        f"*lease=impossible*) exit {NO_LEASE} ;; esac"
    )


def close_run(folder: RunFolder, store: str, owner: Owner, *, keep: bool) -> str:
    """Remove what the run left (its folder too, unless ``keep``) and give the lease back."""
    removal = "" if keep else f"{scripts.remove(folder)} || echo left_behind; "
    release = lease.release(folder.workspace, owner)
    return f"{cache.discard_parts(store, folder.run_id)}; {removal}( {release} ); exit 0"
