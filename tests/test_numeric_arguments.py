"""Numbers of every kind and size in every numeric argument: an answer, or one error of ours that names the argument."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph import csgraph, datasets

G = hpg.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], [1.0, 2.0, 3.0, 5.0], n_vertices=4)
A = hpg.Matrix.from_coo([0, 1, 2, 0], [1, 2, 0, 2], [1.0, 2.0, 3.0, 5.0], shape=(4, 4))
WHOLE = A.astype(np.int32)
SPARSE = scipy.sparse.eye_array(4, format="csr")


class Least(hpg.VertexProgram):
    value = hpg.Property("int64", initial=5, start=0)
    reduce = "min"

    def gather(source, weight, target):
        return source.value + 1


class Nearest(hpg.VertexProgram):
    value = hpg.Property("float64", initial=9, start=0)
    reduce = "min"
    # Not read: a parameter like any other.
    step = hpg.Parameter("float64", 1)

    def gather(source, weight, target):
        return source.value + weight


def threads(number: Any) -> Any:
    with hpg.config(threads=number):
        return hpg.bfs(G, 0)


def assigned(matrix: hpg.Matrix, number: Any) -> hpg.Matrix:
    copy = matrix.copy()
    copy[0, 1] = number
    return copy


CALLS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    # What the call is, what its message must name, the call.
    "bfs": ("max_depth", lambda v: hpg.bfs(G, 0, max_depth=v)),
    "bfs from": ("source|name", lambda v: hpg.bfs(G, v)),
    "alpha": ("alpha", lambda v: hpg.bfs(G, 0, direction=hpg.Direction(alpha=v))),
    "beta": ("beta", lambda v: hpg.bfs(G, 0, direction=hpg.Direction(beta=v))),
    "cutoff": ("cutoff", lambda v: hpg.sssp(G, 0, cutoff=v)),
    "delta": ("delta", lambda v: hpg.sssp(G, 0, delta=v)),
    "damping": ("damping", lambda v: hpg.pagerank(G, damping=v)),
    "tol": ("tol", lambda v: hpg.pagerank(G, tol=v)),
    "pagerank": ("max_iteration", lambda v: hpg.pagerank(G, max_iteration=v)),
    "run": ("max_iteration", lambda v: hpg.run(Least, G, max_iteration=v, active=[0])),
    "run by whole buckets": ("delta", lambda v: hpg.run(Least, G, delta=v, active=[0])),
    "run by buckets": ("delta", lambda v: hpg.run(Nearest, G, delta=v, active=[0])),
    "run up to a whole ceiling": ("ceiling", lambda v: hpg.run(Least, G, ceiling=v, active=[0])),
    "run up to a ceiling": ("ceiling", lambda v: hpg.run(Nearest, G, ceiling=v, active=[0])),
    "a property": ("value", lambda v: hpg.run(Least, G, value=v, active=[0])),
    "a parameter": ("step", lambda v: hpg.run(Nearest, G, step=v, active=[0])),
    "personalization": ("personalization", lambda v: hpg.pagerank(G, personalization=[v] * 4)),
    "start": ("start", lambda v: hpg.pagerank(G, start=[v] * 4)),
    "threads": ("threads", threads),
    "limit": ("limit", lambda v: csgraph.dijkstra(G, limit=v)),
    "density": ("density", lambda v: hpg.random(4, 4, density=v)),
    "kron": ("scale", lambda v: datasets.kron(v)),
    "edge_factor": ("edge_factor", lambda v: datasets.kron(2, v)),
    "grid": ("side", lambda v: datasets.grid(v)),
    "removed": ("removed", lambda v: datasets.grid(3, removed=v)),
    "from_edges": ("n_vertices|vertices", lambda v: hpg.Graph.from_edges([0], [1], n_vertices=v)),
    "a shape": ("shape|n must", lambda v: hpg.Matrix.from_coo([0], [0], [1.0], shape=(v, 2))),
    "eye": ("k", lambda v: hpg.eye(3, k=v)),
    "diags": ("offset", lambda v: hpg.diags([1.0], v, shape=(3, 3))),
    "tril": ("k|thunk", lambda v: hpg.tril(A, v)),
    "triu": ("k|thunk", lambda v: hpg.triu(A, v)),
    "a threshold": ("thunk", lambda v: hpg.select(A, "valuegt", v)),
    "a whole threshold": ("thunk", lambda v: hpg.select(WHOLE, "valuegt", v)),
    "rows up to": ("thunk", lambda v: hpg.select(A, "rowle", v)),
    "apply": ("right|op|operand", lambda v: hpg.apply(A, "plus", right=v)),
    "apply to whole numbers": ("right|op|operand", lambda v: hpg.apply(WHOLE, "plus", right=v)),
    "times": ("", lambda v: A * v),
    "whole numbers times": ("", lambda v: WHOLE * v),
    "an entry": ("", lambda v: assigned(A, v)),
    "a whole entry": ("", lambda v: assigned(WHOLE, v)),
    "an index": ("", lambda v: A[v, 0]),
}
NUMBERS = [
    10**30, 10**400, -(10**400), 2**63, -1, float("nan"), float("inf"), "3", None, True, 2.5, np.int8(3),
    np.float16(2.5),
]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_any_number_has_a_meaning_or_is_refused_by_name(name: str) -> None:
    argument, call = CALLS[name]
    for number in NUMBERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call(number)
            except (ValueError, TypeError, IndexError, hpg.DeviceMemoryError) as error:
                said = str(error)
                assert any(word in said for word in argument.split("|")), f"{number!r}: {said}"


def test_a_bound_beyond_all_numbers_is_none() -> None:
    for most in (10**30, 10**400):
        assert hpg.bfs(G, 0, max_depth=most).level.tolist() == hpg.bfs(G, 0).level.tolist()
        assert hpg.sssp(G, 0, cutoff=most).distance.tolist() == [0, 1, 3, np.inf]
        assert hpg.sssp(G, 0, delta=most).distance.tolist() == [0, 1, 3, np.inf]
        bounds = {"max_iteration": most, "ceiling": most, "delta": most}
        assert hpg.run(Least, G, active=[0], **bounds).value.tolist() == [0, 1, 1, 5]
        assert hpg.run(Nearest, G, active=[0], **bounds).value.tolist() == [0, 1, 3, 9]
        assert hpg.pagerank(G, max_iteration=most).converged
        assert csgraph.dijkstra(G, indices=0, limit=most).tolist() == [0, 1, 3, np.inf]
        for select in (hpg.select(A, "valuelt", most), hpg.select(A, "rowle", most), hpg.tril(A, most)):
            assert select.nnz == A.nnz
        assert hpg.triu(A, most).nnz == hpg.select(A, "valuegt", most).nnz == hpg.eye(3, k=most).nnz == 0
        assert hpg.triu(A, -most).nnz == A.nnz


def test_small_types_of_numpy_are_numbers_like_others() -> None:
    assert hpg.bfs(G, 0, max_depth=np.int8(1)).level.tolist() == [0, 1, 1, -1]
    assert hpg.sssp(G, 0, cutoff=np.float16(2.5)).distance.tolist() == [0, 1, np.inf, np.inf]
    assert hpg.sssp(G, np.uint8(0), delta=np.float16(0.5)).distance.tolist() == [0, 1, 3, np.inf]


DRAWS: dict[str, Callable[[Any], Any]] = {
    "gnp": lambda seed: datasets.gnp_random_graph(5, 0.5, seed=seed),
    "gnm": lambda seed: datasets.gnm_random_graph(5, 4, seed=seed),
    "attachment": lambda seed: datasets.barabasi_albert_graph(5, 2, seed=seed),
    "degrees": lambda seed: datasets.configuration_model([2, 2, 2], seed=seed),
    "blocks": lambda seed: datasets.stochastic_block_model([2, 3], [[0.5, 0.1], [0.1, 0.5]], seed=seed),
    "kron": lambda seed: datasets.kron(3, 2, seed=seed),
    "contacts": lambda seed: datasets.contacts(9, 50, seed=seed),
    "swaps": lambda seed: datasets.double_edge_swap(G.undirected, 0, seed=seed),
    "sources": lambda seed: hpg.closeness_centrality(G, 2, seed=seed),
    "an epidemic": lambda seed: hpg.sir(G, [0], 0.5, 0.5, seed=seed),
}


@pytest.mark.parametrize("name", DRAWS)
def test_any_whole_number_is_a_seed(name: str) -> None:
    for seed in (-1, 2**64 + 1, np.int8(-3)):
        DRAWS[name](seed)
    for bad in (2.5, "3", float("nan"), [1, 2], True):
        with pytest.raises(TypeError, match="seed must be a whole number"):
            DRAWS[name](bad)


UNFIT: dict[str, tuple[str, Callable[[], Any]]] = {
    "labels": ("communities", lambda: hpg.conductance(G.undirected, G)),
    "values": ("heat", lambda: hpg.heat_kernel(G, G)),
    "states": ("potential", lambda: hpg.belief_propagation(G, np.ones((4, 2)), G)),
    "shares": ("personalization", lambda: hpg.pagerank(G, personalization=G)),
    "partitions": ("second", lambda: hpg.adjusted_rand_index([0, 1], G)),
    "an attribute": ("attribute", lambda: hpg.attribute_assortativity_coefficient(G, None)),
    "points": ("X", lambda: hpg.knn_graph(G, 1)),
    "neighbours": ("indices", lambda: hpg.from_knn(None)),
    "distances": ("distances", lambda: hpg.from_knn([[1], [0]], "near")),
    "ends": ("target", lambda: hpg.from_edges([0], 1)),
    "names": ("names", lambda: hpg.from_edges([0], [1], names=2)),
    "a matrix": ("csgraph", lambda: csgraph.laplacian(None)),
    "blocks": ("blocks", lambda: hpg.block_array(None)),
    "a row of blocks": ("blocks", lambda: hpg.hstack(None)),
    "diagonals": ("diagonals", lambda: hpg.diags(None)),
    "no diagonals": ("diagonals", lambda: hpg.diags([])),
    "no list of diagonals": ("diagonals", lambda: hpg.diags(np.array(5))),
    "a format": ("format", lambda: hpg.eye(2, format=-1)),
    "a type of a matrix": ("dtype", lambda: hpg.eye(2, dtype=-1)),
    "a type to convert to": ("dtype", lambda: A.astype({0: 1})),
    "a type of ranks": ("dtype", lambda: hpg.pagerank(G, dtype="real")),
    "a type of entries": ("dtype", lambda: hpg.apply(A, "ainv", dtype={0: "a"})),
    "weights of a path": ("weight", lambda: hpg.dag_longest_path(G, weight=SPARSE)),
    "labels of edges": ("edge_attr", lambda: hpg.weisfeiler_lehman_graph_hash(G, edge_attr=SPARSE)),
    "labels of vertices": ("node_attr", lambda: hpg.weisfeiler_lehman_subgraph_hashes(G, node_attr=SPARSE)),
    "first colours": ("colors", lambda: hpg.color_refinement(G, colors=SPARSE)),
    "colours that are arrays": ("colors", lambda: hpg.color_refinement(G, colors=[np.arange(2)] * 4)),
    "a size of groups": ("group_size", lambda: hpg.sssp(G, sources=[0, 1], group_size=SPARSE)),
    "sizes of groups": ("group_size", lambda: hpg.sssp(G, 0, group_size=np.array([1, 2]))),
    "a probability": ("gamma", lambda: hpg.sir(G, [0], 0.5, np.array([0, 1]))),
    "the longest spring": ("k must be from", lambda: hpg.layout.spring(G, k=1e308)),
    "the shortest spring": ("k must be from", lambda: hpg.layout.spring(G, k=1e-308)),
    "a flag": ("parents must be True or False", lambda: hpg.sssp(G, 0, parents=np.array([True, False]))),
    "a sparse flag": ("strong_gravity must be", lambda: hpg.layout.force_atlas2(G, strong_gravity=SPARSE)),
    "a flag of a pair of arrays": ("directed must be", lambda: hpg.from_edges([0], [1], directed=np.zeros(2))),
    "a flag by its place": ("maxcardinality", lambda: hpg.max_weight_matching(G, np.zeros(2))),
    "an exponent": ("tau", lambda: datasets.LFR_benchmark_graph(30, 3, float("nan"), 0.1, 5)),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_is_no_array_or_type_is_refused_by_name(name: str) -> None:
    argument, call = UNFIT[name]
    with pytest.raises((TypeError, ValueError), match=argument):
        call()


class Two:
    def __index__(self) -> int:
        return 2


@pytest.mark.parametrize("spread", [hpg.sir, hpg.sis])
def test_whole_numbers_of_other_types_count_runs_and_steps(spread: Callable[..., Any]) -> None:
    wanted = spread(G, [0], 0.5, 0.5, runs=2, max_steps=2)
    for two in (Two(), np.uint8(2)):
        for found, other in zip(spread(G, [0], 0.5, 0.5, runs=two, max_steps=two), wanted, strict=True):
            assert found.tolist() == other.tolist()


def test_longest_and_shortest_springs_place_vertices() -> None:
    for k in (1e-70, 1e70):
        place = hpg.layout.spring(G, k=k)
        assert np.isfinite(place).all() and np.abs(place).max() == pytest.approx(1)


def test_numbers_beyond_what_is_needed() -> None:
    """Rounds after the last change, steep power laws, a number that is an array."""
    rounds = hpg.color_refinement(G.undirected, iterations=10**30)
    assert rounds.tolist() == hpg.color_refinement(G.undirected).tolist()
    assert datasets.LFR_benchmark_graph(30, 1e9, 1e9, 0.1, min_degree=2, min_community=10).n_edges <= 60
    assert hpg.sample_neighbors(G, [0], np.array(1)).edges_of_hop == [1]
    labels = hpg.label_propagation_communities(G.undirected, max_iteration=10**30)
    assert labels.label.tolist() == hpg.label_propagation_communities(G.undirected).label.tolist()
    assert hpg.leiden(G.undirected, max_size=10**30).label.tolist() == hpg.leiden(G.undirected).label.tolist()
    for times in (2**40, 10**30):
        with pytest.raises(hpg.DeviceMemoryError, match=f"{times} labels"):
            hpg.slpa(G.undirected, n_iterations=times)
    for most in (2**63, 10**30):
        assert hpg.reach(G, [0], within=most).tolist() == hpg.reach(G, [0]).tolist()
        assert hpg.k_hop_subgraph(G, [0], most).vertex.tolist() == [0, 1, 2]
        assert hpg.k_truss(G, most).n_vertices == 0
