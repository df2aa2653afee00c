"""Union-find in CPU kernels, for one thread: each element points to another of its set, a root to itself."""

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex


@part
def root_of(above, v):
    """The root of the set of `v`, by path halving."""
    while peek(above, v) != v:
        above[v] = peek(above, vertex(above, v))
        v = vertex(above, v)
    return v


@part
def join(above, u, v):
    """Union by Rem's algorithm: the larger root points to a smaller element, as do all elements in between.

    M. M. A. Patwary, J. Blair, F. Manne, "Experiments on union-find algorithms for the disjoint-set data structure",
    SEA'10. Elements must point to smaller ones.
    """
    over_u, over_v = np.int64(vertex(above, u)), np.int64(vertex(above, v))
    while over_u != over_v:
        if over_u > over_v:
            u, v, over_u, over_v = v, u, over_v, over_u
        put(above, v, over_u)
        if v == over_v:
            break
        v, over_v = over_v, np.int64(vertex(above, over_v))
