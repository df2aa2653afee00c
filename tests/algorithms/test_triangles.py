"""Triangle counts against NetworkX, sets in Python and SciPy's matrix product, on every device there is."""

from __future__ import annotations

import functools
import threading
from math import comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from arrays import host
from cuda_build import compiles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_triangles import triangles_by_product, triangles_by_sets

import hpgraph as hpg
from hpgraph.core.device import device_of
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.kernels.structure import cpu_triangle_cost
from hpgraph.kernels.structure import cpu_triangles as cpu
from hpgraph.kernels.structure.cpu_triangle_cost import cheapest
from hpgraph.kernels.structure.orientation import worth_ordering

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
    "complete": of_networkx(nx.complete_graph(400)),
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
}


@functools.cache
def reference(name: str) -> np.ndarray:
    source, target, n = GRAPHS[name]
    if "aliases" in name:  # whose rows are long for sets
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


@pytest.mark.parametrize("seed", range(4))
def test_networkx_agrees(seed, device):
    graph = nx.powerlaw_cluster_graph(400 + 100 * seed, 2 + 3 * seed, 0.5, seed=seed)
    total, each = counted(of_networkx(graph), device)
    triangles = nx.triangles(graph)
    np.testing.assert_array_equal(each, [triangles[v] for v in range(len(triangles))])
    assert 3 * total == sum(triangles.values())


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


def test_directed_cycle_is_a_triangle(device):
    assert counted((np.array([0, 1, 2]), np.array([1, 2, 0]), 3), device, directed=True)[0] == 1


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


@pytest.mark.parametrize("way", ["walk", "mark", "order"])
@pytest.mark.parametrize("name", GRAPHS)
def test_each_loop_of_the_cpu_counts_any_graph(name, way, monkeypatch):
    monkeypatch.setattr(cpu, "cheapest", lambda graph: way)
    source, target, n = GRAPHS[name]
    loops = np.arange(0, n, 7)
    total, each = counted((np.r_[source, loops], np.r_[target, loops], n), "cpu")
    np.testing.assert_array_equal(each, reference(name))
    assert 3 * total == each.sum()


def test_the_loop_that_looks_at_least_counts():
    def way(arcs: Arcs) -> str:
        return cheapest(hpg.Graph.from_edges(*arcs[:2], n_vertices=arcs[2], directed=False).out_csr)

    # No wedge lies below any vertex of a star whose centre comes first; most of those of one that comes last do.
    leaves = np.arange(1, 20_000)
    assert way((0 * leaves, leaves, 20_000)) == "walk"
    assert way((0 * leaves + 20_000, leaves, 20_001)) == "order"
    assert way(GRAPHS["path"]) == way(GRAPHS["triangulated grid"]) == "walk"
    # Nothing to gain where all degrees are alike.
    assert way(GRAPHS["complete"]) == way(GRAPHS["even degrees, dense"]) == "mark"
    assert way((NOWHERE, NOWHERE, 0)) == "walk"


@pytest.mark.parametrize("name", ["complete", "uneven degrees", "hub", "aliases", "one edge"])
def test_wedges_are_those_of_the_definition(name):
    source, target, n = GRAPHS[name]
    # A loop counts as a neighbour above: it decides nothing.
    source, target = source[source != target], target[source != target]
    csr = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False).out_csr
    rows = [set(csr.indices[csr.indptr[u] : csr.indptr[u + 1]].tolist()) - {u} for u in range(n)]
    below = [sum(v < u for v in row) for u, row in enumerate(rows)]
    above = [len(row) - b for row, b in zip(rows, below, strict=True)]
    assert cpu_triangle_cost._wedges(csr.indptr, csr.indices) == (
        sum(b * (b - 1) / 2 for b in below),
        sum(a * b for a, b in zip(above, below, strict=True)),
        # A vertex of one neighbour is passed over.
        sum(a for a, b in zip(above, below, strict=True) if b and a + b > 1),
    )
    degree = [len(row) for row in rows]
    before = [sum((-degree[v], v) < (-degree[u], u) for v in row) for u, row in enumerate(rows)]
    estimate = cpu_triangle_cost._wedges_by_degree(csr.indptr, csr.indices, n, n)
    assert estimate == pytest.approx(sum(b * (b - 1) / 2 for b in before), rel=0.02)


def test_degree_order_of_the_cpu():
    source, target, n = GRAPHS["uneven degrees"]
    csr = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False).out_csr
    by_degree = cpu.degree_order(csr)
    assert by_degree is cpu.degree_order(csr)
    degrees = csr.degrees[by_degree.order]
    assert (degrees[1:] <= degrees[:-1]).all()
    ties = degrees[1:] == degrees[:-1]
    assert (np.diff(by_degree.order)[ties] > 0).all()
    np.testing.assert_array_equal(by_degree.rank[by_degree.order], np.arange(n))
    whole = csr.to_scipy()[by_degree.order][:, by_degree.order]
    lower = scipy.sparse.csr_array(scipy.sparse.tril(whole, -1))
    lower.sort_indices()
    np.testing.assert_array_equal(by_degree.indptr, lower.indptr)
    np.testing.assert_array_equal(by_degree.indices, lower.indices)
    # The bound that makes it worth while.
    assert np.diff(by_degree.indptr).max() <= np.sqrt(2 * lower.nnz)


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_degree_order_is_the_same_on_cuda(device):
    from hpgraph.kernels.structure import cuda_triangles as cuda

    source, target, n = GRAPHS["very uneven degrees"]
    loops = np.arange(0, n, 7)
    graph = hpg.Graph.from_edges(np.r_[source, loops], np.r_[target, loops], n_vertices=n, directed=False)
    theirs, ours = cuda.plan(graph.to("cuda").out_csr).by_degree, cpu.degree_order(graph.out_csr)
    assert theirs is not None
    for name in ("order", "rank", "indptr", "indices"):
        np.testing.assert_array_equal(getattr(theirs, name).get(), getattr(ours, name), err_msg=name)


def test_degree_order_kept_beside_the_graph(device):
    source, target, n = GRAPHS["uneven degrees"]
    graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False).to(device)
    assert len({hpg.triangle_count(graph) for _ in range(3)}) == 1
    for _ in range(2):
        np.testing.assert_array_equal(host(hpg.triangles(graph)), host(hpg.triangles(graph)))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads(threads):
    source, target, n = GRAPHS["very uneven degrees"]
    expected = counted(GRAPHS["very uneven degrees"], "cpu")
    with hpg.config(threads=threads):
        graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False)
        assert hpg.triangle_count(graph) == expected[0]
        np.testing.assert_array_equal(hpg.triangles(graph), expected[1])


def test_two_threads_may_count_at_once(device):
    source, target, n = GRAPHS["uneven degrees"]
    graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False).to(device)
    totals: list[int] = []
    callers = [threading.Thread(target=lambda: totals.append(hpg.triangle_count(graph))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [counted(GRAPHS["uneven degrees"], "cpu")[0]] * 4


@pytest.mark.parametrize(
    ("vertices", "arcs", "squares", "worth"),
    [
        (0, 0, 0, False),
        (10**6, 4 * 10**6, 16 * 10**6, False),  # a grid
        (5000, 5000 * 4999, 5000 * 4999**2, False),  # complete: nothing to gain
        (10**6 + 1, 2 * 10**6, 10**12 + 10**6, True),  # a star
    ],
)
def test_when_ordering_pays(vertices, arcs, squares, worth):
    assert worth_ordering(vertices, arcs, squares) is worth


def test_unfit_input_is_refused():
    with pytest.raises(ValueError, match="square"):
        hpg.triangle_count(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(TypeError):
        hpg.triangles("graph")


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_too_little_memory_is_said(device, monkeypatch):
    from hpgraph.kernels.structure import cuda_degree_order as degree_order

    source, target, n = GRAPHS["uneven degrees"]
    graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=False).to(device)

    def nothing_left(nbytes, what, device):
        raise DeviceMemoryError(what, nbytes, 0, device)

    monkeypatch.setattr(degree_order, "check_memory", nothing_left)
    with pytest.raises(DeviceMemoryError, match="arcs of a graph in an order"):
        hpg.triangle_count(graph)


@pytest.mark.parametrize(
    ("arch", "index"),
    [("sm_75", "int"), ("sm_100", "long long")],
)
def test_cuda_source_compiles(arch, index):
    pytest.importorskip("cuda.core")
    from hpgraph.kernels.structure import cuda_degree_order as degree_order
    from hpgraph.kernels.structure import cuda_triangles as cuda

    names = [
        name
        for by_degree, tally, lanes in [(True, False, 32), (False, True, 8), (True, True, 16)]
        for name in cuda.kernel_names(index, by_degree, tally, lanes)
    ]
    names += cuda.kernel_names(index, True, False, 32, filtered=False)
    ids = np.dtype({"int": "int32", "long long": "int64"}[index])
    compiles(cuda.SOURCE, names=tuple(dict.fromkeys(names)), arch=arch, checks=cuda.checks(ids))
    compiles(degree_order.SOURCE, names=degree_order.kernel_names(index), arch=arch)


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
