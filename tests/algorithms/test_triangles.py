"""Triangle counts against NetworkX, sets in Python and SciPy's matrix product, on every device there is."""

import functools
from math import comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from arrays import host
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_triangles import triangles_by_product, triangles_by_sets

import hpgraph as hpg
from hpgraph.core.device import device_of

Arcs = tuple[np.ndarray, np.ndarray, int]


def counted(arcs: Arcs, device: str, dtype: Any = np.int32, directed: bool | None = False) -> tuple[int, np.ndarray]:
    source, target, n = arcs
    ids = (np.asarray(ids, dtype=dtype) for ids in (source, target))
    graph = hpg.Graph.from_edges(*ids, n_vertices=n, directed=directed).to(device)
    each = hpg.triangles(graph)
    assert each.dtype == np.int64
    assert each.shape == (n,)
    assert device_of(each) == device
    total = hpg.triangle_count(graph)
    assert isinstance(total, int)
    return total, host(each)


def of_networkx(graph: nx.Graph) -> Arcs:
    edges = np.array(graph.edges(), dtype=np.int64).reshape(-1, 2)
    return edges[:, 0], edges[:, 1], graph.number_of_nodes()


def random_arcs(n: int, m: int, seed: int, skew: float = 1.0) -> Arcs:
    rng = np.random.default_rng(seed)
    shuffle = rng.permutation(n)
    source, target = (shuffle[(n * rng.random(m) ** skew).astype(np.int64)] for _ in range(2))
    return source, target, n


def with_hub(n: int, m: int, seed: int) -> Arcs:
    """Sparse arcs, and one vertex in the middle of the ids that all others reach."""
    source, target, _ = random_arcs(n, m, seed)
    others = np.delete(np.arange(n), n // 2)
    return np.r_[source, others], np.r_[target, np.full(n - 1, n // 2)], n


def ends_of_ids(n: int, width: int, each: int, seed: int) -> Arcs:
    """Arcs among the first and the last few ids only: lists that alias each other modulo any small power of two."""
    rng = np.random.default_rng(seed)
    few = np.r_[np.arange(width), n // 2 + np.arange(width), n - 1 - np.arange(width)]
    source, target = few[rng.integers(0, few.size, (2, each * few.size))]
    return source, target, n


def with_core(core: int, n: int, m: int, seed: int) -> Arcs:
    """A core of which one pair in five is an edge, and arcs into it."""
    rng = np.random.default_rng(seed)
    inside = rng.integers(0, core, (2, core * core // 10))
    return *np.concatenate(
        [inside, [rng.integers(core, n, m), (core * rng.random(m) ** 2).astype(np.int64)]], axis=1
    ), n


NOWHERE = np.zeros(0, np.int64)
GRAPHS: dict[str, Arcs] = {
    "no vertices": (NOWHERE, NOWHERE, 0),
    "one vertex": (NOWHERE, NOWHERE, 1),
    "no arcs": (NOWHERE, NOWHERE, 100),
    "one loop": (np.array([0]), np.array([0]), 1),
    "one edge": (np.array([0]), np.array([1]), 2),
    "one triangle": (np.array([0, 1, 2]), np.array([1, 2, 0]), 3),
    "path": of_networkx(nx.path_graph(2000)),
    "star": of_networkx(nx.star_graph(3000)),
    "wheel": of_networkx(nx.wheel_graph(2000)),
    "two cliques and a bridge": of_networkx(nx.barbell_graph(40, 3)),
    "complete, small": of_networkx(nx.complete_graph(17)),
    "complete bipartite": of_networkx(nx.complete_bipartite_graph(30, 600)),
    "triangulated grid": of_networkx(
        nx.convert_node_labels_to_integers(nx.triangular_lattice_graph(30, 40), ordering="sorted")
    ),
    "even degrees": random_arcs(3000, 20_000, 1),
    "even degrees, dense": random_arcs(600, 60_000, 2),
    "uneven degrees": random_arcs(3000, 60_000, 3, skew=3),
    "very uneven degrees": random_arcs(8000, 40_000, 4, skew=4),
    "hub": with_hub(5000, 12_000, 5),
    "disconnected": of_networkx(
        nx.disjoint_union_all([nx.complete_graph(5), nx.cycle_graph(3), nx.path_graph(9), nx.star_graph(90)])
    ),
    "aliases": ends_of_ids(1 << 18, 150, 20, 6),
    "aliases in long rows": ends_of_ids(1 << 18, 150, 200, 7),
    # On a GPU the core's neighbours among each other are bits.
    "dense core": with_core(1500, 9000, 300_000, 8),
}
BY_PRODUCT = ("even degrees, dense", "aliases", "aliases in long rows", "dense core")


@functools.cache
def reference(name: str) -> np.ndarray:
    source, target, n = GRAPHS[name]
    if name in BY_PRODUCT:  # rows that are long for sets
        return triangles_by_product(scipy.sparse.coo_array((np.ones(len(source)), (source, target)), (n, n)))
    return triangles_by_sets(source, target, n)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_definition_agrees(name, device):
    total, each = counted(GRAPHS[name], device)
    np.testing.assert_array_equal(each, reference(name))
    assert 3 * total == each.sum()


@pytest.mark.parametrize("n", [1, 2, 3, 33, 129, 300, 700])
def test_complete_graph(n, device):
    total, each = counted(of_networkx(nx.complete_graph(n)), device)
    assert total == comb(n, 3)
    np.testing.assert_array_equal(each, comb(n - 1, 2))


def test_takes_networkx_and_scipy():
    graph = nx.karate_club_graph()
    assert hpg.triangle_count(graph) == sum(nx.triangles(graph).values()) // 3 == 45
    assert hpg.triangle_count(nx.to_scipy_sparse_array(graph)) == 45


@pytest.mark.parametrize("name", ["even degrees", "uneven degrees", "hub"])
def test_direction_loops_repeats_and_weights_make_no_difference(name, device):
    source, target, n = GRAPHS[name]
    plain = counted(GRAPHS[name], device)
    rng = np.random.default_rng(0)
    again, loops = rng.integers(0, len(source), 500), rng.integers(0, n, 300)
    source, target = np.r_[source, target[again], loops], np.r_[target, source[again], loops]
    turned = rng.random(len(source)) < 0.5
    source, target = np.where(turned, target, source), np.where(turned, source, target)
    weight = rng.random(len(source)).astype(np.float32)
    graph = hpg.Graph.from_edges(source, target, weight, n_vertices=n, directed=True).to(device)
    assert hpg.triangle_count(graph) == plain[0]
    np.testing.assert_array_equal(host(hpg.triangles(graph)), plain[1])


@pytest.mark.parametrize("name", ["even degrees", "uneven degrees", "very uneven degrees", "hub"])
def test_relabelling_moves_counts_along(name, device):
    source, target, n = GRAPHS[name]
    total, each = counted(GRAPHS[name], device)
    label = np.random.default_rng(1).permutation(n)
    relabelled_total, relabelled = counted((label[source], label[target], n), device)
    assert relabelled_total == total
    np.testing.assert_array_equal(relabelled[label], each)


@pytest.mark.parametrize("name", ["even degrees", "hub"])
def test_wide_ids(name, device, wide_graph):
    source, target, n = GRAPHS[name]
    narrow = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False)
    graph = wide_graph(narrow.out_csr, directed=False).to(device)
    if name == "hub":
        # Of degree order without tallies: what they are indexed by, the other loop says.
        assert hpg.triangle_count(graph) == reference(name).sum() // 3
    else:
        np.testing.assert_array_equal(host(hpg.triangles(graph)), reference(name))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_small_graph(device, data):
    n = data.draw(st.integers(1, 40))
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=300)
    source, target = np.array(data.draw(ends), dtype=np.int64).reshape(-1, 2).T
    # Leaves on vertex 0 make degrees uneven, and the count go by degree order.
    leaves = data.draw(st.sampled_from([0, 60]))
    arcs = (np.r_[source, np.zeros(leaves, int)], np.r_[target, n + np.arange(leaves)], n + leaves)
    total, each = counted(arcs, device)
    np.testing.assert_array_equal(each, triangles_by_sets(*arcs))
    assert 3 * total == each.sum()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads(threads):
    source, target, n = GRAPHS["very uneven degrees"]
    expected = counted(GRAPHS["very uneven degrees"], "cpu")
    with hpg.config(threads=threads):
        graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False)
        assert hpg.triangle_count(graph) == expected[0]
        np.testing.assert_array_equal(hpg.triangles(graph), expected[1])


def test_unfit_input_is_refused():
    with pytest.raises(ValueError, match="square"):
        hpg.triangle_count(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(TypeError):
        hpg.triangles("graph")


@pytest.mark.parametrize(
    ("file", "triangles"),
    [("ca-AstroPh", 1_350_014), ("email-Enron", 727_044), ("soc-Epinions1", 1_624_481), ("cnr-2000", 20_977_629)],
)
def test_real_graphs(file, triangles, device, data_dir: Path):
    matrix = scipy.sparse.coo_array(scipy.io.mmread(data_dir / f"{file}.mtx.gz"))
    total, each = counted((matrix.row, matrix.col, matrix.shape[0]), device, directed=None)
    assert total == triangles
    assert each.sum() == 3 * triangles
    if file in ("ca-AstroPh", "email-Enron"):  # the squares of the others take too long
        np.testing.assert_array_equal(each, triangles_by_product(matrix))
