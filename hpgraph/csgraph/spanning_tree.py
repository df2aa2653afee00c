"""Minimum spanning trees, as `scipy.sparse.csgraph` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.csgraph.graph_input import as_graph_input
from hpgraph.csgraph.pointers import roots
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """A spanning tree of least weight, of every component one.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
        The graph; an arc joins its ends, whatever its direction.
    overwrite : bool
        Accepted for SciPy's sake: nothing is overwritten.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        The arcs of the trees, each in one direction.

    Notes
    -----
    On the CPU this is SciPy's own function, Kruskal's algorithm. On the GPU it is Borůvka's: every tree takes its
    lightest arc to another tree, of arcs of the same weight the first one by rows, until no such arcs are left; some
    log n rounds. An arc of weight zero, which the tree may need, is not stored in the result, as in SciPy.

    References
    ----------
    O. Borůvka, "O jistém problému minimálním", 1926.

    Examples
    --------
    >>> import numpy as np
    >>> from hpgraph import csgraph
    >>> csgraph.minimum_spanning_tree(np.array([[0, 8, 3], [0, 0, 2], [0, 0, 0]])).toarray()
    array([[0., 0., 3.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    given = as_graph_input(csgraph)
    if given.device == "cpu":
        import scipy.sparse.csgraph

        return scipy.sparse.csgraph.minimum_spanning_tree(given.sparse(given.csr))
    return given.sparse(boruvka(given.csr))


def boruvka(arcs: CSR) -> CSR:
    """A spanning tree of least weight, of every component one, on either device.

    Parameters
    ----------
    arcs : CSR
        The graph, with weights.

    Returns
    -------
    CSR
        The arcs of the trees.
    """
    xp = array_module(arcs.device)
    row = arcs.expand_rows()
    # From here on an arc is its rank by weight: no two are the same, so that no cycle can close.
    by_weight = xp.argsort(arcs.data, kind="stable")
    chosen = _lightest(arcs.shape[0], row[by_weight], arcs.indices[by_weight])
    kept = by_weight[chosen]
    kept = kept[arcs.data[kept] != 0]
    return CSR.from_coo(row[kept], arcs.indices[kept], arcs.data[kept], arcs.shape)


def _lightest(n: int, source: Any, target: Any) -> Any:
    """Which arcs make up the trees, of arcs in order of their weights."""
    xp = array_module(source)
    backend = kernels("cpu" if xp is np else "cuda")
    left = xp.arange(len(source), dtype=np.int64)
    chosen = xp.zeros(len(source), dtype=bool)
    tree = xp.arange(n, dtype=np.int64)
    while True:
        left = left[tree[source[left]] != tree[target[left]]]
        if not len(left):
            return xp.flatnonzero(chosen)
        best = xp.full(n, len(source), dtype=np.int64)
        a, b = tree[source[left]], tree[target[left]]
        backend.minimum_at(best, a, left)
        backend.minimum_at(best, b, left)
        joining = xp.flatnonzero(best < len(source))
        arc = best[joining]
        chosen[arc] = True
        a, b = tree[source[arc]], tree[target[arc]]
        above = xp.arange(n, dtype=np.int64)
        above[joining] = xp.where(a == joining, b, a)
        # Two trees that chose the same arc point at each other: the smaller stays a root.
        mutual = joining[above[above[joining]] == joining]
        mutual = mutual[mutual < above[mutual]]
        above[mutual] = mutual
        tree = roots(above)[tree]
