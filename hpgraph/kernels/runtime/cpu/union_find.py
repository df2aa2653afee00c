"""Union-find in CPU kernels: each element points to another of its set, a root to itself."""

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex


@part
def root_of(above, v):
    """The root of the set of `v`, by path halving; for one thread."""
    while peek(above, v) != v:
        above[v] = peek(above, vertex(above, v))
        v = vertex(above, v)
    return v
