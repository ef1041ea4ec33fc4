"""Getting the artifacts into the run's folder: only what the phone's cache lacks is sent, all of it is verified."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from heapprof_cli.device import cache
from heapprof_cli.device.cache import Inventory
from heapprof_cli.device.phone import Phone
from heapprof_cli.device.retry import retrying
from heapprof_cli.errors import BusyError, DeviceError, HeapprofError
from heapprof_cli.records import Artifact
from heapprof_cli.session.leasing import Place
from heapprof_cli.session.story import Story
from heapprof_cli.text import plural, readable_bytes

_BACK_SECONDS = 30.0


def deploy(phone: Phone, place: Place, story: Story, found: Inventory) -> None:
    """Make every artifact of the story present, verified, in the run's folder.

    ``found`` is what the cache held when the phone was surveyed. All steps may be repeated, and are when a
    failure passes (a cable, a damaged transfer); what arrived whole is not sent again.
    """
    wanted = list({artifact.sha256: artifact for artifact in story.artifacts}.values())
    known: list[Inventory] = [found] if story.settings.cache else []

    def step() -> None:
        inventory = known.pop() if known else phone.inventory(place.store)
        absent = [a for a in wanted if not inventory.has(a) and not inventory.doubtful(a)]
        doubtful = [a for a in wanted if inventory.doubtful(a)]
        missing = cache.missing_space(inventory, wanted, story.settings.cache_limit)
        if missing > 0:
            phone.make_room(place.store, inventory, wanted, missing)
        if absent:
            _send(phone, place, story, absent)
        if absent or doubtful:
            _verify(phone, place, absent, doubtful)
        story.sent.update(artifact.sha256 for artifact in absent)
        if not phone.link(place.store, place.folder, story.artifacts):
            raise DeviceError("an artifact vanished from the phone's cache", stage="push", transient=True)

    def before_retry(error: HeapprofError, number: int) -> None:
        story.warn(f"{error.message}; trying again ({number})")
        if phone.back_within(_BACK_SECONDS) and not phone.renew(place.folder.workspace, place.owner):
            raise BusyError("the lease was lost while the phone was away")

    retrying(step, before_retry)


def _send(phone: Phone, place: Place, story: Story, absent: Sequence[Artifact]) -> None:
    total = sum(artifact.size for artifact in absent)
    story.reporter.stage("push", f"send {plural(len(absent), 'file')}, {readable_bytes(total)}")
    lock = threading.Lock()

    def moved(count: int) -> None:
        with lock:
            story.reporter.moved(count, total)

    phone.push(place.store, place.folder.run_id, absent, moved)


def _verify(phone: Phone, place: Place, absent: Sequence[Artifact], doubtful: Sequence[Artifact]) -> None:
    wrong = phone.verify(place.store, place.folder.run_id, absent, doubtful)
    if wrong:
        names = ", ".join(artifact.name for artifact in wrong[:5])
        raise DeviceError(
            f"not the right content on the phone after the transfer: {names}",
            stage="push",
            hints=("the connection damages data, or the phone's storage does: try another cable or port",),
            transient=True,
        )
