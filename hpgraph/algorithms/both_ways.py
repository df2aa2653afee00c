"""A graph's arcs in both directions, none merged: what counts where direction does not matter but number does."""

from __future__ import annotations

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, occurrences


def both_ways(graph: Graph) -> CSR:
    """Every edge from both of its ends: the arcs of an undirected graph.

    Of a directed one, without weights and loops, row v holds the out-neighbours and the in-neighbours of v; a neighbour
    in both directions is there twice.
    """
    out = graph.out_csr
    if not graph.directed:
        return out
    xp, n = array_module(graph.device), graph.n_vertices
    sides = []
    for side in (out, graph.in_csr):
        row = side.expand_rows()
        kept = row != side.indices
        row = row[kept]
        sides.append((row, side.indices[kept], occurrences(row, n)))
    (out_row, targets, out_degree), (in_row, sources, in_degree) = sides
    indptr = xp.zeros(n + 1, np.int64)
    xp.cumsum(out_degree + in_degree, out=indptr[1:])
    out_before, in_before = (xp.cumsum(degree) - degree for degree in (out_degree, in_degree))
    indices = xp.empty(len(targets) + len(sources), targets.dtype)
    indices[xp.arange(len(targets)) + (indptr[:-1] - out_before)[out_row]] = targets
    indices[xp.arange(len(sources)) + (indptr[:-1] + out_degree - in_before)[in_row]] = sources
    return CSR((n, n), indptr, indices, validate=False, copy=False)
