"""Searches whose frontier stays thin for thousands of supersteps continue on the host.

A superstep of a thin frontier costs the GPU a chain of dependent loads, however few arcs there are, and a CPU a cache
miss or two. The number of remaining supersteps is unknown, so the rule is that of ski rental (A. Karlin et al.,
"Competitive snoopy caching", 1988): stay until thin supersteps have taken as much time as the transfer to the host,
then move. That takes at most about twice the time of the better choice.

The host waits for the kernel only if it may have to take over: in the first search of a graph, and later if some search
was thin for so long. A graph is copied once; the copy is kept as long as the graph.
"""

import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cuda.persistent import Record
from hpgraph.kernels.runtime.techniques import techniques

Result = TypeVar("Result")

# Measured on an H200 and its host: seconds of a thin superstep of one block; bytes a second from the device to pageable
# memory; seconds of an arc that is followed on the host, and of the set-up there before the first one.
SUPERSTEP, LINK, HOST_ARC, SETTING_UP = 1.5e-6, 8e9, 5e-9, 1e-3
# Added to the direction in the trace's rows of supersteps on the host.
ON_HOST = 2


# Kernels report to the host in pages of pinned memory that are never freed: a kernel may end after its graph is
# deleted. Then the slot may have a new owner, which gets the report of another's search; it only affects a heuristic.
SLOTS = 256
_pages: list[Any] = []
_free_slots: list[np.ndarray] = []


def slot_of(owner: Any) -> np.ndarray:
    """Three int64 zeros that kernels may write to even after their owner is deleted, when the slot is reused."""
    if not _free_slots:
        _pages.append(cupy.cuda.alloc_pinned_memory(24 * SLOTS))
        _free_slots.extend(np.frombuffer(_pages[-1], np.int64, 3 * SLOTS).reshape(SLOTS, 3))
    slot = _free_slots.pop()
    slot[:] = 0
    weakref.finalize(owner, _free_slots.append, slot)
    return slot


class Takeover:
    """Knowledge of a graph's searches: whether the host waits, and its copy of the arcs."""

    def __init__(self, arcs: CSR) -> None:
        n, size = arcs.shape[0], sum(part.nbytes for part in (arcs.indptr, arcs.indices, arcs.data) if part is not None)
        self.patience = int((SETTING_UP + size / LINK + arcs.nnz * HOST_ARC) / SUPERSTEP)
        # A search has no more supersteps than vertices.
        self._waits = self._possible = n > self.patience
        # Whether a cluster of blocks may search it: until one could not.
        self.fits_cluster = True
        self._report = slot_of(self)
        self._address: int = self._report.ctypes.data
        self._copies: dict[str, CSR] = {}

    def waits(self) -> bool:
        """Whether the host waits for the kernel that is launched next."""
        return self._possible and (self._waits or bool(self._report[0])) and techniques.host_takeover

    @property
    def arcs_a_superstep(self) -> int:
        """Mean arcs a superstep of the last finished relaxation; 0 before the first."""
        return int(self._report[1])

    @property
    def supersteps(self) -> int:
        """Supersteps of the last finished traversal; 0 before the first."""
        return int(self._report[2])

    def limits(self, waits: bool) -> tuple[np.int64, np.int32, int]:
        """The last fields of a ``LocalLimits``."""
        return np.int64(self.patience), np.int32(waits), self._address

    def end_on_gpu(self) -> None:
        """A search that was waited for ended on the GPU."""
        self._waits = False

    def copy(self, name: str, arcs: CSR) -> CSR:
        """Arcs in the host's memory, moved at the first call under a name."""
        if name not in self._copies:
            data = None if arcs.data is None else arcs.data.get()
            copy = CSR(arcs.shape, arcs.indptr.get(), arcs.indices.get(), data, validate=False, copy=False)
            self._copies[name] = copy
        return self._copies[name]


@attached
def takeover(arcs: CSR) -> Takeover:
    """The `Takeover` of a graph, by its arcs."""
    return Takeover(arcs)


class Continued:
    """Trace of a search that the host went on with: `rows` gives an int64 array of shape (supersteps, 4)."""

    def __init__(self, record: Record, rows: Callable[[], np.ndarray]) -> None:
        self._record, self._find = record, rows

    @cached_property
    def _rows(self) -> np.ndarray:
        rows = self._find()
        rows[:, 0] += ON_HOST
        return rows

    def supersteps(self) -> int:
        """Number of supersteps, on both."""
        return self._record.supersteps() + len(self._rows)

    def __call__(self) -> np.ndarray:
        """The trace; waits for the kernel."""
        return np.concatenate([self._record(), self._rows])


def on_host(state: tuple[Any, ...], run: Callable[[tuple[np.ndarray, ...]], Result]) -> Result:
    """Run on copies of the properties in the host's memory, and copy them back into `state`."""
    copies = tuple(values.get() for values in state)
    result = run(copies)
    for values, copy in zip(state, copies, strict=True):
        values.set(copy)
    return result
