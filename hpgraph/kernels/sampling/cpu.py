"""Neighbour sampling on the CPU, the numbering of discovered vertices, and the tables of weighted draws."""

import math
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, prefix_sum
from hpgraph.formats import CSR, attached, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import (
    LOOPS,
    copy_items,
    interruptible,
    njit,
    part,
    peek,
    prange,
    prefetch,
    team,
    vertex,
)
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import tasks
from hpgraph.kernels.sampling import HOP_SHIFT, KEYS, TRIES, Drawn, Sums
from hpgraph.kernels.sampling.cpu_blocks import block_edges
from hpgraph.kernels.sampling.cpu_draws import attachments, rows_of_pairs, sorted_draws
from hpgraph.kernels.sampling.cpu_points import near_points
from hpgraph.kernels.sampling.cpu_random import GOLDEN, below, bits, by_weight, unit
from hpgraph.kernels.sampling.cpu_recursive import recursive_edges
from hpgraph.kernels.sampling.cpu_shuffles import shuffled
from hpgraph.kernels.sampling.cpu_walks import walks
from hpgraph.semiring.stop import is_stopped

__all__ = [
    "Numbering", "attachments", "block_edges", "draw", "near_points", "recursive_edges", "rows_of_pairs",
    "running_sums", "sample", "shuffled", "sorted_draws", "walks",
]  # fmt: skip

# Vertices that a thread takes at a time, and prefetch distance of their rows; that of slots of a numbering; bytes of a
# row of features that are prefetched.
CHUNK, AHEAD, SLOTS_AHEAD, BYTES_AHEAD = 64, 8, 16, 512


@attached
def running_sums(arcs: CSR) -> Sums:
    """Tables of weighted draws, computed once.

    ``arcs``: with weights, none of them negative or NaN.
    """
    running, positive = np.empty(arcs.nnz), np.empty(arcs.shape[0], np.int64)
    weights = arcs.data.astype(np.float64, copy=False)
    with team():
        _add_up(arcs.indptr, weights, running, positive)
    return Sums(running, positive)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _add_up(indptr, weights, running, positive):
    for row in prange(positive.size):
        total, above = 0.0, 0
        for at in range(peek(indptr, row), peek(indptr, row + 1)):
            weight = peek(weights, at)
            total += weight
            above += weight > 0
            running[at] = total
        positive[row] = above


def fetch_rows(rows: Any, vertex: Any, out: Any) -> None:
    """`hpgraph.kernels.sampling.Sampling.fetch_rows`."""
    if not rows.flags.c_contiguous or rows.dtype.hasobject:
        out[...] = rows[vertex]
        return
    source, target = (np.asarray(one).reshape(-1).view(np.uint8) for one in (rows, out))
    with team() as shares:
        _copy_rows(source, vertex, target, rows.dtype.itemsize * math.prod(rows.shape[1:]), shares)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _copy_rows(source, vertices, target, size, shares):
    count = vertices.size
    for share in prange(shares):
        for i in range(count * share // shares, count * (share + 1) // shares):
            row = vertex(vertices, min(i + AHEAD, count - 1)) * size
            for line in range(0, min(size, BYTES_AHEAD), 64):
                prefetch(source, row + line)
            copy_items(target, np.uint64(i * size), source, np.uint64(vertex(vertices, i) * size), np.uint64(size))


def sample(arcs: CSR, sums: Sums | None, seeds: Any, fanouts: list[int], replace: bool, seed: int) -> Drawn:
    """Sample neighbours of some vertices, then of those, and so on, by a fanout for each hop."""
    numbering = Numbering()
    numbers = numbering.number(seeds)
    begin, vertices_of_hop = 0, [len(numbering.vertices)]
    rows, columns, places = [], [], []
    for hop, fanout in enumerate(fanouts):
        frontier = numbering.vertices[begin:]
        owner, place = draw(arcs, sums, frontier, fanout, replace, seed, hop, begin)
        rows.append(numbering.number(arcs.indices[place]))
        columns.append(owner)
        places.append(place)
        begin += len(frontier)
        vertices_of_hop.append(len(numbering.vertices) - begin)
    edges_of_hop = [len(place) for place in places]
    edge_index = np.empty((2, sum(edges_of_hop)), np.int64)
    for side, parts in zip(edge_index, (rows, columns), strict=True):
        np.concatenate(parts, out=side)
    return Drawn(numbering.vertices, numbers, edge_index, np.concatenate(places), vertices_of_hop, edges_of_hop)


def draw(
    arcs: CSR, sums: Sums | None, vertices: Any, fanout: int, replace: bool, seed: int, hop: int = 0, number: int = 0
) -> tuple[Any, Any]:
    """Draw `fanout` entries from each vertex's row, or as many as there are; -1: all. Owners, ascending, and places.

    Owners are numbered from `number` on.
    """
    degree = arcs.indptr[vertices + 1] - arcs.indptr[vertices]
    available = degree if sums is None else sums.positive[vertices]
    counts = (
        available if fanout < 0 else np.where(available > 0, fanout, 0) if replace else np.minimum(available, fanout)
    )
    offsets = prefix_sum(counts)
    check_memory(16 * int(offsets[-1]), f"a sample of {offsets[-1]:,} draws", "cpu")
    owner, place = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
    # Length of the bitmap of drawn entries of a row.
    longest = int(degree.max(initial=0))
    parameters = np.int64(seed), np.int64(hop << HOP_SHIFT), replace and fanout >= 0, longest, number
    tables = (None, None) if sums is None else (sums.running, arcs.data)
    with team() as threads:
        _draw(Rows(arcs.indptr, arcs.indices), *tables, vertices, offsets, parameters, owner, place, threads)
    return owner, place


@njit(cache=True, nogil=True, parallel=LOOPS)
def _draw(rows, running, weights, vertices, offsets, parameters, owner, place, threads):
    seed, counter, replace, longest, number = parameters
    following, total = np.zeros(1, np.int64), vertices.size
    for _ in prange(threads):
        seen = np.zeros((longest >> 6) + 1, np.uint64)
        for first in tasks(following, total, CHUNK):
            for i in range(first, min(first + CHUNK, total)):
                ahead = vertex(vertices, min(i + AHEAD, total - 1))
                prefetch(rows.indptr, ahead)
                v, begin, end = vertex(vertices, i), peek(offsets, i), peek(offsets, i + 1)
                for at in range(begin, end):
                    owner[at] = number + i
                if replace:
                    _with_replacement(rows, running, v, seed, counter, place, begin, end)
                elif running is None:
                    _uniformly(rows, v, seed, counter, seen, place, begin, end)
                else:
                    _weighted(rows, running, weights, v, seed, counter, seen, place, begin, end)


@part
def _with_replacement(rows, running, v, seed, counter, place, begin, end):
    row, row_end = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    for at in range(begin, end):
        word = bits(seed, v, counter + at - begin)
        if running is None:
            place[at] = row + below(word, row_end - row)
        else:
            place[at] = by_weight(running, row, row_end, word)


@part
def _is_new(seen, entry):
    """Mark an entry of a row; returns whether it was unmarked."""
    flag = np.uint64(1) << np.uint64(entry & 63)
    before = seen[entry >> 6]
    seen[entry >> 6] = before | flag
    return before & flag == np.uint64(0)


@part
def _forget(seen, row, place, begin, end):
    for at in range(begin, end):
        seen[(place[at] - row) >> 6] = np.uint64(0)


@part
def _uniformly(rows, v, seed, counter, seen, place, begin, end):
    """Floyd's algorithm: for each t of the last entries draw one up to t; if it is already drawn take t."""
    row, count = peek(rows.indptr, v), end - begin
    length = peek(rows.indptr, v + 1) - row
    if count == length:
        for k in range(count):
            place[begin + k] = row + k
        return
    for k in range(count):
        last = length - count + k
        entry = below(bits(seed, v, counter + k), last + 1)
        if not _is_new(seen, entry):
            entry = last
            _is_new(seen, entry)
        place[begin + k] = row + entry
    _forget(seen, row, place, begin, end)


@part
def _weighted(rows, running, weights, v, seed, counter, seen, place, begin, end):
    row, row_end = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    draws = counter
    for at in range(begin, end):
        found = np.int64(-1)
        for _ in range(TRIES):
            drawn = by_weight(running, row, row_end, bits(seed, v, draws))
            draws += 1
            if _is_new(seen, drawn - row):
                found = drawn
                break
        if found < 0:
            found = _least_key(weights, row, row_end, v, seed, counter + KEYS, seen)
            _is_new(seen, found - row)
        place[at] = found
    _forget(seen, row, place, begin, end)


@part
def _least_key(weights, row, row_end, v, seed, counter, seen):
    """The undrawn entry of least exponential key."""
    best, found = np.inf, np.int64(-1)
    for at in range(row, row_end):
        entry = at - row
        weight = np.float64(peek(weights, at))
        if weight > 0 and (seen[entry >> 6] >> np.uint64(entry & 63)) & np.uint64(1) == np.uint64(0):
            key = -np.log1p(-unit(bits(seed, v, counter + entry))) / weight
            if found < 0 or key < best:
                best, found = key, np.int64(at)
    return found


# Vertices between two checks for interruption.
_CHUNK = 4096


class Numbering:
    """A numbering, empty at first: the `vertices`, by number."""

    def __init__(self) -> None:
        self.vertices = np.empty(0, np.int64)
        self._slots = np.full(2, -1, np.int32)

    def number(self, found: Any) -> Any:
        """The numbers of vertices; new ones are numbered in the order given.

        ``found`` (integer array of shape (m,)). Returns int64 array of shape (m,).
        """
        known, numbers = len(self.vertices), np.empty(len(found), np.int64)
        vertices = np.empty(known + len(found), np.int64)
        vertices[:known] = self.vertices
        wanted = 1 << (2 * len(vertices)).bit_length()
        with interruptible():
            if len(self._slots) < wanted:
                self._slots = np.full(wanted, -1, index_dtype(wanted))
                _enter(self._slots, vertices, 0, self.vertices, np.empty(known, np.int64))
            known = _enter(self._slots, vertices, known, found, numbers)
        self.vertices = vertices[:known]
        return numbers


@part
def _slot(slots, vertices, v):
    """The slot of a vertex's number, or the free one for it: linear probing."""
    mask, at = np.uint64(slots.size - 1), _first_slot(slots, v)
    while slots[at] >= 0 and vertices[slots[at]] != v:
        at = (at + np.uint64(1)) & mask
    return at


@part
def _first_slot(slots, v):
    # D. Knuth, "The Art of Computer Programming" 3, section 6.4.
    return (np.uint64(v) * GOLDEN >> np.uint64(20)) & np.uint64(slots.size - 1)


@njit(cache=True, nogil=True)
def _enter(slots, vertices, known, found, numbers):
    """Number vertices; returns the number of known vertices."""
    for i in range(found.size):
        if i % _CHUNK == 0 and is_stopped():
            break
        prefetch(slots, _first_slot(slots, found[min(i + SLOTS_AHEAD, found.size - 1)]))
        v = np.int64(found[i])
        at = _slot(slots, vertices, v)
        if slots[at] < 0:
            slots[at] = known
            vertices[known] = v
            known += 1
        numbers[i] = slots[at]
    return known
