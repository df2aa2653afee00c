"""Warm-up phase of a multi-source relaxation: a separate search from each source, up to the same number of arcs.

The vertices that make a search grow, such as hubs, are nearer to some sources than to others. With origins at the
start, each search would reach a hub in a different bucket, and no arc would be read for two of them. The origin of a
source is the value at which its warm-up ends: then most searches reach the hub in the same bucket.
"""

from __future__ import annotations

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Arcs that each search relaxes in the warm-up phase.
WARM_UP_ARCS = 1024


@njit(cache=True, nogil=True)
def start_apart(program, rows, values, words, standing, queue):
    """Relax the first arcs of each search separately, least values first, and set its origin where it stops.

    ``standing`` is the number of starts of each search, at the beginning of its row of ``queue``; at the end both hold
    the waiting vertices.
    """
    gather, reduce, allows, ceiling = program
    flat, k, origins = values
    for search in range(k):
        mine, count, arcs = queue[search], standing[search], 0
        flag = np.uint64(1) << np.uint64(search)
        while count > 0 and not is_stopped():
            least = 0
            for i in range(1, count):
                if flat[mine[i] * k + search] < flat[mine[least] * k + search]:
                    least = i
            u = np.int64(mine[least])
            source = flat[u * k + search]
            arcs += rows.indptr[u + 1] - rows.indptr[u]
            if arcs > WARM_UP_ARCS:
                origins[search] = source
                break
            count -= 1
            mine[least] = mine[count]
            words[u] &= ~flag
            for j in range(rows.indptr[u], rows.indptr[u + 1]):
                v, weight = np.int64(rows.indices[j]), entry(rows.data, j)
                old = flat[v * k + search]
                new = call(reduce, old, call(gather, u, source, weight, v, old))
                if new != old and new == new and call(allows, u, source, weight, v, old):
                    flat[v * k + search] = new
                    if not new > ceiling and words[v] & flag == np.uint64(0):
                        words[v] |= flag
                        mine[count] = v
                        count += 1
        standing[search] = count
