"""Rows in any order, with duplicates and with columns that do not exist; and trees of fewest arcs, by either search."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs
from raising import raises
from test_against_scipy import random_graph

from hpgraph import csgraph as ours


def shuffled(graph: sp.csr_array, seed: int = 0) -> sp.csr_array:
    """Some arcs doubled, the other ones heavier, and every row in another order."""
    rng = np.random.default_rng(seed)
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    again = rng.random(graph.nnz) < 0.3
    row, column = np.concatenate((row, row[again])), np.concatenate((graph.indices, graph.indices[again]))
    data = np.concatenate((graph.data, graph.data[again] + 5))
    order = rng.permutation(len(row))
    order = order[np.argsort(row[order], kind="stable")]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=graph.shape[0]))))
    made = sp.csr_array((data[order], column[order].astype(np.int32), indptr.astype(np.int32)), shape=graph.shape)
    assert not made.has_sorted_indices
    return made


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ["breadth_first_order", "depth_first_order"])
def test_orders_follow_the_rows_as_they_are(name: str, directed: bool, kind: Any) -> None:
    given = shuffled(random_graph(300, 0.02))
    given.indices, given.indptr = given.indices.astype(kind), given.indptr.astype(kind)
    found, wanted = (getattr(module, name)(given, 7, directed) for module in (ours, theirs))
    for mine, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, expected, strict=True)


@pytest.mark.parametrize(("connection", "shared"), [("weak", False), ("weak", True), ("strong", False)])
def test_components_of_rows_as_they_are(connection: str, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(300, 0.004)
    if shared:
        # By all threads, as many arcs are joined.
        monkeypatch.setattr("hpgraph.kernels.structure.cpu_components._MIN_SHARED", 0)
    # SciPy never returns where a row has duplicates.
    found, wanted = (
        module.connected_components(given, connection=connection)
        for module, given in ((ours, shuffled(graph)), (theirs, graph))
    )
    assert found[0] == wanted[0] and len(set(zip(found[1], wanted[1], strict=True))) == wanted[0]


@pytest.mark.parametrize("directed", [True, False])
def test_trees_take_the_lightest_of_parallel_arcs(directed: bool) -> None:
    graph = random_graph(300, 0.02)
    _, before = theirs.breadth_first_order(graph, 0, directed)
    expected = theirs.reconstruct_path(graph, before, directed)
    for kind in (np.int32, np.int64):
        found = ours.reconstruct_path(shuffled(graph), before.astype(kind), directed)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        assert found.has_canonical_format


# At 0 arcs the distances are found by several threads, and then the trees; up to a limit after one thread gave up.
@pytest.mark.parametrize(("most", "tried"), [(0, 0), (0, 1 << 16), (1 << 18, 0)])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("options", [{}, {"directed": False}, {"unweighted": True}, {"limit": 12.0}])
def test_paths_of_fewest_arcs(
    most: int, tried: int, zeros: bool, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hpgraph.csgraph.paths._MAX_ALONE", most)
    monkeypatch.setattr("hpgraph.csgraph.paths._MAX_TRIED", tried)
    graph = random_graph(300, 0.02)
    graph.data = np.floor(graph.data / 3) if zeros else graph.data
    starts = [0, 7, 299]
    expected = theirs.dijkstra(graph, indices=starts, **options)
    for indices in (starts, 7, [0, 7, 299] * 5):
        distance, before = ours.dijkstra(shuffled(graph), indices=indices, return_predecessors=True, **options)
        for k, start in enumerate(np.atleast_1d(indices)):
            found, tree = np.atleast_2d(distance)[k], np.atleast_2d(before)[k]
            np.testing.assert_array_equal(found, expected[starts.index(start)])
            arcs = graph.tocoo()
            ends, weight = (arcs.row, arcs.col), np.ones(arcs.nnz) if options.get("unweighted") else arcs.data
            if options.get("directed") is False:
                ends, weight = (np.r_[arcs.row, arcs.col], np.r_[arcs.col, arcs.row]), np.r_[weight, weight]
            tight = (found[ends[0]] + weight == found[ends[1]]) & np.isfinite(found[ends[1]])
            steps = sp.csr_array((np.ones(tight.sum()), (ends[0][tight], ends[1][tight])), shape=graph.shape)
            hops = theirs.dijkstra(steps, indices=start, unweighted=True)
            reached = np.flatnonzero(np.isfinite(found) & (np.arange(300) != start))
            assert (tree[np.isinf(found)] == -9999).all() and tree[start] == -9999
            assert (hops[tree[reached]] + 1 == hops[reached]).all()
            taken = set(zip(ends[0][tight], ends[1][tight], strict=True))
            assert all((tree[v], v) in taken for v in reached)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("options", [{}, {"directed": False}, {"unweighted": True}])
def test_dense_paths_of_fewest_arcs(options: dict[str, Any], negative: bool) -> None:
    """Between all vertices at once, as by searches from each."""
    rng = np.random.default_rng(4)
    weight = rng.integers(1, 4, (40, 40)).astype(float) * (rng.random((40, 40)) < 0.4)
    if negative:
        weight = np.triu(weight, 1) - 2 * np.triu(weight == 3, 1)
        options = options if options.get("unweighted") else {}
    distance, before = ours.floyd_warshall(weight, return_predecessors=True, **options)
    np.testing.assert_array_equal(distance, theirs.floyd_warshall(weight, **options))
    for start in range(40):
        expected, tree = ours.bellman_ford(weight, indices=start, return_predecessors=True, **options)
        np.testing.assert_array_equal(distance[start], expected)
        # As many arcs to each vertex, and none to those that are not reached.
        hops = [np.zeros(40, int), np.zeros(40, int)]
        for count, parents in zip(hops, (before[start], tree), strict=True):
            above = np.where(parents < 0, np.arange(40), parents)
            at = np.arange(40)
            for _ in range(40):
                count += parents[at] >= 0
                at = above[at]
        np.testing.assert_array_equal(*hops)
        np.testing.assert_array_equal(before[start] < 0, tree < 0)


@pytest.mark.parametrize("kind", ["whole", "real", "signed"])
def test_spanning_trees_of_rows_as_they_are(kind: str) -> None:
    graph = random_graph(300, 0.02)
    rng = np.random.default_rng(2)
    data = {"whole": graph.data, "real": rng.random(graph.nnz), "signed": rng.integers(-3, 4, graph.nnz) * 0.5}[kind]
    graph.data = np.where(data == 0, -0.0, data)
    found, expected = ours.minimum_spanning_tree(graph), theirs.minimum_spanning_tree(graph)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    again = ours.minimum_spanning_tree(shuffled(graph))
    assert again.nnz == found.nnz and again.sum() == pytest.approx(found.sum())


@pytest.mark.parametrize("column", [4, -1, 1 << 30])
@pytest.mark.parametrize(
    "call",
    [
        lambda graph: ours.breadth_first_order(graph, 0),
        lambda graph: ours.depth_first_order(graph, 0),
        lambda graph: ours.reconstruct_path(graph, np.array([-1, 0, 1, 2])),
        lambda graph: ours.dijkstra(graph, indices=0, return_predecessors=True),
        lambda graph: ours.dijkstra(graph, return_predecessors=True),
        lambda graph: ours.dijkstra(graph, indices=[0, 1], min_only=True),
        lambda graph: ours.shortest_path(graph, indices=0),
        lambda graph: ours.dijkstra(graph, directed=False, indices=0),
        lambda graph: ours.breadth_first_order(graph, 0, directed=False),
        ours.connected_components,
        ours.minimum_spanning_tree,
    ],
)
def test_columns_beyond_the_shape(call: Any, column: int) -> None:
    graph = sp.csr_array(np.eye(4, k=1) + np.eye(4, k=2))
    graph.indices[0] = column
    raises(IndexError, "indices holds", call, graph)
    graph.indices = graph.indices.astype(np.int64) * 2**20
    raises(IndexError, "indices holds", call, graph)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("options", [{}, {"limit": 9.0}, {"min_only": True}])
def test_weights_are_checked_as_a_search_reads_them(options: dict[str, Any], directed: bool) -> None:
    graph = random_graph(300, 0.02)
    graph.data += 1
    wanted = theirs.dijkstra(graph, directed, [3, 9], **options)
    # Vertices 300 to 302 are not reached, and their weights do not matter.
    apart = sp.csr_array(([-5.0, np.nan, -1.0], ([300, 301, 300], [301, 302, 302])), shape=(303, 303))
    given = sp.csr_array(sp.block_diag((graph, sp.csr_array((3, 3))), format="csr") + apart)
    for array in (given.data, given.indices, given.indptr):
        array.flags.writeable = False
    for trees in (False, True):
        found = ours.dijkstra(given, directed, [3, 9], return_predecessors=trees, **options)
        found = found[0] if trees else found
        np.testing.assert_array_equal(found[..., :300], wanted)
        assert np.isinf(found[..., 300:]).all()


def test_negative_lengths_and_paths_longer_than_floats() -> None:
    graph = sp.csr_array(([4.0, 1.0, -3.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    np.testing.assert_array_equal(ours.dijkstra(graph, indices=0), [0, 4, 1])
    distance, before = ours.dijkstra(graph, indices=[0, 1], return_predecessors=True)
    np.testing.assert_array_equal(distance, [[0, 4, 1], [np.inf, 0, -3]])
    assert before[0, 2] in (0, 1) and before[1, 2] == 1
    graph = sp.csr_array(([1.5e308, 1.5e308], ([0, 1], [1, 2])), shape=(3, 3))
    for options in ({}, {"indices": 0}, {"indices": 0, "return_predecessors": True}):
        raises(ValueError, "more than float64 holds", ours.dijkstra, graph, **options)


def test_sources_of_trees_with_arcs_of_no_length() -> None:
    graph = random_graph(300, 0.01)
    graph.data = np.floor(graph.data / 3)
    distance, before, source = ours.dijkstra(graph, indices=[5, 80, 200], return_predecessors=True, min_only=True)
    wanted = theirs.dijkstra(graph, indices=[5, 80, 200])
    np.testing.assert_array_equal(distance, wanted.min(axis=0))
    for v in np.flatnonzero(np.isfinite(distance)):
        u = v
        for _ in range(300):
            u = u if before[u] < 0 else before[u]
        assert u == source[v] and wanted[[5, 80, 200].index(u), v] == distance[v]


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_arrays_that_are_views(kind: Any) -> None:
    graph = shuffled(random_graph(300, 0.02))
    wanted = theirs.breadth_first_order(graph, 7), theirs.depth_first_order(graph, 7)
    for name in ("indptr", "indices", "data"):
        array = getattr(graph, name).astype(kind if name != "data" else float)
        setattr(graph, name, np.repeat(array, 2)[::2])
    for found, expected in zip(
        (ours.breadth_first_order(graph, 7), ours.depth_first_order(graph, 7)), wanted, strict=True
    ):
        for mine, theirs_ in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs_)


@pytest.mark.parametrize("offsets", [[0, -1, 3, 4, 5], [0, 2, 1, 4, 5], [0, 1 << 20, 4, 4, 5], [0, 2, 4, 4, 1 << 20]])
@pytest.mark.parametrize(
    "call",
    [
        lambda graph: ours.breadth_first_order(graph, 0),
        lambda graph: ours.depth_first_order(graph, 0),
        lambda graph: ours.dijkstra(graph, indices=0),
        lambda graph: ours.shortest_path(graph, indices=[0, 1]),
        lambda graph: ours.breadth_first_order(graph, 0, directed=False),
        lambda graph: ours.reconstruct_path(graph, np.array([-1, 0, 1, 2])),
        ours.floyd_warshall,
        ours.connected_components,
    ],
)
def test_offsets_that_are_no_rows(call: Any, offsets: list[int]) -> None:
    graph = sp.csr_array(np.eye(4, k=1) + np.eye(4, k=2))
    # SciPy reads nnz off the last one.
    graph.indptr = np.array(offsets, np.int32)
    if offsets[-1] > 5:
        graph.indptr[-1] = 5
        graph.indptr[1] = 6
    raises(ValueError, "indptr must", call, graph)


def test_searches_of_several_sources_that_reach_little(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = shuffled(random_graph(300, 0.02))
    for most, tried in ((0, 1 << 16), (0, 20), (0, 0)):
        monkeypatch.setattr("hpgraph.csgraph.paths._MAX_ALONE", most)
        monkeypatch.setattr("hpgraph.csgraph.paths._MAX_TRIED", tried)
        for directed in (True, False):
            found = ours.dijkstra(graph, directed, [4, 9])
            np.testing.assert_array_equal(found, theirs.dijkstra(graph, directed, [4, 9]))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("unweighted", [True, False])
def test_paths_within_the_part_that_is_reached(directed: bool, unweighted: bool) -> None:
    rng = np.random.default_rng(6)
    # Two parts, their vertices mixed: what one reaches is less than half of all.
    parts = sp.block_diag([random_graph(40, 0.1), random_graph(90, 0.05)], format="csr")
    order = rng.permutation(130)
    graph = shuffled(sp.csr_array(parts[order][:, order]))
    place = np.argsort(order)
    options = {"directed": directed, "unweighted": unweighted, "return_predecessors": True}
    for source, sink in ((place[0], place[20]), (place[50], place[120]), (place[0], place[120]), (place[3], place[3])):
        lengths, before = ours.yen(graph, source, sink, 6, **options)
        canonical = sp.csr_array(ours.csgraph_from_dense(parts.toarray()[np.ix_(order, order)]))
        wanted, _ = theirs.yen(canonical, source, sink, 6, **options)
        if source != sink:
            np.testing.assert_allclose(lengths, wanted)
        for length, row in zip(lengths, before, strict=True):
            v, total, arcs = sink, 0.0, canonical.toarray()
            while row[v] >= 0:
                weight = arcs[row[v], v], np.inf if directed else arcs[v, row[v]] or np.inf
                total += 1 if unweighted else min(weight[0] or np.inf, weight[1])
                v = row[v]
            assert v == source and total == pytest.approx(length)


@pytest.mark.parametrize("stored", ["csc", "coo", "lil", "dok"])
def test_formats_besides_csr(stored: str) -> None:
    """Columns of a CSC serve as rows where arcs count in both directions, and in matchings."""
    graph = random_graph(200, 0.02)
    given = graph.asformat(stored)
    for directed in (True, False):
        for name in ("dijkstra", "bellman_ford"):
            found, wanted = (getattr(module, name)(one, directed) for module, one in ((ours, given), (theirs, graph)))
            np.testing.assert_allclose(found, wanted)
        found, wanted = (module.yen(given, 0, 100, 5, directed=directed) for module in (ours, theirs))
        np.testing.assert_allclose(found, wanted)
        _, before = theirs.breadth_first_order(graph, 0, directed)
        found, wanted = (module.reconstruct_path(given, before, directed) for module in (ours, theirs))
        np.testing.assert_array_equal(found.toarray(), wanted.toarray())
        for connection in ("weak", "strong"):
            found, wanted = (module.connected_components(given, directed, connection) for module in (ours, theirs))
            assert found[0] == wanted[0] and len(set(zip(*(x[1] for x in (found, wanted)), strict=True))) == wanted[0]
    if stored == "csc":
        for symmetric_mode in (True, False):
            found, wanted = (module.reverse_cuthill_mckee(given, symmetric_mode) for module in (ours, theirs))
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("directed", [True, False])
def test_arrays_of_a_csc_beyond_the_shape(directed: bool) -> None:
    given = sp.csc_array(np.eye(4, k=1) + np.eye(4, k=2))
    given.indices[0] = 4
    raises(IndexError, "indices holds 4", ours.dijkstra, given, directed, 0)
    given.indices[0], given.indptr[1] = 0, 9
    raises(ValueError, "indptr", ours.dijkstra, given, directed, 0)


@pytest.mark.parametrize("dtype", ["U3", "O", "c16", "M8[s]"])
def test_dense_graphs_of_other_types(dtype: str) -> None:
    """Of texts no element is 0, and of objects none is infinite."""
    given = np.ones((3, 3), np.int64).astype(dtype)
    for name in ("shortest_path", "csgraph_from_dense", "connected_components", "csgraph_from_masked"):
        raises(TypeError, "a dense graph must be", getattr(ours, name), given)


@pytest.mark.parametrize("stored", ["csr", "csc", "coo"])
@pytest.mark.parametrize("shape", [(40, 90), (90, 40), (60, 60)])
def test_matchings_of_wide_and_tall_matrices(stored: str, shape: tuple[int, int]) -> None:
    graph = sp.random_array(shape, density=0.03, rng=np.random.default_rng(3), format=stored)
    dense = graph.toarray()
    rows = ours.maximum_bipartite_matching(graph)
    columns = ours.maximum_bipartite_matching(graph, perm_type="column")
    size = np.count_nonzero(theirs.maximum_bipartite_matching(graph.tocsr()) >= 0)
    assert rows.shape == (shape[1],) and columns.shape == (shape[0],)
    assert size == ours.structural_rank(graph) == np.count_nonzero(rows >= 0) == np.count_nonzero(columns >= 0)
    assert all(dense[row, column] and columns[row] == column for column, row in enumerate(rows) if row >= 0)
    full = sp.random_array(shape, density=0.5, rng=np.random.default_rng(4), format=stored)
    found, wanted = (module.min_weight_full_bipartite_matching(full) for module in (ours, theirs))
    assert (np.diff(found[0]) > 0).all() and len(found[0]) == min(shape)
    assert full.toarray()[found].sum() == pytest.approx(full.toarray()[wanted].sum())
