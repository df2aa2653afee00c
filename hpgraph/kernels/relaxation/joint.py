"""Multi-source delta-stepping in one compiled call: an arc is read once for all sources that send along it.

The loop is that of `hpgraph.kernels.relaxation.delta_stepping`. A vertex has up to 64 contiguous values, one per
source, and a word of those that changed; vector instructions compare the values with a neighbour's. Only an improvement
takes an atomic operation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.relaxation.buckets import (
    BLOCK,
    DENSITY,
    bucket_of,
    give_back,
    hand_back,
    is_short,
    last_block,
)
from hpgraph.kernels.relaxation.delta_stepping import (
    ARCS,
    FEW_ARCS,
    FEW_BLOCKS,
    NOW,
    PROGRESS,
    SENDERS,
    SENT,
    Superstep,
    next_bucket,
    replace,
)
from hpgraph.kernels.relaxation.joint_buckets import NOWHERE, mark_waiting, recover, split_word, spread, take_word
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, LOOPS, STEP, cycles, log
from hpgraph.kernels.runtime.cpu.weights import entry, prefetch_entry
from hpgraph.kernels.runtime.cpu.work_stealing import (
    ALONE,
    begin_together,
    collect,
    end_together,
    leads,
    report,
    take,
)
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Values compared together: a cache line of double precision.
OCTET = 8
# Prefetch distance of targets' values, in arcs.
AHEAD = 6
# Cost of visiting an arc beside the octets it compares, in arcs of a single search; an octet costs one. With 64 sources
# a visit takes as long as 13 to 21 such arcs (Kronecker and uniform graphs, single and double precision).
VISIT = 10
# Tallies of a superstep beside SENDERS and SENT: octets compared, and pairs of an arc and a source that sent along it.
OCTETS, PAIRS = 2, 3
# Words of the progress behind those of `relaxation`: the cost in its arcs, pairs, whether to continue separately.
SPENT, ALL_PAIRS, APART = range(PROGRESS, PROGRESS + 3)
JOINT_PROGRESS = PROGRESS + 3


class SourceFunctions(NamedTuple):
    """The program's functions, over values, and the value beyond which a vertex does not send."""

    gather: Any
    reduce: Any
    allows: Any
    ceiling: Any


class Course(NamedTuple):
    """State of the leader, and the cost allowed before a joint run must be cheaper."""

    progress: Any
    scale: Any
    trace: Any
    patience: Any


class Scratch(NamedTuple):
    """One worker's copy of a sender's values, and the bounds of its ranges of sources."""

    source: Any
    stretches: Any


@part
def _stretches(word, count, stretches):
    """Write the bounds of the ranges of octets in which any source sends; return the number of ranges."""
    found, end = 0, -1
    for begin in range(0, count, OCTET):
        if (word >> np.uint64(begin)) & np.uint64(255):
            if begin == end:
                found -= 1
            else:
                stretches[found, 0] = begin
            end = begin + OCTET
            stretches[found, 1] = min(end, count)
            found += 1
    return found


@part(forceinline=True)
def _better(program, values, source, u, weight, v, begin, end):
    """Bits of the sources begin..end in which the message along an arc improves its target."""
    flat, at, word = values.flat, v * values.k, np.uint64(0)
    for c in range(begin, end):
        old, sent = peek(flat, at + c), peek(source, c)
        new = call(program.reduce, old, call(program.gather, u, sent, weight, v, old))
        # A NaN never equals itself: it must not count as a change each time.
        changes = (new != old) & (new == new) & call(program.allows, u, sent, weight, v, old)
        word |= np.uint64(changes) << np.uint64(c)
    return word


@part(forceinline=True)
def _improve(program, values, source, u, weight, v, word, step):
    """Improve a vertex's values in some sources; return those that changed and send, and the least of their buckets."""
    flat, at = values.flat, v * values.k
    changed, bucket = np.uint64(0), NOWHERE
    while word:
        search = lowest_bit(word)
        flag = word & (~word + np.uint64(1))
        word ^= flag
        sent = peek(source, search)
        while True:
            old = flat[at + search]
            new = call(program.reduce, old, call(program.gather, u, sent, weight, v, old))
            if new == old or new != new:
                break
            if replace(flat, at + search, old, new, step.alone):
                if not new > program.ceiling:
                    changed |= flag
                    bucket = min(bucket, bucket_of(new, peek(values.origins, search), step.density, step.now))
                break
    return changed, bucket


@part(forceinline=True)
def _fetch(flat, at, stretches, count):
    """Prefetch a vertex's values in some ranges of sources."""
    for s in range(count):
        for c in range(stretches[s, 0], stretches[s, 1], OCTET):
            prefetch(flat, at + c)


@part(counts_references=False)
def _relax(program, rows, values, waiting, row, store, scratch, begin, end, step):
    """Relax the out-arcs of the waiting vertices in store[begin:end]; return senders, arcs, octets, and pairs."""
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    flat, k, words, vertices = values.flat, values.k, waiting.words, store.vertices
    source, stretches = scratch
    senders, sent, compared, pairs = 0, 0, 0, 0
    for i in range(begin, end):
        u = vertex(vertices, i)
        prefetch(words, u)
        prefetch(indptr, u)
        prefetch(flat, u * k)
    for i in range(begin, end):
        u = vertex(vertices, i)
        if i + 1 < end:
            soon = peek(indptr, vertex(vertices, i + 1))
            prefetch(indices, soon)
            prefetch_entry(data, soon)
        here = u * k
        # A vertex with nothing to send in this bucket is in a later one too.
        near, later = split_word(peek(words, u), values, u, step)
        if near == np.uint64(0):
            continue
        word = take_word(u, waiting, step.alone)
        near, later = split_word(word, values, u, step)
        if word ^ near:
            mark_waiting(u, word ^ near, later, waiting, row, store, step.alone)
        if near == np.uint64(0):
            continue
        for c in range(k):
            source[c] = peek(flat, here + c)
        count = _stretches(near, k, stretches)
        first, last = peek(indptr, u), peek(indptr, u + 1)
        senders += 1
        sent += last - first
        pairs += (last - first) * popcount(near)
        for s in range(count):
            compared += (stretches[s, 1] - stretches[s, 0] + OCTET - 1) // OCTET * (last - first)
        for j in range(first, min(first + AHEAD, last)):
            _fetch(flat, vertex(indices, j) * k, stretches, count)
        for j in range(first, last):
            if j + AHEAD < last:
                _fetch(flat, vertex(indices, j + AHEAD) * k, stretches, count)
            v, weight = vertex(indices, j), entry(data, j)
            better = np.uint64(0)
            for s in range(count):
                better |= _better(program, values, source, u, weight, v, stretches[s, 0], stretches[s, 1])
            better &= near
            if better:
                changed, bucket = _improve(program, values, source, u, weight, v, better, step)
                if changed:
                    mark_waiting(v, changed, bucket, waiting, row, store, step.alone)
    return senders, sent, compared, pairs


@part
def _work(worker, program, rows, values, waiting, store, course, source):
    """One worker from the first superstep to the last; the leader continues while there is room in the trace."""
    board, progress, scale, trace = store.board, course.progress, course.scale, course.trace
    row, link = store.buckets[worker], store.link
    scratch = Scratch(source[worker], np.empty((64 // OCTET, 2), np.int64))
    leading = leads(board)
    turn, began, found = 0, 0, 0
    while True:
        if leading:
            began = cycles()
            found = 0
            progress[APART] = progress[SPENT] > max(progress[ALL_PAIRS], course.patience)
            if progress[STEP] < trace.shape[0] and not progress[APART] and not is_stopped():
                found = next_bucket(recover, spread, values, rows.indptr, waiting, store, course)
                progress[ACTIVE] = found
        turn = begin_together(board, leading, found > 0, turn)
        if turn < 0:
            break
        alone, now, density = board[ALONE] != 0, progress[NOW], scale[DENSITY]
        # `split_word` and `_improve` apply the origins.
        step = Superstep(0.0, density, now, alone)
        senders, sent, octets, pairs, most = 0, 0, 0, 0, FEW_ARCS if density > 0 else 0
        # First the shared blocks, then the worker's own current bucket, while it has few blocks (bucket fusion).
        block, count, shared = -1, 0, True
        while True:
            if shared:
                begin, stop = take(board, worker, alone)
                if begin < stop:
                    # A chunk lies within one block.
                    block, count = store.drawn[begin // BLOCK, 0], store.drawn[begin // BLOCK, 1]
                    stop = min(stop - begin // BLOCK * BLOCK, count)
                    begin %= BLOCK
                else:
                    shared, block = False, -1
                    most += octets
            if not shared:
                if block < 0:
                    place = row[now]
                    if place == 0 or octets >= most or not is_short(place, link, FEW_BLOCKS):
                        break
                    row[now] = 0
                    block = last_block(place)
                    count = place - block * BLOCK
                begin, stop = 0, count
            found_here = _relax(
                program, rows, values, waiting, row, store, scratch, block * BLOCK + begin, block * BLOCK + stop, step
            )
            senders += found_here[0]
            sent += found_here[1]
            octets += found_here[2]
            pairs += found_here[3]
            if not shared:
                before = link[block]
                give_back(block, row, link)
                block, count = before, BLOCK
        report(board, SENDERS, senders, alone)
        report(board, SENT, sent, alone)
        report(board, OCTETS, octets, alone)
        report(board, PAIRS, pairs, alone)
        end_together(board, leading)
        if leading:
            hand_back(store, found)
            progress[STEP] += 1
            compared, arcs = collect(board, OCTETS), collect(board, SENT)
            progress[ARCS] += compared
            progress[SPENT] += VISIT * arcs + compared
            progress[ALL_PAIRS] += collect(board, PAIRS)
            log(trace, progress[STEP], PUSH, collect(board, SENDERS), arcs, cycles() - began)


@njit(parallel=LOOPS, cache=True, nogil=True)
def relax(program, rows, values, waiting, store, course, source):
    """Relax until no vertex waits, or until the joint run turns out too expensive, or until the trace is full.

    Initially the waiting vertices are in the overflow bucket of the first row of ``store.buckets``. ``source`` has a
    row for each worker's copy of a sender's values. A call with the same arrays, a fresh gate and a longer trace
    continues.
    """
    for worker in prange(store.buckets.shape[0]):
        _work(np.int64(worker), program, rows, values, waiting, store, course, source)
