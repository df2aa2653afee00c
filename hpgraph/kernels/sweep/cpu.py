"""Supersteps in which every vertex sends and is updated, on the CPU: product, update and sums in one pass over rows.

Only properties that a vertex sends are double-buffered: the last superstep's values are read while this one's are
written. All others are read by their own vertex alone and change in place.

Short rows are bound by instructions, not memory. So messages are computed for a group of rows, without a branch for
each short row, and their vertices are then updated in a vectorized loop.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core import work_clock
from hpgraph.formats import CSR, RowFormat
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import SERIAL, njit, put, tasks
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.schedule import Schedule, schedule
from hpgraph.kernels.runtime.cpu.threads import in_python, rest, team
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cpu import arrays, product_of
from hpgraph.kernels.spmv.cpu_fold import (
    FEW,
    PREFETCH_ENTRIES,
    at,
    convert,
    fetch_ahead,
    fold,
    fold_in_turn,
    fold_short_rows,
    join,
)
from hpgraph.kernels.superstep.cpu import aggregate
from hpgraph.kernels.superstep.cpu_apply import Updates, update
from hpgraph.kernels.sweep import Swept
from hpgraph.semiring.reads import reads

# Rows of a group, whose messages stay in the first-level cache.
GROUP = 64


# Functions that compute and join messages, and that update a vertex and its sums.
Functions = functions_tuple(__name__, "Functions", "gather reduce terminal identity renew tally")


@njit(error_model="numpy", forceinline=True, counts_references=False)
def _group(does, state, rows, begin, end, longest, messages):
    """Messages of the rows begin..end, or of those before the first long one; return their number.

    ``longest``: None if there are few entries in all.
    """
    if longest is None:
        for v in range(begin, end):
            message, _ = fold_in_turn(does, does.terminal, state, rows, rows.indices[:0], v)
            put(messages, v - begin, message)
        return end - begin
    indptr, indices = rows.indptr, rows.indices
    if fold_short_rows(does, does.terminal, None, state, rows, begin, end, messages, begin):
        return end - begin
    for v in range(begin, end):
        first, last = at(indptr, v), at(indptr, v + 1)
        if last - first > longest:
            return v - begin
        fetch_ahead(indices, rows.data, first + PREFETCH_ENTRIES)
        message, _ = fold(does, does.terminal, does.identity, state, rows, first, last, None, v, does.identity)
        put(messages, v - begin, message)
    return end - begin


@njit(error_model="numpy", counts_references=False)
def _rows(does, updates, rows, begin, end, longest, messages, sums):
    """Rows begin..end except the long ones; their contribution is written to `sums`.

    Messages of a group of rows first, then their updates: a loop without branches, which LLVM vectorizes.
    """
    total = updates.zeros
    while begin < end:
        stop = min(begin + GROUP, end)
        count = _group(does, updates.state, rows, begin, stop, longest, messages)
        for i in range(count):
            total = update(updates, begin + i, begin + i, at(messages, i), total)
        # A group that ends early ends before a long row.
        begin = min(begin + count + 1, stop)
    for k in range(len(total)):
        sums[k] = total[k]


@njit(error_model="numpy", counts_references=False)
def _tasks(worker, does, updates, rows, plan, counter, partial, messages, sums):
    """One thread: take tasks, first the pieces of long rows, until none is left."""
    n_pieces = plan.piece_row.size
    n_tasks = n_pieces + plan.bounds.size - 1
    for task in tasks(counter, n_tasks):
        if task < n_pieces:
            partial[task], _ = fold(
                does, does.terminal, does.identity, updates.state, rows, plan.piece_begin[task],
                plan.piece_end[task], None, plan.piece_row[task], does.identity,
            )  # fmt: skip
        else:
            b = task - n_pieces
            _rows(does, updates, rows, plan.bounds[b], plan.bounds[b + 1], plan.longest, messages[worker], sums[b])


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _sweep(does, zeros, state, following, world, step, arcs, shares, room, sums):
    indptr, indices, data = arcs
    rows, plan = Rows(indptr, indices, data, convert(does.identity, 1)), Schedule(*shares)
    updates, total = Updates(does.renew, does.tally, zeros, state, following, world, step), zeros
    counter, partial, messages = room
    counter[0] = 0
    in_parallel(messages.shape[0], _tasks, (does, updates, rows, plan, counter, partial, messages, sums))
    for i in range(plan.long_rows.size):
        message, v = does.identity, plan.long_rows[i]
        for piece in range(plan.long_pieces[i], plan.long_pieces[i + 1]):
            message = join(does.reduce, message, partial[piece])
        total = update(updates, v, v, message, total)
    for k in range(len(total)):
        sums[plan.bounds.size - 1, k] = total[k]


# The same for one thread: it compiles in a third of the time, and needs no threading layer.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _sweep_alone(does, zeros, state, following, world, step, arcs, longest, messages, sums):
    indptr, indices, data = arcs
    rows = Rows(indptr, indices, data, convert(does.identity, 1))
    updates = Updates(does.renew, does.tally, zeros, state, following, world, step)
    _rows(does, updates, rows, 0, rows.indptr.size - 1, longest, messages, sums[0])


def sweeps(
    code: ProgramCode, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...], stop: Callable[..., Any] | None,
    limit: int,
) -> Swept | str:  # fmt: skip
    """Run supersteps in which every vertex sends and is updated, until the program stops.

    Sums are added by blocks of rows, which depend on the matrix alone, and within a block by the elements of SIMD
    vectors: results are the same bit for bit on any number of threads. Takes a second array for each property that
    `gather` reads of its source: for PageRank one value a vertex.

    ``state``: the properties; changed in place.
    """
    csr: CSR = rows.csr
    if csr.nnz == 0:
        return "there are no arcs"
    does, sent, zeros = _functions(code), sent_properties(code), (0.0,) * (1 + code.aggregates)
    arcs, plan = arrays(csr), None if csr.nnz + csr.shape[0] <= SERIAL else schedule(csr)
    longest = None if csr.nnz + csr.shape[0] <= FEW else csr.nnz
    sums = np.empty((1 if plan is None else len(plan.bounds), len(zeros)))
    following = tuple(np.empty_like(values) if twice else None for values, twice in zip(state, sent, strict=True))
    # A double buffer: arrays read and written in odd supersteps, and in even ones.
    swapped = [(b, a) if twice else (a, b) for a, b, twice in zip(state, following, sent, strict=True)]
    buffers = (state, following), (tuple([a for a, _ in swapped]), tuple([b for _, b in swapped]))
    first = len(world) - code.aggregates
    if code.aggregate is not None:
        world = (*world[:first], *aggregate(code, state, world))
    times: list[int] = []
    stopped, asks, began = False, _asking(stop), work_clock.now()
    with team() as workers:
        messages = np.empty((workers, GROUP), code.message)
        # The next task, and the messages of pieces of long rows.
        shares = None if plan is None else tuple(plan)
        room = None if plan is None else (np.zeros(1, np.int64), np.empty(plan.piece_row.size, code.message), messages)
        while len(times) < limit and not stopped and rest():
            step = len(times) + 1
            now, following = buffers[len(times) & 1]
            if shares is None:
                _sweep_alone(does, zeros, now, following, world, step, arcs, longest, messages[0], sums)
            else:
                _sweep(does, zeros, now, following, world, step, arcs, shares, room, sums)
            changed, *totals = sums.sum(axis=0)
            world = (*world[:first], *totals)
            ended = work_clock.now()
            times.append(ended - began)
            began = ended
            stopped = changed == 0 or (asks is not None and bool(asks(code.world(step, *world))))  # type: ignore[call-arg]
    for values, latest in zip(state, buffers[len(times) & 1][0], strict=True):
        if values is not latest:
            values[:] = latest
    return Swept(bool(stopped), np.array(world[first:], np.float64), np.array(times, np.int64))


@lru_cache(maxsize=256)
def _functions(code: ProgramCode) -> Any:
    functions = functions_of(code)
    product = product_of(functions.offer, code.reduce, None, code.message)
    return Functions(
        product.gather, product.reduce, product.terminal, product.identity, functions.renew, functions.tally
    )


def _asking(stop: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """`converged`, with Python's handling of Ctrl-C: a user's function may take long."""
    # A function made by `exec` may have no module.
    if stop is None or (stop.__module__ or "").startswith("hpgraph."):
        return stop

    def asks(world: Any) -> Any:
        with in_python():
            return stop(world)

    return asks


@lru_cache(maxsize=256)
def sent_properties(code: ProgramCode) -> tuple[bool, ...]:
    """Properties of the source that a message may depend on."""
    names: set[str] = set()
    for function in (code.gather, code.edge_cond):
        if function is not None:
            source = next(iter(reads(function).values()))
            if source is None:
                return (True,) * len(code.properties)
            names |= source
    return tuple(name in names for name, _ in code.properties)
