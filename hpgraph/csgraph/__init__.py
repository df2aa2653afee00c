"""The functions of `scipy.sparse.csgraph`, under their names and with their meanings, on the CPU and on the GPU.

A graph is whatever SciPy takes for one (a sparse array or matrix, a dense array in which 0, inf and NaN are no arcs, a
masked array), or a sparse matrix or dense array of CuPy, or a `hpgraph.Graph` or `hpgraph.Matrix`. What comes back lies
on the device of what came in. Vertices are indices, as SciPy's are, also those of a `hpgraph.Graph` with names.
Functions of SciPy's that are not written here yet are passed through, for graphs on the CPU.

Examples
--------
>>> import numpy as np
>>> from hpgraph import csgraph
>>> G = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
>>> csgraph.shortest_path(G, indices=0)
array([0., 1., 3.])
"""

from __future__ import annotations

import functools
from typing import Any

from hpgraph.csgraph.components import connected_components
from hpgraph.csgraph.flow import maximum_flow
from hpgraph.csgraph.laplacian import laplacian
from hpgraph.csgraph.paths import NegativeCycleError, bellman_ford, dijkstra, floyd_warshall, johnson, shortest_path
from hpgraph.csgraph.spanning_tree import minimum_spanning_tree
from hpgraph.csgraph.traversal import breadth_first_order, breadth_first_tree, reconstruct_path

_PASSED_THROUGH = frozenset({
    "construct_dist_matrix", "csgraph_from_dense", "csgraph_from_masked", "csgraph_masked_from_dense",
    "csgraph_to_dense", "csgraph_to_masked", "depth_first_order", "depth_first_tree", "maximum_bipartite_matching",
    "min_weight_full_bipartite_matching", "reverse_cuthill_mckee", "structural_rank", "yen",
})  # fmt: skip

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_flow",
    "minimum_spanning_tree",
    "reconstruct_path",
    "shortest_path",
]


def __getattr__(name: str) -> Any:
    if name not in _PASSED_THROUGH:
        raise AttributeError(f"module 'hpgraph.csgraph' has no attribute {name!r}")
    import scipy.sparse.csgraph

    from hpgraph.csgraph.graph_input import as_scipy

    function = getattr(scipy.sparse.csgraph, name)

    @functools.wraps(function)
    def passed_through(graph: Any, *arguments: Any, **options: Any) -> Any:
        return function(as_scipy(graph, name), *arguments, **options)

    globals()[name] = passed_through
    return passed_through


def __dir__() -> list[str]:
    return sorted({*globals(), *_PASSED_THROUGH})
