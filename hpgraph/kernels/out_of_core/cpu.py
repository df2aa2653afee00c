"""Products over windows on the CPU.

Each thread owns rows, or a range of targets, so there are no atomic operations, and the messages of a vertex are
reduced in the order of the arcs, on any number of threads: results are bitwise reproducible.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numba import prange

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.out_of_core import Head, Window
from hpgraph.kernels.out_of_core.cpu_components import components
from hpgraph.kernels.out_of_core.cpu_ring import least_memory
from hpgraph.kernels.out_of_core.cpu_store import PageStore
from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.weights import entry_or
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cpu import operators, plain
from hpgraph.kernels.spmv.cpu_fold import convert, fold
from hpgraph.kernels.superstep import cpu
from hpgraph.kernels.superstep.cpu_block import join_listed
from hpgraph.kernels.superstep.cpu_frontier import SHORT, _is_settled, _receive
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

__all__ = ["PageStore", "WindowSupersteps", "components", "least_memory"]

# Rows that a thread takes at a time: a multiple of 64, so that each word of a bitmask has one writer.
ROWS = 512


class Stretch(NamedTuple):
    """A `Window` as kernels take it; `one` is the weight of a pattern's entries."""

    indptr: Any
    indices: Any
    data: Any
    one: Any
    begin: int
    end: int
    first: int


class WindowSupersteps(cpu.Supersteps):
    """`hpgraph.kernels.superstep.cpu.Supersteps` over windows; the parameters are the same."""

    def __init__(
        self, code: ProgramCode, state: tuple[np.ndarray, ...], settled: Bitmask | None, ids: np.dtype,
        everyone: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(code, state, settled, ids)
        self._inbox.message.fill(self._inbox.identity)

    def apply(
        self, part: Any, world: tuple[Any, ...], step: int, everyone: bool
    ) -> tuple[Frontier, np.ndarray]:
        """`hpgraph.kernels.superstep.cpu.Supersteps.apply`; then messages are reset to the identity."""
        made = super().apply(part, world, step, everyone)
        if everyone:
            # Vertices without arcs are updated too, with the identity.
            self._inbox.message.fill(self._inbox.identity)
        return made

    def push(self, window: Window, frontier: Frontier) -> None:  # type: ignore[override]
        """Push messages along the arcs of the active rows of a window."""
        stretch = self._stretch(window)
        ids = plain(frontier.ids)
        low, high = np.searchsorted(ids, window.rows)
        if low == high:
            return
        with team() as workers:
            bounds = _ranges(window, self.n, workers)
            push_window(self._functions, self.state, stretch, self._inbox, ids[low:high], bounds)

    def pull(self, window: Window | Head, frontier: Frontier) -> None:  # type: ignore[override]
        """Reduce the messages of active neighbours in the rows of a window that may receive."""
        if isinstance(window, Head):
            waiting = self.waiting()
            assert waiting is not None
            one = self.code.message.type(1)
            with team():
                pull_heads(self._functions, self.state, self._inbox, window.neighbour, waiting.words,
                           frontier.bits.words, one)  # fmt: skip
            return
        code, stretch = self.code, self._stretch(window)
        terminal = operators(code.reduce, None, code.message)[2]
        # With a byte for each vertex entries need no branch, but only arcs can tell whether there was a message.
        active = None if frontier.everyone else self._active(frontier)
        kernel = pull_window if code.edge_cond is None else pull_window_some
        if code.edge_cond is not None and active is None:
            active = self._active(frontier)
        with team() as workers:
            kernel(self._functions, terminal, self.state, stretch, self._inbox, active, workers)

    @property
    def takes_one(self) -> bool:
        """Whether the first message suffices."""
        return self.code.reduce.ends_on_anything

    @property
    def messages(self) -> np.ndarray:
        """The reduced messages of each vertex so far; the identity if there are none."""
        return self._inbox.message

    def heard(self, first: int, last: int) -> tuple[np.ndarray, Bitmask]:
        """Messages so far of vertices `first`, a multiple of 64, to before `last`; and a bitmap of those with any."""
        words = slice(first // 64, -(-last // 64))
        return self._inbox.message[first:last], Bitmask(last - first, self._inbox.received[words], validate=False)

    def join(self, messages: np.ndarray, received: Bitmask, first: int) -> None:
        """Reduce messages into those of the vertices from `first` on, if these may still receive."""
        inbox, words = self._inbox, received.words
        if inbox.settled is not None:
            words = words & ~inbox.settled[first // 64 : first // 64 + len(words)]
        ids = Bitmask(received.n, words, validate=False).to_indices()
        join_listed(self._functions.reduce, inbox.message, inbox.received, inbox.identity, first, ids, messages[ids])

    def keep(self, own: Bitmask) -> None:
        """Discard the messages of other vertices than these."""
        received = self._inbox.received
        received &= own.words

    def waiting(self) -> Bitmask | None:
        """Bitmap of the vertices that may still receive in this superstep: None, unless the first message suffices."""
        if not self.code.reduce.ends_on_anything:
            return None
        words = ~self._inbox.received
        if self._inbox.settled is not None:
            words &= ~self._inbox.settled
        words &= ~cpu.settled_words(self.code, self.state, self.n)
        return Bitmask(self.n, words)

    def _active(self, frontier: Frontier) -> Any:
        if getattr(self, "_flags_of", None) is not frontier:
            self._flags_of, self._flags = frontier, frontier.bits.to_bool().view(np.uint8)
        return self._flags

    def _stretch(self, window: Window) -> Stretch:
        if self.code.has_edges:
            last = window.first + len(window.indices)
            window = window._replace(data=np.arange(window.first, last, dtype=cast(Any, self.code).places))
        indptr, indices, data = (plain(array) for array in window[:3])
        return Stretch(indptr, indices, data, self.code.message.type(1), *window.rows, window.first)


def _ranges(window: Window, n: int, parts: int) -> np.ndarray:
    """Ranges of targets with about equal numbers of arcs, by whole words of a bitmask."""
    sample = np.sort(window.indices[:: max(1, len(window.indices) // 1024)])
    inner = sample[len(sample) * np.arange(1, parts) // parts].astype(np.int64) & ~63
    return np.concatenate(([0], inner, [n]))


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def push_window(functions, state, window, inbox, frontier, bounds):
    """Push from the rows `frontier`; each thread owns a range of targets between two of the `bounds`."""
    for p in prange(bounds.size - 1):
        low, high = bounds[p], bounds[p + 1]
        for i in range(frontier.size):
            if is_stopped():
                break
            u = np.int64(frontier[i])
            j = max(window.indptr[u] - window.first, 0)
            end = min(window.indptr[u + 1] - window.first, window.indices.size)
            if end - j > SHORT and low > 0:
                j += np.searchsorted(window.indices[j:end], low)
            while j < end:
                v = vertex(window.indices, j)
                if v >= high:
                    break
                if v >= low and not _is_settled(inbox.settled, v) and call(functions.cond, state, v):
                    weight = entry_or(window.data, j, window.one)
                    if call(functions.edge_cond, state, u, weight, v):
                        sent = convert(inbox.identity, call(functions.gather, state, u, weight, v))
                        _receive(functions, state, inbox, sent, v)
                j += 1


@part(error_model="numpy", forceinline=True, counts_references=False)
def _waits(functions, terminal, state, inbox, v):
    """Whether a message could still change the result of `v`."""
    if _is_settled(inbox.settled, v) or not call(functions.cond, state, v):
        return False
    if terminal is not None and test(inbox.received, v):
        return not call(terminal, inbox.message[v])
    return True


# Separate functions: in a parallel loop Numba treats a write to an attribute's array as dead.
@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_row(functions, terminal, state, window, inbox, active, v):
    """Fold the messages of the active neighbours of `v`."""
    first = max(window.indptr[v] - window.first, 0)
    last = min(window.indptr[v + 1] - window.first, window.indices.size)
    if first < last and _waits(functions, terminal, state, inbox, v):
        value = inbox.message[v] if test(inbox.received, v) else inbox.identity
        value, found = fold(
            functions.gather, functions.reduce, terminal, inbox.identity, state, window.indices, window.data, first,
            last, active, v, window.one, value,
        )  # fmt: skip
        if found:
            inbox.message[v] = value
            mark(inbox.received, v)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_some_of_row(functions, terminal, state, window, inbox, active, v):
    """The same if `edge_cond` filters arcs."""
    first = max(window.indptr[v] - window.first, 0)
    last = min(window.indptr[v + 1] - window.first, window.indices.size)
    if first < last and _waits(functions, terminal, state, inbox, v):
        for j in range(first, last):
            u = vertex(window.indices, j)
            weight = entry_or(window.data, j, window.one)
            if active[u] != 0 and call(functions.edge_cond, state, u, weight, v):
                sent = convert(inbox.identity, call(functions.gather, state, u, weight, v))
                _receive(functions, state, inbox, sent, v)
                if terminal is not None and call(terminal, inbox.message[v]):
                    break


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_window(functions, terminal, state, window, inbox, active, workers):
    """Fold the messages of active neighbours in every row that may receive; without `edge_cond`."""
    counter = np.full(1, window.begin & ~np.int64(ROWS - 1))
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= window.end or is_stopped():
                break
            for v in range(max(begin, window.begin), min(begin + ROWS, window.end)):
                _pull_row(functions, terminal, state, window, inbox, active, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_window_some(functions, terminal, state, window, inbox, active, workers):
    """The same if `edge_cond` filters arcs."""
    counter = np.full(1, window.begin & ~np.int64(ROWS - 1))
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= window.end or is_stopped():
                break
            for v in range(max(begin, window.begin), min(begin + ROWS, window.end)):
                _pull_some_of_row(functions, terminal, state, window, inbox, active, v)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_heads(functions, state, inbox, neighbour, waiting, active, one, word):
    """64 vertices, if they are waiting."""
    bits = waiting[word]
    while bits:
        v = (word << 6) + np.int64(lowest_bit(bits))
        bits &= bits - np.uint64(1)
        u = np.int64(neighbour[v])
        if u >= 0 and test(active, u) and call(functions.edge_cond, state, u, one, v):
            sent = convert(inbox.identity, call(functions.gather, state, u, one, v))
            _receive(functions, state, inbox, sent, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_heads(functions, state, inbox, neighbour, waiting, active, one):
    """Bottom-up step along the resident neighbour of each waiting vertex."""
    for word in prange(waiting.size):
        _pull_heads(functions, state, inbox, neighbour, waiting, active, one, word)
