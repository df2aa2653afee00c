"""Whatever a public function returns, and each public class, is pickled and copied, and answers as before."""

import copy
import pickle
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from calls import arguments

import hpgraph as hpg
from hpgraph.containers.vertex_array import VertexArray

# An undirected graph with weights, a directed one without cycles, and one whose vertices have names.
U = hpg.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], [1.0, 2.0, 4.0, 1.0, 3.0], directed=False)
D = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1, 2, 2, 1])
N = hpg.from_edges([("ann", "bob"), ("bob", "eve"), ("eve", "ann"), ("eve", "xia")], directed=False)
A = hpg.Matrix(scipy.sparse.csr_array(np.array([[0.0, 2.0], [3.0, 4.0]])))
V = hpg.Vector([1.0, 2.0])
H = hpg.HeteroGraph({("author", "writes", "paper"): [("ann", 0), ("bob", 1)], ("paper", "cites", "paper"): [(0, 1)]})
T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("eve", "dan", 2)])

OF_DIRECTED = {
    "bipartite_sets", "condensation", "count_subgraph_isomorphisms", "dag_longest_path", "edge_disjoint_paths",
    "max_flow_min_cost", "maximum_bipartite_matching", "maximum_flow", "min_cost_flow", "minimum_cut",
    "node_disjoint_paths", "subgraph_isomorphisms", "topological_sort",
}  # fmt: skip


class Level(hpg.VertexProgram):
    """Steps from a start."""

    level = hpg.Property("int32", initial=-1, start=0)
    reduce = "min"

    def gather(source, weight, target):
        return source.level + 1

    def update(vertex, message):
        return message if vertex.level < 0 else vertex.level


class Age(hpg.EdgeVertexProgram):
    """Never run."""

    vertex = hpg.Property("float32", initial=0.0)
    edge = hpg.EdgeProperty("float32", initial=0.0)


# What functions are given that take no graph, or another one than `U`.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "apply": (A, "ainv"), "as_graph": (([0], [1]),), "assign": (A.copy(), 1.0, 0, 0),
    "block_array": ([[A]],), "block_diag": ([A],), "adjusted_rand_index": ([0, 1], [0, 1]), "bmat": ([[A]],),
    "diag": (V,), "diags": ([np.ones(3)], [0]), "expand_dims": (V,), "eye_array": (2,),
    "find": (A,), "from_dlpack": (np.ones(3),), "from_knn": ([[1], [0]], [[1.0], [1.0]]), "identity": (2,),
    "issparse": (A,), "kronsum": (A, A), "matrix_transpose": (A,), "permute_dims": (A,), "spdiags": ([[1, 2, 3]], [0]),
    "swapaxes": (A, 0, 1), "eigenvector_centrality": (N,), "ewise_add": (A, A),
    "ewise_mult": (A, A), "ewise_union": (A, 0.0, A, 0.0), "extract": (A, 0), "eye": (2,), "from_edges": ([(0, 1)],),
    "from_networkx": (nx.path_graph(3),), "hstack": ([A, A],), "hyb_array": (A,), "kron": (A, A),
    "kronecker": (A, A), "knn_graph": ([[0.0], [1.0]], 1), "matrix_power": (A, 2), "mxm": (A, A), "mxv": (A, V),
    "nearest_neighbors": ([[0.0], [1.0]], 1), "normalized_mutual_information": ([0, 1], [0, 1]),
    "jaccard": (U,), "power_law_fit": ([1, 2, 2, 3],), "random_bits": (1, 2), "select": (A, "tril"),
    "subassign": (A.copy(), 1.0, 0, 0), "transpose": (A,), "tril": (A,), "triu": (A,),
    "uniform": (1, 2), "uniform32": (1, 2), "vstack": ([A, A],), "vxm": (V, A),
    "temporal_motifs": (T, 2), "activity_statistics": (T,), "contact_statistics": (T,), "reachability_graph": (T,),
    **{name: (T,) for name in hpg.__all__ if name.startswith("temporal_") and name != "temporal_motifs"},
    **dict.fromkeys(("earliest_arrival", "fastest_duration", "fewest_hops", "latest_departure"), (T,)),
    "gomory_hu_tree": (hpg.Graph.from_edges([0, 1], [1, 2], [3, 2], directed=False),),
    **{name: (D, *arguments(name, 4)) for name in OF_DIRECTED},
}  # fmt: skip
CALLS: dict[str, Any] = {
    "bfs": lambda: [hpg.bfs(N, "ann"), hpg.bfs(U, 0), hpg.bfs(U, sources=[0, 1])],
    "diags_array": lambda: hpg.diags_array([np.ones(3)], offsets=[0]),
    "random_array": lambda: hpg.random_array((3, 3), density=0.5, rng=1),
    "pagerank": lambda: [hpg.pagerank(N), hpg.pagerank(U, personalization=np.eye(5)[:2])],
    "random": lambda: hpg.random(3, 3, 0.5, rng=1),
    "reduce": lambda: hpg.reduce(A, axis=0),
    "run": lambda: [hpg.run(Level, U, active=0), hpg.run(Level, U, active=0, max_iteration=1)],
    "sssp": lambda: [hpg.sssp(N, "ann", parents=True), hpg.sssp(U, 0), hpg.sssp(U, sources=[0, 1], parents=True)],
    # Classes that no function returns.
    "AdjacencyOperator": lambda: hpg.AdjacencyOperator(U),
    "CompileError": lambda: hpg.CompileError("gather", "a loop"),
    "DamagedPageError": lambda: hpg.DamagedPageError("a.hpg", 3, (0, 9), "checksum"),
    "DeviceMemoryError": lambda: hpg.DeviceMemoryError("a matrix", 1 << 40, 1 << 30, "cpu"),
    "Direction": lambda: hpg.Direction("auto"),
    "EdgeProperty": lambda: Age.edge,
    "EdgeVertexProgram": lambda: Age,
    "FileFormatError": lambda: hpg.FileFormatError("a.txt", "no number", 7),
    "HeteroGraph": lambda: H,
    "HomogeneousGraph": lambda: H.homogeneous(),
    "Matrix": lambda: A,
    "MissingExtraError": lambda: hpg.MissingExtraError("matplotlib", "plot", "drawing"),
    "NeighborLoader": lambda: hpg.NeighborLoader(U, [2], seeds=[0, 1], batch_size=1),
    "SubgraphLoader": lambda: hpg.SubgraphLoader(U, "edges", batch_size=1),
    "Parameter": lambda: hpg.Parameter("float64"),
    "Property": lambda: Level.level,
    "Stream": lambda: hpg.Stream(U),
    "TemporalGraph": lambda: T,
    "Trace": lambda: hpg.bfs(U, 0).trace,
    "Vector": lambda: V,
    "VertexProgram": lambda: Level,
}
# Of files, of settings, of several GPUs (`tests/test_divided_graph.py`), or of stages that hold functions.
LEFT_OUT = {
    "DividedArray", "DividedGraph", "DividedMatrix", "Phases", "StreamedGraph", "config", "convert", "load", "load_npz",
    "read", "save_npz", "show_versions", "techniques", "write",
}  # fmt: skip


def made(name: str) -> Any:
    public = getattr(hpg, name)
    if name in CALLS:
        return CALLS[name]()
    if isinstance(public, type):
        return public("said") if issubclass(public, Exception | Warning) else None
    found = public(*(ARGUMENTS.get(name) or (U, *arguments(name, 5))))
    return list(found) if isinstance(found, Iterator) else found


def same(one: Any, other: Any) -> bool:
    """Alike in type and in all that they hold."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        names = [getattr(array, "_names", None) for array in (one, other)]
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f") and same(*names)
    if isinstance(one, hpg.Graph):
        arcs = [(held.out_csr.indptr, held.out_csr.indices, held.weights, held.names) for held in (one, other)]
        return same(*arcs) and one.directed == other.directed
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, hpg.Trace):
        return one.explain() == other.explain()
    if isinstance(one, hpg.Matrix | hpg.Vector):
        return same(one.toarray(), other.toarray())
    if isinstance(one, nx.Graph):
        return nx.utils.graphs_equal(one, other)
    if isinstance(one, BaseException) and str(one) != str(other):
        return False
    if type(one).__module__.startswith("hpgraph") and hasattr(one, "__dict__"):
        held = [{name: value for name, value in vars(held).items() if name[0] != "_"} for held in (one, other)]
        return same(*held)
    return bool(one == other) or (one != one and other != other)


NAMES = [n for n in hpg.__all__ if n not in LEFT_OUT and not isinstance(getattr(hpg, n), ModuleType)]


@pytest.mark.parametrize("name", NAMES)
def test_pickled_and_copied(name: str) -> None:
    found = made(name)
    for one in found if isinstance(found, list) else [found]:
        for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert same(one, again), (one, again)


def test_every_class_is_made_by_something() -> None:
    found = [made(name) for name in NAMES]
    kinds = {type(one) for some in found for one in (some if isinstance(some, list) else [some])}
    wanted = {getattr(hpg, name) for name in NAMES if isinstance(getattr(hpg, name), type)}
    assert wanted - kinds == {hpg.VertexProgram, hpg.EdgeVertexProgram}, "their classes are, by name"
    assert VertexArray in kinds


def test_copies_do_not_share_what_is_written() -> None:
    """A copy of a result's array is another array, and knows the names as well."""
    near = hpg.closeness_centrality(N)
    for again in (pickle.loads(pickle.dumps(near)), copy.copy(near), copy.deepcopy(near)):
        again["bob"] = 7
        assert again["bob"] == 7 and near["bob"] < 7
