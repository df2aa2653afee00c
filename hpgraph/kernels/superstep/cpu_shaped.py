"""Supersteps on the CPU of programs whose properties or messages are short tuples of numbers.

As in `cpu_frontier`, each thread owns rows, or a range of targets, and every target joins its messages in the order of
the frontier, or of its arcs: results are the same bit for bit on any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.cpu.claim import claim, mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.weights import entry_or
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.shaped_functions import shaped_functions_of
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_spmspv import is_sorted, target_ranges
from hpgraph.kernels.superstep import Part
from hpgraph.kernels.superstep.cpu_frontier import BLOCK, ROWS, SHORT
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped


class Calls(NamedTuple):
    """A program's functions; see `hpgraph.kernels.runtime.shaped_functions`."""

    gather: Any
    join: Any
    edge_cond: Any
    cond: Any
    apply: Any
    take: Any
    put: Any
    neutral: Any


class Inbox(NamedTuple):
    """Messages, flattened; bitmap of the receivers; the monoid's identity."""

    messages: Any
    received: Any
    identity: Any


class ShapedSupersteps:
    """`hpgraph.kernels.superstep.cpu.Supersteps` of a program with shapes; the parameters are the same."""

    pushes_repeat = True

    def __init__(
        self, code: ProgramCode, state: tuple[np.ndarray, ...], settled: Bitmask | None, ids: np.dtype
    ) -> None:
        self._cells = tuple(np.zeros(1, dtype) for dtype in code.cells)
        self.code, self.n = code, len(state[0])
        self.state = (*flat(state), *self._cells)
        made = shaped_functions_of(code)
        self._calls = Calls(
            made.gather, made.join, made.edge_cond, made.cond, made.apply, made.take, made.put, made.neutral
        )
        identity = code.reduce.identity_for(code.message)
        messages = np.full(self.n * made.width, identity, code.message)
        self._inbox = Inbox(messages, np.zeros((self.n + 63) // 64, np.uint64), identity)
        self._listed, self._room = np.empty(self.n, ids), np.empty(self.n, ids)

    def turn(self, world: tuple[Any, ...], step: int) -> None:
        """Set the world that the next `push` or `pull` reads."""
        for cell, value in zip(self._cells, (step, *world), strict=True):
            cell[0] = value

    def run_small(
        self, part: Part, frontier: Frontier, world: tuple[Any, ...], done: int, limit: int
    ) -> tuple[np.ndarray, int, Frontier] | None:
        """None: each superstep is a call from Python."""
        return None

    def push(self, part: Part, frontier: Frontier) -> None:
        """Send messages along the arcs that leave the frontier (top-down)."""
        self._gather_replies(part, frontier)
        arcs = part.sending
        with team() as workers:
            push_many(
                self._calls, self.state, self._arcs(arcs), is_sorted(arcs), self._inbox, plain(frontier.ids),
                target_ranges(arcs, workers),
            )  # fmt: skip

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Combine messages from the frontier at each vertex that may receive (bottom-up)."""
        self._gather_replies(part, frontier)
        with team() as workers:
            pull_many(
                self._calls, self.state, self._arcs(part.gathering), self._inbox, frontier.bits.words, workers
            )

    def _gather_replies(self, part: Part, frontier: Frontier) -> None:
        reply, condition = shaped_functions_of(self.code).replies
        if reply is None:
            return
        with team() as workers:
            gather_replies(
                self._calls, reply, condition, self.state, self._arcs(part.sending), self._inbox, plain(frontier.ids),
                workers,
            )  # fmt: skip

    def addressed(self) -> Bitmask:
        """The vertices that `apply` would update now."""
        return Bitmask(self.n, self._inbox.received.copy())

    def address(self, frontier: Frontier) -> None:
        """Have `apply` update a frontier, as if it had received."""
        self._inbox.received[:] = frontier.bits.words

    def apply(
        self, part: Part, world: tuple[Any, ...], step: int, everyone: bool
    ) -> tuple[Frontier, np.ndarray]:
        """Update the vertices that received, or all; return those that changed, and the sums."""
        if everyone:
            self._inbox.received[:] = Bitmask.full(self.n).words
        blocks = -(-self.n // BLOCK)
        counts, sums = np.zeros((blocks, 2), np.int64), np.zeros((blocks, self.code.aggregates))
        with team():
            apply_many(
                self._calls, self.state, self._inbox, world, step, plain(part.sending.indptr), self._room, counts, sums
            )
        changed, arcs = counts.sum(axis=0).tolist()
        at = 0
        for block, count in enumerate(counts[:, 0].tolist()):
            self._listed[at : at + count] = self._room[block * BLOCK : block * BLOCK + count]
            at += count
        # Copied: a frontier is immutable, and this buffer is reused.
        return Frontier(self.n, ids=self._listed[:changed].copy(), arcs=arcs), sums.sum(axis=0)

    def _arcs(self, csr: Any) -> Rows:
        return Rows(plain(csr.indptr), plain(csr.indices), plain(csr.data), self.code.message.type(1))


def flat(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Properties as kernels take them: flattened, vertex by vertex."""
    return tuple(plain(values.reshape(-1)) for values in state)


@part(error_model="numpy", forceinline=True)
def _receive(calls, inbox, sent, v):
    if test(inbox.received, v):
        call(calls.put, inbox.messages, v, call(calls.join, call(calls.take, inbox.messages, v), sent))
    else:
        mark(inbox.received, v)
        call(calls.put, inbox.messages, v, call(calls.join, call(calls.neutral, inbox.identity), sent))


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def push_many(calls, state, arcs, is_sorted, inbox, frontier, bounds):
    """Push from all of `frontier`; each thread to a range of targets between two of the `bounds`, multiples of 64."""
    for p in prange(bounds.size - 1):
        low, high = bounds[p], bounds[p + 1]
        for i in range(frontier.size):
            if is_stopped():
                break
            u = np.int64(frontier[i])
            j, end = arcs.indptr[u], arcs.indptr[u + 1]
            if is_sorted and end - j > SHORT and low > 0:
                j += np.searchsorted(arcs.indices[j:end], low)
            while j < end:
                v = vertex(arcs.indices, j)
                if v >= high and is_sorted:
                    break
                if low <= v < high and call(calls.cond, state, v):
                    _deliver(calls, state, arcs, inbox, u, j, v)
                j += 1


@part(error_model="numpy", forceinline=True)
def _pull_row(calls, state, arcs, inbox, active, v):
    # A vertex may have received replies of its out-arcs; else its message is neutral.
    found, value = test(inbox.received, v), call(calls.take, inbox.messages, v)
    for j in range(arcs.indptr[v], arcs.indptr[v + 1]):
        u = vertex(arcs.indices, j)
        if test(active, u):
            weight = entry_or(arcs.data, j, arcs.one)
            if call(calls.edge_cond, state, u, weight, v):
                value = call(calls.join, value, call(calls.gather, state, u, weight, v))
                found = True
    if found:
        call(calls.put, inbox.messages, v, value)
        mark(inbox.received, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_many(calls, state, arcs, inbox, active, workers):
    """Bottom-up step: each vertex that may receive combines messages of active in-neighbours that pass `edge_cond`."""
    n = arcs.indptr.size - 1
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= n or is_stopped():
                break
            for v in range(begin, min(begin + ROWS, n)):
                if call(calls.cond, state, v):
                    _pull_row(calls, state, arcs, inbox, active, v)


@part(error_model="numpy", forceinline=True)
def _apply(calls, state, inbox, v, world, step, sums):
    """APPLY at one vertex, and reset its message; whether the vertex changed."""
    changed = call(calls.apply, state, v, inbox.messages, world, step, sums)
    call(calls.put, inbox.messages, v, call(calls.neutral, inbox.identity))
    return changed


@part(error_model="numpy", forceinline=True)
def _deliver(calls, state, arcs, inbox, u, j, v):
    """Send along one arc that passes `edge_cond`."""
    weight = entry_or(arcs.data, j, arcs.one)
    if call(calls.edge_cond, state, u, weight, v):
        _receive(calls, inbox, call(calls.gather, state, u, weight, v), v)


# A separate function: in a parallel loop Numba drops a write to an attribute's array as dead.
@part(forceinline=True)
def _take_word(inbox, word):
    bits = inbox.received[word]
    inbox.received[word] = 0
    return bits


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def apply_many(calls, state, inbox, world, step, indptr, room, counts, sums):
    """Update the receivers, by blocks of vertices; `room` lists a block's changed vertices at its offset.

    A block's number of changed vertices and of their out-arcs is added to a row of ``counts``, its sums to a row of
    ``sums``; both are zero before. Bits and messages of the receivers are reset.
    """
    for block in prange(counts.shape[0]):
        first = block * BLOCK
        for word in range(first >> 6, min((first + BLOCK) >> 6, inbox.received.size)):
            bits = _take_word(inbox, word)
            v = word << 6
            while bits:
                received = bits & np.uint64(1) != np.uint64(0)
                if received and _apply(calls, state, inbox, v, world, step, sums[block]):
                    room[first + counts[block, 0]] = v
                    counts[block, 0] += 1
                    counts[block, 1] += indptr[v + 1] - indptr[v]
                bits >>= np.uint64(1)
                v += 1


@part(error_model="numpy", forceinline=True)
def _gather_row_replies(calls, reply, condition, state, arcs, inbox, u):
    found, value = False, call(calls.neutral, inbox.identity)
    for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
        v = vertex(arcs.indices, j)
        weight = entry_or(arcs.data, j, arcs.one)
        if call(condition, state, u, weight, v):
            value = call(calls.join, value, call(reply, state, u, weight, v))
            found = True
    if found:
        call(calls.put, inbox.messages, u, value)
        claim(inbox.received, u, False)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def gather_replies(calls, reply, condition, state, arcs, inbox, frontier, workers):
    """Gather the replies of the out-arcs of all of `frontier`."""
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= frontier.size or is_stopped():
                break
            for i in range(begin, min(begin + ROWS, frontier.size)):
                _gather_row_replies(calls, reply, condition, state, arcs, inbox, np.int64(frontier[i]))
