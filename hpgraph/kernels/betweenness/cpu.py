"""Betweenness on the CPU: joint searches if they overlap, else one source per thread, within available memory."""

from collections.abc import Callable

import numpy as np

from hpgraph.core.device import check_memory, fits
from hpgraph.formats import CSR
from hpgraph.kernels.betweenness import GROUP, Sums, gains_jointly, sums_of
from hpgraph.kernels.betweenness.cpu_jointly import BUFFER, Arcs, Local, State, run_jointly
from hpgraph.kernels.betweenness.cpu_numbers import LINE
from hpgraph.kernels.betweenness.cpu_singly import Scratch, run_singly, scratches
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.schedule import schedule
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spmv.cpu import plain

# Maximum number of bytes per vertex and source: a number, its exponent, and, if sources do not overlap, a list entry.
_SOURCE_BYTES = 8 + 4 + 12
# Bytes per vertex of a thread's work space, besides the queue.
_SCRATCH_BYTES = 24
# Sources below which their cache line is mostly empty.
MIN = 8
# Mean number of sources that a thread takes between two reports of progress.
_TURNS = 16


def dependencies(
    out: CSR, in_: CSR, sources: np.ndarray, sums: Sums, *, profile: Callable[[], np.ndarray],
    done: Callable[[int], None],
) -> None:  # fmt: skip
    """Add the dependencies of each source by numbers of arcs to ``sums``, in place."""
    n, most = out.shape[0], min(len(sources), GROUP)
    while most >= MIN and not fits(n * most * _SOURCE_BYTES, "cpu"):
        most //= 2
    if most >= MIN and gains_jointly(profile(), n, most):
        _jointly(out, in_, sources, sums, most, done)
    else:
        with team() as workers:
            space = _scratches(out, min(workers, len(sources)))
            for begin in range(0, len(sources), _TURNS * workers):
                batch = slice(begin, begin + _TURNS * workers)
                part = sums_of(sums, batch)
                run_singly(_arcs(out, False), None, sources[batch], space, part)
                done(len(sources[batch]))


def weighted_dependencies(out: CSR, in_: CSR, distances: np.ndarray, sources: np.ndarray, sums: Sums) -> bool:
    """Add the dependencies of each source by distances to ``sums``, in place."""
    with team() as workers:
        space = _scratches(out, min(workers, len(sources)))
        return bool(run_singly(_arcs(out, True), distances, sources, space, sums))


def _jointly(
    out: CSR, in_: CSR, sources: np.ndarray, sums: Sums, most: int, done: Callable[[int], None]
) -> None:  # fmt: skip
    n, count = out.shape[0], -(-len(sources) // most)
    numbers = exponents = np.empty(0)
    arcs = Arcs(plain(out.indptr), plain(out.indices), plain(in_.indptr), plain(in_.indices), schedule(in_).bounds)
    with team() as workers:
        for group in np.array_split(np.arange(len(sources)), count):
            stride = -(-len(group) // LINE) * LINE
            if len(numbers) == n * stride:
                numbers[:], exponents[:] = 0, 0
            else:
                numbers, exponents = np.zeros(n * stride), np.zeros(n * stride, np.int32)
            seen, first, second = np.zeros((3, n), np.uint64)
            listed = np.empty(n * len(group), out.indices.dtype)
            state = State(
                numbers, exponents, seen, first, second, listed, np.empty(len(listed), np.uint64), stride,
                np.uint64((1 << len(group)) - 1),
            )  # fmt: skip
            locals_ = Local(
                np.empty((workers, stride)), np.empty((workers, stride), np.int32),
                np.empty((workers, BUFFER), out.indices.dtype),
            )  # fmt: skip
            part = sums_of(sums, slice(group[0], group[-1] + 1))
            run_jointly(arcs, sources[group], state, locals_, part)
            done(len(group))


def _scratches(out: CSR, workers: int) -> Scratch:
    n = out.shape[0]
    each = n * (_SCRATCH_BYTES + out.indices.dtype.itemsize)
    while workers > 1 and not fits(workers * each, "cpu"):
        workers -= 1
    check_memory(workers * each, "the search for shortest paths from one source", "cpu")
    return scratches(workers, n, out.indices.dtype)


def _arcs(csr: CSR, weighted: bool) -> Rows:
    return Rows(plain(csr.indptr), plain(csr.indices), plain(csr.data) if weighted else None)
