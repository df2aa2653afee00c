"""Random spanning trees on one thread, by walks from which cycles are erased.

D. B. Wilson, "Generating random spanning trees more quickly than the cover time", STOC'96. A walk keeps only the last
arc by which it left each vertex: the rest, when it reaches the tree, is the walk without its cycles.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit
from hpgraph.kernels.sampling.cpu_random import below, bits, by_weight


def walk_trees(arcs: CSR, running: Any, roots: Any, seed: int) -> Any:
    """The arc to the parent of each vertex, -1 at the roots; every component has one root.

    ``running``: of each row the running sums of its weights, by which arcs are drawn; None for all alike.
    """
    arc, joined = np.full(arcs.shape[0], -1, np.int64), np.zeros(arcs.shape[0], np.bool_)
    joined[roots] = True
    with interruptible():
        _walk(arcs.indptr, arcs.indices, running, np.int64(seed), arc, joined)
    return arc


@njit(cache=True, nogil=True)
def _walk(indptr, indices, running, seed, arc, joined):
    drawn = np.int64(0)
    for start in range(arc.size):
        v = np.int64(start)
        while not joined[v]:
            if drawn & 0xFFFF == 0 and is_stopped():
                return
            word = bits(seed, np.int64(0), drawn)
            drawn += 1
            begin, end = indptr[v], indptr[v + 1]
            arc[v] = begin + below(word, end - begin) if running is None else by_weight(running, begin, end, word)
            v = np.int64(indices[arc[v]])
        v = np.int64(start)
        while not joined[v]:
            joined[v] = True
            v = np.int64(indices[arc[v]])
