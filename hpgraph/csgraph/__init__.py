"""The functions of `scipy.sparse.csgraph`, under their names and with their meanings, on the CPU and on the GPU.

A graph is any graph that SciPy accepts (a sparse array or matrix, a dense array in which 0, inf and NaN are no arcs, a
masked array), a sparse matrix or dense array of CuPy, or a `hpgraph.Graph` or `hpgraph.Matrix`. Results are on the
device of the input. Vertices are indices, as in SciPy, also those of a `hpgraph.Graph` with names.

Examples
--------
>>> from hpgraph import csgraph
>>> G = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
>>> csgraph.shortest_path(G, indices=0)
array([0., 1., 3.])
"""

from hpgraph.csgraph.components import connected_components
from hpgraph.csgraph.conversions import (
    construct_dist_matrix,
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
)
from hpgraph.csgraph.flow import maximum_flow
from hpgraph.csgraph.laplacian import laplacian
from hpgraph.csgraph.matching import maximum_bipartite_matching, min_weight_full_bipartite_matching, structural_rank
from hpgraph.csgraph.ordering import reverse_cuthill_mckee
from hpgraph.csgraph.paths import NegativeCycleError, bellman_ford, dijkstra, floyd_warshall, johnson, shortest_path
from hpgraph.csgraph.spanning_tree import minimum_spanning_tree
from hpgraph.csgraph.traversal import (
    breadth_first_order,
    breadth_first_tree,
    depth_first_order,
    depth_first_tree,
    reconstruct_path,
)
from hpgraph.csgraph.yen import yen

__all__ = [
    "NegativeCycleError", "bellman_ford", "breadth_first_order", "breadth_first_tree", "connected_components",
    "construct_dist_matrix", "csgraph_from_dense", "csgraph_from_masked", "csgraph_masked_from_dense",
    "csgraph_to_dense", "csgraph_to_masked", "depth_first_order", "depth_first_tree", "dijkstra", "floyd_warshall",
    "johnson", "laplacian", "maximum_bipartite_matching", "maximum_flow", "min_weight_full_bipartite_matching",
    "minimum_spanning_tree", "reconstruct_path", "reverse_cuthill_mckee", "shortest_path", "structural_rank", "yen",
]  # fmt: skip
