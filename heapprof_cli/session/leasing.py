"""Having the phone to ourselves: the lease is taken before anything is sent and given back at the very end."""

from __future__ import annotations

import contextlib
import os
import random
import re
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from heapprof_cli import host
from heapprof_cli.device import cache, lease
from heapprof_cli.device.lease import LeaseState, Owner
from heapprof_cli.device.phone import Phone
from heapprof_cli.device.retry import retrying
from heapprof_cli.device.scripts import RunFolder
from heapprof_cli.errors import BusyError, HeapprofError
from heapprof_cli.session.story import Story
from heapprof_cli.text import clean

_TOKEN = re.compile(r"[0-9a-f]{16}\Z")
_POLL_SECONDS = (0.15, 0.45)
_BACK_SECONDS = 15.0


@dataclass(frozen=True)
class Place:
    """Where a run works on the phone: its folder, the cache that it links to, and the lease's owner."""

    folder: RunFolder
    store: str
    owner: Owner


@contextlib.contextmanager
def opened_run(phone: Phone, story: Story) -> Iterator[Place]:
    """The lease and a fresh folder; at the end nothing of the run is left on the phone, whatever happened.

    Raises BusyError when the phone stays in use for longer than ``--wait``.
    """
    with story.stage("lease", f"have {phone.alias} to ourselves"):
        place = _take(phone, story)
    story.clean = False
    ended_well = False
    renewal = _Renewal(phone, place)
    try:
        with renewal:
            yield place
            ended_well = True
    finally:
        _close(phone, place, story, ended_well=ended_well)
    if renewal.lost:
        raise BusyError(
            "the lease was lost during the run: another measurement may have disturbed this one",
            hints=("run again; if it repeats, look at `heapprof devices` for who measures on this phone",),
        )


def new_place(workspace: str, use_cache: bool) -> Place:
    """Fresh names for a run."""
    folder = RunFolder(workspace, secrets.token_hex(8))
    store = cache.shared_store(workspace) if use_cache else cache.private_store(folder)
    return Place(folder, store, Owner(folder.run_id, host.user_name(), host.identity(), os.getpid()))


def _take(phone: Phone, story: Story) -> Place:
    settings = story.settings
    until = time.monotonic() + settings.wait
    gone: str | None = None
    told = False

    def attempt() -> tuple[Place, LeaseState | None]:
        nonlocal gone
        place = new_place(settings.workspace, settings.cache)
        dead, gone = gone, place.folder.run_id  # should the answer get lost, the next attempt breaks this one
        opened = phone.open_run(place.folder, place.store, place.owner, dead)
        if opened.broken is not None:
            _clear_up_after(phone, settings.workspace, opened.broken, story)
        return place, opened.busy

    while True:
        place, busy = retrying(attempt, lambda error, number: _wait_for(phone, story, error, number))
        if busy is None:
            return place
        gone = _dead_token(busy)
        if gone is not None:
            continue
        if time.monotonic() >= until:
            raise BusyError(
                f"the phone {phone.alias} is measured by {busy}",
                hints=("wait for it with --wait SECONDS; `heapprof devices` shows who has it",),
                transient=True,
            )
        if not told:
            story.reporter.stage("lease", f"waiting for {busy}")
            told = True
        time.sleep(random.uniform(*_POLL_SECONDS))


def _dead_token(busy: LeaseState) -> str | None:
    """The token of a lease whose owner was a process of this very computer that no longer lives."""
    owner = busy.owner
    if owner is None or owner.host != host.identity() or host.process_lives(owner.pid):
        return None
    return owner.token


def _wait_for(phone: Phone, story: Story, error: HeapprofError, number: int) -> None:
    story.warn(f"{error.message}; trying again ({number})")
    phone.back_within(_BACK_SECONDS)


def _clear_up_after(phone: Phone, workspace: str, token: str, story: Story) -> None:
    """End and remove what a broken lease's owner left on the phone."""
    if not _TOKEN.match(token):
        return
    story.warn(f"took over the lease of a measurement that is gone ({clean(token, 20)})")
    abandoned = RunFolder(workspace, token)
    phone.stop(abandoned)
    phone.remove(abandoned, cache.shared_store(workspace))


def _close(phone: Phone, place: Place, story: Story, *, ended_well: bool) -> None:
    keep = story.settings.keep
    stopped = ended_well or phone.stop(place.folder)
    closed = stopped and phone.close_run(place.folder, place.store, place.owner, keep=keep)
    if not closed and phone.back_within(_BACK_SECONDS):
        stopped = phone.stop(place.folder)
        closed = phone.close_run(place.folder, place.store, place.owner, keep=keep)
    story.clean = stopped and closed
    if not stopped:
        story.warn(f"could not confirm that no process of the run is left on the phone {phone.alias}")
    if not closed:
        story.warn(
            f"could not remove {clean(place.folder.path, 200)} and the lease from the phone {phone.alias}; "
            f"the lease ends by itself within {lease.SECONDS} s, `heapprof clean` removes the files"
        )


class _Renewal:
    """Prolongs the lease in the background while the run goes on."""

    def __init__(self, phone: Phone, place: Place) -> None:
        self._phone = phone
        self._place = place
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, name="lease", daemon=True)
        self.lost = False

    def __enter__(self) -> _Renewal:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join(timeout=5)

    def _work(self) -> None:
        while not self._done.wait(lease.RENEW_SECONDS):
            # A phone that can't be asked now may answer next time; the lease lasts several rounds.
            with contextlib.suppress(HeapprofError):
                self.lost = not self._phone.renew(self._place.folder.workspace, self._place.owner) or self.lost
