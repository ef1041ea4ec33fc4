"""Every result over time, in a local SQLite file: written after each measurement, asked by ``history`` and ``report``.

The file of one user is shared by all processes; a write is one transaction, so that kill -9 loses at most that one.
"""

from heapprof_cli.history.documents import Summary, summary_of
from heapprof_cli.history.filters import Filters
from heapprof_cli.history.places import place
from heapprof_cli.history.store import Entry, Store, opened, record

__all__ = ["Entry", "Filters", "Store", "Summary", "opened", "place", "record", "summary_of"]
