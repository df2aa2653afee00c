"""Before lanes go together, each goes by itself for as many arcs as any: so they meet.

What makes a search grow, a hub say, lies nearer to some sources than to others. If all lanes counted their values from
the start, each would come there in a bucket of its own, and nothing would be read for two of them. They count from
where each would next follow more arcs than it may here: then most reach the hub in the same bucket.
"""

from __future__ import annotations

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Arcs that a lane follows by itself.
HEAD_START = 1024


@njit(cache=True, nogil=True)
def start_apart(laws, rows, values, words, standing, queue):
    """Let each lane follow its first arcs by itself, least values first, and count its values from where it stops.

    ``standing`` is each lane's number of starts, which begin its row of ``queue``; both are what waits in the end.
    """
    gather, reduce, allows, ceiling = laws
    flat, lanes, origins = values
    for lane in range(lanes):
        mine, count, arcs = queue[lane], standing[lane], 0
        flag = np.uint64(1) << np.uint64(lane)
        while count > 0 and not is_stopped():
            least = 0
            for i in range(1, count):
                if flat[mine[i] * lanes + lane] < flat[mine[least] * lanes + lane]:
                    least = i
            u = np.int64(mine[least])
            source = flat[u * lanes + lane]
            arcs += rows.indptr[u + 1] - rows.indptr[u]
            if arcs > HEAD_START:
                origins[lane] = source
                break
            count -= 1
            mine[least] = mine[count]
            words[u] &= ~flag
            for j in range(rows.indptr[u], rows.indptr[u + 1]):
                v, weight = np.int64(rows.indices[j]), entry(rows.data, j)
                old = flat[v * lanes + lane]
                new = call(reduce, old, call(gather, u, source, weight, v, old))
                if new != old and new == new and call(allows, u, source, weight, v, old):
                    flat[v * lanes + lane] = new
                    if not new > ceiling and words[v] & flag == np.uint64(0):
                        words[v] |= flag
                        mine[count] = v
                        count += 1
        standing[lane] = count
