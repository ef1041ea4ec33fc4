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
from dataclasses import dataclass, field

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
_MARGIN_SECONDS = 5.0


@dataclass(frozen=True)
class Place:
    """Where a run works on the phone: its folder, the cache that it links to, and the lease's owner."""

    folder: RunFolder
    store: str
    owner: Owner


@contextlib.contextmanager
def opened_run(phone: Phone, story: Story) -> Iterator[Place]:
    """The lease and a fresh folder; at the end nothing of the run is left on the phone, whatever happened.

    Raises BusyError when the phone stays in use for longer than ``--wait``, or when the lease was lost.
    """
    traces = _Traces()
    story.clean = False  # from the first request on: its answer may get lost, or Ctrl-C come before it
    ended_well = False
    try:
        with story.stage("lease", f"have {phone.alias} to ourselves"):
            place = _take(phone, story, traces)
        with _Renewal(phone, place) as renewal:
            yield place
        # The number counts only if nobody else could measure meanwhile.
        if not renewal.held():
            raise BusyError(
                "the lease was lost during the run: another measurement may have disturbed this one",
                hints=("run again; if it repeats, look at `heapprof devices` for who measures on this phone",),
            )
        ended_well = True
    finally:
        _close(phone, traces, story, ended_well=ended_well)


@dataclass
class _Traces:
    """What may lie on the phone because of us: places that were asked for, runs whose lease was broken."""

    asked: list[Place] = field(default_factory=list)
    abandoned: list[str] = field(default_factory=list)


def new_place(workspace: str, use_cache: bool) -> Place:
    """Fresh names for a run."""
    folder = RunFolder(workspace, secrets.token_hex(8))
    store = cache.shared_store(workspace) if use_cache else cache.private_store(folder)
    return Place(folder, store, Owner.of(folder.run_id, host.user_name(), host.identity(), os.getpid()))


def _take(phone: Phone, story: Story, traces: _Traces) -> Place:
    settings = story.settings
    until = time.monotonic() + settings.wait
    gone: str | None = None
    told = False

    def attempt() -> tuple[Place, LeaseState | None]:
        nonlocal gone
        place = new_place(settings.workspace, settings.cache)
        traces.asked.append(place)
        dead, gone = gone, place.folder.run_id  # should the answer get lost, the next attempt breaks this one
        opened = phone.open_run(place.folder, place.store, place.owner, dead)
        if opened.busy is not None:
            traces.asked.remove(place)
        if opened.broken is not None and _TOKEN.match(opened.broken):
            traces.abandoned.append(opened.broken)
            _clear_up_after_others(phone, traces, story)
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


def _clear_up_after_others(phone: Phone, traces: _Traces, story: Story) -> None:
    """End and remove what the owners of broken leases left on the phone; forgotten only when that was done."""
    workspace = story.settings.workspace
    for token in tuple(traces.abandoned):
        if token not in {place.folder.run_id for place in traces.asked}:
            story.warn(f"took over the lease of a measurement that is gone ({token})")
        abandoned = RunFolder(workspace, token)
        if phone.stop(abandoned) and phone.remove(abandoned, cache.shared_store(workspace)):
            traces.abandoned.remove(token)


def _close(phone: Phone, traces: _Traces, story: Story, *, ended_well: bool) -> None:
    """Leave nothing on the phone; tell what could not be removed. The latest place is the one that was used."""
    stopped = closed = True
    for place in reversed(traces.asked):
        ended, gone = _close_place(phone, place, story, stop=not ended_well)
        stopped, closed = stopped and ended, closed and gone
        if not gone:
            story.warn(
                f"could not remove {clean(place.folder.path, 200)} and the lease from the phone {phone.alias}; "
                f"the lease ends by itself within {lease.SECONDS} s, `heapprof clean` removes the files"
            )
    _clear_up_after_others(phone, traces, story)
    for token in traces.abandoned:
        story.warn(f"could not remove what the measurement {token} left on the phone: `heapprof clean` does")
    if not stopped:
        story.warn(f"could not confirm that no process of the run is left on the phone {phone.alias}")
    story.clean = stopped and closed


def _close_place(phone: Phone, place: Place, story: Story, *, stop: bool) -> tuple[bool, bool]:
    """Whether the run's processes are known to be ended, and whether its files and lease are gone."""
    keep = story.settings.keep
    for last_try in (False, True):
        stopped = not stop or phone.stop(place.folder)
        closed = stopped and phone.close_run(place.folder, place.store, place.owner, keep=keep)
        if closed or last_try or not phone.back_within(_BACK_SECONDS):
            break
        stop = True  # the phone was away: a shell of ours may have outlived that
    return stopped, closed


class _Renewal:
    """Prolongs the lease in the background while the run goes on."""

    def __init__(self, phone: Phone, place: Place) -> None:
        self._phone = phone
        self._place = place
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, name="lease", daemon=True)
        self._lost = False
        self._ours_until = time.monotonic() + lease.SECONDS - _MARGIN_SECONDS

    def __enter__(self) -> _Renewal:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join(timeout=5)

    def held(self) -> bool:
        """Whether the lease was ours all the time; asks the phone only where the clock leaves a doubt."""
        if not self._lost and time.monotonic() >= self._ours_until:
            self._renew()
        return not self._lost and time.monotonic() < self._ours_until

    def _work(self) -> None:
        while not self._done.wait(lease.RENEW_SECONDS):
            self._renew()

    def _renew(self) -> None:
        asked = time.monotonic()
        # A phone that can't be asked now may answer next time; the lease lasts several rounds.
        with contextlib.suppress(HeapprofError):
            if self._phone.renew(self._place.folder.workspace, self._place.owner):
                self._ours_until = asked + lease.SECONDS - _MARGIN_SECONDS
            else:
                self._lost = True
