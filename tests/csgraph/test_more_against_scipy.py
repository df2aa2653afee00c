"""Matchings, orders, paths and conversions of csgraph are SciPy's, on either device."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs
from raising import raises
from test_against_scipy import GRAPHS, home, moved, random_graph, same

import hpgraph as hpg
from hpgraph import csgraph as ours


def test_every_function_of_scipys_is_there() -> None:
    """None is passed on: each is defined in the package."""
    names = set(theirs.__all__)
    assert names <= set(ours.__all__) == {name for name in dir(ours) if name in ours.__all__}
    assert all(getattr(ours, name).__module__.startswith("hpgraph.csgraph.") for name in names)


def bipartite(rows: int, columns: int, density: float, seed: int) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    made = sp.random_array((rows, columns), density=density, rng=rng, format="csr")
    made.data = rng.integers(1, 50, made.nnz).astype(float)
    return made


def is_matching(graph: Any, column_of: Any) -> bool:
    used = column_of[column_of >= 0]
    stored = set(zip(*graph.nonzero(), strict=True))
    pairs = zip(np.flatnonzero(column_of >= 0), used, strict=True)
    return len(set(used)) == len(used) and all(pair in stored for pair in pairs)


@pytest.mark.parametrize("shape", [(1, 1), (30, 30), (200, 200), (120, 300), (300, 120)])
@pytest.mark.parametrize("density", [0.0, 0.008, 0.03])
def test_largest_matchings(shape: tuple[int, int], density: float, device: str) -> None:
    graph = bipartite(*shape, density, 1)
    given = moved(graph, device)
    column_of = home(ours.maximum_bipartite_matching(given, perm_type="column"))
    row_of = home(ours.maximum_bipartite_matching(given))
    most = np.count_nonzero(theirs.maximum_bipartite_matching(graph) >= 0)
    assert is_matching(graph, column_of) and is_matching(graph.T, row_of)
    assert np.count_nonzero(column_of >= 0) == np.count_nonzero(row_of >= 0) == most
    assert ours.structural_rank(given) == most == theirs.structural_rank(graph)


def joined(rows: Any, columns: Any, shape: tuple[int, int]) -> sp.csr_array:
    graph = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    graph.sum_duplicates()
    return graph


def planted(n: int) -> sp.csr_array:
    """A perfect matching, hidden among three times as many arcs."""
    rng = np.random.default_rng(7)
    rows = np.tile(np.arange(n), 4)
    return joined(rows, np.concatenate((rng.permutation(n), rng.integers(0, n, 3 * n))), (n, n))


def stars(count: int, size: int) -> sp.csr_array:
    """Columns of many rows each, beside rows of many columns each, most of which stay free."""
    leaves = np.arange(count * size)
    rows = np.concatenate((leaves, count * size + leaves % count))
    columns = np.concatenate((leaves % count, count + leaves))
    return joined(rows, columns, (count * (size + 1),) * 2)


def lattice(side: int) -> sp.csr_array:
    line = sp.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1], shape=(side, side))
    return sp.csr_array(sp.kronsum(line, line))


def power_law(rows: int, columns: int) -> sp.csr_array:
    rng = np.random.default_rng(8)
    places = [np.minimum(side * rng.random(4 * rows) ** 5, side - 1).astype(int) for side in (rows, columns)]
    return joined(*places, (rows, columns))


@pytest.mark.parametrize(
    "graph",
    [
        planted(1500), stars(1, 3000), stars(7, 400), sp.csr_array(sp.diags_array([np.ones(2999)], offsets=[1])),
        lattice(40), lattice(31), power_law(3000, 3000), power_law(3000, 500), power_law(500, 3000),
        sp.csr_array((400, 0)), sp.csr_array((0, 400)), sp.csr_array((0, 0)), sp.csr_array((50, 70)),
    ],
    ids=lambda graph: f"{graph.shape}, {graph.nnz}",
)  # fmt: skip
def test_largest_matchings_of_kinds(graph: Any, device: str) -> None:
    most = np.count_nonzero(theirs.maximum_bipartite_matching(graph) >= 0)
    given = moved(graph, device)
    for _ in range(3):
        column_of = home(ours.maximum_bipartite_matching(given, "column"))
        assert column_of.dtype == np.int32 and column_of.shape == graph.shape[:1]
        assert is_matching(graph, column_of) and np.count_nonzero(column_of >= 0) == most


def test_a_matching_along_one_long_path(device: str) -> None:
    # Each row but the last prefers what the next row needs, so that one augmenting path turns all of them.
    n = 20_000
    rows = np.concatenate((np.arange(n - 1), np.arange(n - 1), [n - 1]))
    columns = np.concatenate((np.arange(n - 1), np.arange(1, n), [0]))
    graph = joined(rows, columns, (n, n))
    assert ours.structural_rank(moved(graph, device)) == n


def test_a_block_triangular_jacobian() -> None:
    # Coupled blocks with more rows than columns and others with fewer: searches meet the same dead ends many times.
    rng = np.random.default_rng(5)
    n = 3000
    rows = np.repeat(np.arange(n), 6)
    columns = np.clip(rows + rng.integers(-40, 41, len(rows)), 0, n // 2)
    graph = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    found = ours.maximum_bipartite_matching(graph, "column")
    assert is_matching(graph, found)
    # König: a cover by as many lines proves that no matching is larger. The columns that are stored are one.
    assert np.count_nonzero(found >= 0) == len(set(columns))


@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (150, 150), (60, 150), (150, 60)])
@pytest.mark.parametrize("maximize", [False, True])
def test_lightest_matchings(shape: tuple[int, int], maximize: bool, device: str) -> None:
    graph = bipartite(*shape, 0.1, 2)
    k = min(shape)
    graph = (graph + sp.csr_array((np.full(k, 90.0), (np.arange(k), np.arange(k))), shape=shape)).tocsr()
    row, column = home(ours.min_weight_full_bipartite_matching(moved(graph, device), maximize))
    expected = theirs.min_weight_full_bipartite_matching(graph, maximize)
    assert len(set(row)) == len(set(column)) == k and (np.diff(row) > 0).all()
    assert graph[row, column].sum() == graph[expected].sum()


@pytest.mark.parametrize("seed", range(6))
def test_lightest_matchings_of_real_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(40, 40 + 10 * (seed % 2)))
    row, column = ours.min_weight_full_bipartite_matching(sp.csr_array(dense))
    best = scipy.optimize.linear_sum_assignment(dense)
    assert dense[row, column].sum() == pytest.approx(dense[best].sum())


@pytest.mark.parametrize("wide", [0, 7])
@pytest.mark.parametrize("seed", range(20))
def test_lightest_matchings_of_rows_with_one_column_left(seed: int, wide: int) -> None:
    rng = np.random.default_rng(seed)
    # A shuffled triangle with a full diagonal, of few other entries: mostly each row in turn has but one choice.
    kept = np.triu(rng.random((30, 30)) < 0.15) | np.eye(30, dtype=bool)
    if seed % 2:
        kept |= rng.random((30, 30)) < 0.03
    kept = np.hstack([kept, rng.random((30, wide)) < 0.1])
    if seed % 5 == 4:
        # Two rows with the same column alone.
        kept[3] = kept[4] = np.arange(30 + wide) == 4
    dense = np.where(kept, rng.integers(1, 9, kept.shape), 0)[rng.permutation(30)][:, rng.permutation(30 + wide)]
    graph = sp.csr_array(dense.astype(float))
    if seed % 5 == 4:
        raises(ValueError, "no full matching", ours.min_weight_full_bipartite_matching, graph)
        return
    row, column = ours.min_weight_full_bipartite_matching(graph)
    best = scipy.optimize.linear_sum_assignment(np.where(dense > 0, dense, np.inf))
    assert (dense[row, column] > 0).all() and len(set(column)) == 30
    assert dense[row, column].sum() == dense[best].sum()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("n", "density"), GRAPHS)
def test_reverse_cuthill_mckee(n: int, density: float, symmetric: bool, device: str) -> None:
    graph = random_graph(n, density)
    if symmetric:
        graph = (graph + graph.T).tocsr()
    same(ours.reverse_cuthill_mckee(moved(graph, device), symmetric), theirs.reverse_cuthill_mckee(graph, symmetric))


def test_reverse_cuthill_mckee_of_a_hub(device: str) -> None:
    # So many neighbours of one vertex are sorted another way.
    graph = random_graph(300, 0.02).tolil()
    graph[7, ::2] = graph[::2, 7] = 1
    graph = (graph + graph.T).tocsr()
    graph = (graph + sp.diags_array((np.arange(300) % 3 == 0).astype(float))).tocsr()
    same(ours.reverse_cuthill_mckee(moved(graph, device)), theirs.reverse_cuthill_mckee(graph))
    # Not symmetric after all.
    graph = sp.triu(graph, -2, "csr")
    found = ours.reverse_cuthill_mckee(moved(graph, device), symmetric_mode=True)
    same(found, theirs.reverse_cuthill_mckee(graph, symmetric_mode=True))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("n", "density"), GRAPHS)
def test_depth_first(n: int, density: float, directed: bool, device: str) -> None:
    graph = random_graph(n, density)
    for start in range(0, n, max(1, n // 4)):
        for name in ("depth_first_order", "depth_first_tree"):
            same(getattr(ours, name)(moved(graph, device), start, directed),
                 getattr(theirs, name)(graph, start, directed))  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"directed": False}, {"unweighted": True}])
@pytest.mark.parametrize("negative", [False, True])
def test_shortest_simple_paths(options: dict[str, bool], negative: bool, device: str) -> None:
    if negative and options:
        pytest.skip("negative lengths in both directions are a negative cycle")
    graph = random_graph(60, 0.05, negative=negative)
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    arcs = graph.toarray() if options.get("directed", True) else theirs.csgraph_to_dense(
        sp.csr_array(np.minimum(*(theirs.csgraph_to_dense(one, np.inf) for one in (graph, graph.T.tocsr()))))
    )  # fmt: skip
    for source, sink in itertools.product((0, 7), (3, 42)):
        expected = theirs.yen(graph, source, sink, 12, **options)
        length, before = home(ours.yen(moved(graph, device), source, sink, 12, return_predecessors=True, **options))
        np.testing.assert_allclose(length, expected)
        paths = set()
        for row, total in zip(before, length, strict=True):
            path = [sink]
            while path[-1] != source:
                path.append(int(row[path[-1]]))
            paths.add(tuple(path))
            weights = [arcs[u, v] for v, u in itertools.pairwise(path)]
            assert len(set(path)) == len(path)
            assert total == pytest.approx(len(weights) if options.get("unweighted") else sum(weights))
        assert len(paths) == len(length)


@pytest.mark.parametrize("search", ["breadth_first_order", "depth_first_order"])
def test_orders_of_columns(search: str) -> None:
    """SciPy searches an undirected CSC array by the rows of its transpose: the order among neighbours differs."""
    for n in range(30, 35):
        A = random_graph(n, 0.08).tocsc()
        for directed in (True, False):
            found, expected = (list(getattr(library, search)(A, 0, directed)) for library in (ours, theirs))
            assert all(map(np.array_equal, found, expected))


def test_a_path_to_its_own_source() -> None:
    A = sp.csr_array([[0, 1], [1, 0]])
    found, expected = (library.yen(A, 1, 1, 2, return_predecessors=True) for library in (ours, theirs))
    assert found[0].dtype == expected[0].dtype and found[0].tolist() == expected[0].tolist() == [0.0]


def test_no_path_has_arcs_of_infinite_weight(device: str) -> None:
    A = sp.csr_array(np.array([[0, np.inf, 2, 0], [0, 0, 0, np.inf], [0, 1, 0, 0], [0, 0, 0, 0]]))
    assert len(theirs.yen(A, 0, 3, 4)) == len(ours.yen(moved(A, device), 0, 3, 4)) == 0
    assert home(ours.yen(moved(A, device), 0, 1, 4)).tolist() == theirs.yen(A, 0, 1, 4).tolist() == [3.0]


def test_conversions(device: str) -> None:
    graph = random_graph(60, 0.05)
    for null in (0, np.inf, -1):
        same(ours.csgraph_to_dense(moved(graph, device), null), theirs.csgraph_to_dense(graph, null))
    if device == "cuda":
        import cupy

        same(ours.csgraph_from_dense(cupy.asarray(graph.toarray())), graph)
        for function, given in ((ours.csgraph_to_masked, moved(graph, device)),
                                (ours.csgraph_masked_from_dense, cupy.eye(2)),
                                (ours.csgraph_from_masked, cupy.eye(2))):  # fmt: skip
            raises(TypeError, "no masked arrays", function, given)
        return
    masked, expected = ours.csgraph_to_masked(graph), theirs.csgraph_to_masked(graph)
    np.testing.assert_array_equal(masked.mask, expected.mask)
    same(masked.filled(0), expected.filled(0))
    same(ours.csgraph_from_masked(masked), theirs.csgraph_from_masked(expected))


@pytest.mark.parametrize("null_value", [0, None, np.nan, np.inf, 3])
@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize("flags", [*itertools.product((True, False), repeat=2)])
def test_dense_arrays(null_value: Any, dtype: type, flags: tuple[bool, bool]) -> None:
    dense = np.array([[0, 3, 1], [2, 0, 5], [4, 3, 0]], dtype)
    if dtype is float:
        dense[0] = np.inf, 1e-9, np.nan
    given = dense, null_value, *flags
    mine, expected = ours.csgraph_masked_from_dense(*given), theirs.csgraph_masked_from_dense(*given)
    np.testing.assert_array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(expected))
    assert mine.dtype == expected.dtype and mine.fill_value == expected.fill_value
    mine, expected = ours.csgraph_from_dense(*given), theirs.csgraph_from_dense(*given)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name))


def test_types_are_those_of_scipy() -> None:
    dense = np.matrix([[0.0, 1, 2], [3, 0, 4], [5, 0, 0]])
    for name in ("breadth_first_tree", "depth_first_tree"):
        assert type(getattr(ours, name)(dense, 0)) is type(getattr(theirs, name)(dense, 0)) is sp.csr_array
    assert type(ours.minimum_spanning_tree(dense)) is type(theirs.minimum_spanning_tree(dense)) is sp.csr_matrix
    wide = sp.csc_array(dense)
    found, wanted = (module.min_weight_full_bipartite_matching(wide) for module in (ours, theirs))
    assert [array.dtype for array in found] == [array.dtype for array in wanted]
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    found, wanted = (module.reverse_cuthill_mckee(wide, symmetric_mode=True) for module in (ours, theirs))
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype == np.int64


def test_fill_values_of_dense_arrays() -> None:
    for array in (np.array([[0, 1], [2, 0]], np.uint8), np.matrix([[0, 1], [2, 0]])):
        for null_value in (0, -1, 300):
            mine, expected = (module.csgraph_masked_from_dense(array, null_value) for module in (ours, theirs))
            assert mine.fill_value == expected.fill_value and mine.baseclass is expected.baseclass is np.ndarray
            np.testing.assert_array_equal(mine.mask, expected.mask)


def test_the_lightest_of_parallel_arcs_counts() -> None:
    # As SciPy's own arrays have them: before 1.17 its spanning trees take no int64 here.
    indices, indptr = np.array([1, 1, 0, 0], np.int32), np.array([0, 2, 4], np.int32)
    graph = sp.csr_array((np.array([5.0, 2, 3, 1]), indices, indptr), shape=(2, 2))
    for name in ("csgraph_to_dense", "shortest_path", "minimum_spanning_tree"):
        same(getattr(ours, name)(graph), getattr(theirs, name)(graph))


def test_parallel_arcs_of_a_coo_are_summed() -> None:
    row, col = np.array([1, 0, 0, 0], np.int32), np.array([0, 1, 1, 0], np.int32)
    graph = sp.coo_array((np.array([1.0, 2, 3, 1]), (row, col)), shape=(2, 2))
    for name in ("dijkstra", "minimum_spanning_tree", "laplacian"):
        found, wanted = (getattr(module, name)(graph) for module in (ours, theirs))
        same(*(array.toarray() if sp.issparse(array) else array for array in (found, wanted)))
    np.testing.assert_array_equal(graph.col, col)


@pytest.mark.parametrize("directed", [True, False])
def test_distances_of_predecessors(directed: bool, device: str) -> None:
    graph = random_graph(60, 0.05)
    _, before = theirs.shortest_path(graph, directed=directed, return_predecessors=True)
    before[5, before[5] >= 0] = before[5, before[5] >= 0][::-1]  # some of which are no paths any more
    before[5] = np.where(before[5] >= 0, 5, before[5])
    expected = theirs.construct_dist_matrix(graph, before, directed, null_value=-1)
    same(ours.construct_dist_matrix(moved(graph, device), before, directed, null_value=-1), expected)


def test_maximum_flows(device: str) -> None:
    graph = random_graph(300, 0.02).astype(np.int32)
    expected = theirs.maximum_flow(graph, 0, 299)
    found = ours.maximum_flow(moved(graph.astype(float) if device == "cuda" else graph, device), 0, 299)
    flow = home(found.flow)
    assert found.flow_value == expected.flow_value == flow[0].sum() == -flow[299].sum()
    assert (flow == -flow.T).all() and (flow <= graph.toarray()).all() and (flow[1:299].sum(axis=1) == 0).all()
    if device == "cpu":
        assert flow.dtype == np.int32
        large = sp.csr_array(np.array([[0, 2**40], [0, 0]]))
        assert ours.maximum_flow(large, 0, 1).flow_value == 2**40


CSR, RECTANGLE = sp.csr_array(np.eye(3, k=1)), sp.csr_array((2, 3))
BAD_INPUTS = [
    ("maximum_bipartite_matching", (np.eye(3),), TypeError, "must be sparse"),
    ("maximum_bipartite_matching", (CSR.tolil(),), TypeError, "format"),
    ("maximum_bipartite_matching", (CSR, "rows"), ValueError, "perm_type"),
    ("structural_rank", (np.eye(3),), TypeError, "must be sparse"),
    ("min_weight_full_bipartite_matching", (np.eye(3),), TypeError, "must be sparse"),
    ("min_weight_full_bipartite_matching", (CSR,), ValueError, "no full matching exists"),
    ("min_weight_full_bipartite_matching", (sp.csr_array([[np.nan]]),), ValueError, "NaN"),
    ("reverse_cuthill_mckee", (np.eye(3),), TypeError, "must be sparse"),
    ("reverse_cuthill_mckee", (CSR.tocoo(),), TypeError, "format"),
    ("reverse_cuthill_mckee", (RECTANGLE,), ValueError, "square"),
    ("depth_first_order", (CSR, 5), IndexError, "i_start 5"),
    ("depth_first_tree", (CSR, 1.5), TypeError, "i_start"),
    ("reconstruct_path", (CSR, np.full(3, np.nan)), ValueError, "integral"),
    ("reconstruct_path", (CSR, [0, 1]), ValueError, "must have shape"),
    ("reconstruct_path", (CSR, [-1, 3, 0]), IndexError, "must be vertices, 0..2"),
    ("yen", (CSR, 0, 3, 2), ValueError, "must have 0 <="),
    ("yen", (CSR, 0, 2, -1), ValueError, "K"),
    ("yen", (CSR, 0, 2, 1.5), TypeError, "integer"),
    ("csgraph_to_dense", (CSR.tocoo(),), ValueError, "csr, csc or lil"),
    ("csgraph_to_dense", (np.eye(3),), ValueError, "must be sparse"),
    ("csgraph_to_dense", (RECTANGLE,), ValueError, "square"),
    ("csgraph_to_masked", (RECTANGLE,), ValueError, "square"),
    ("csgraph_from_dense", (np.ones(3),), ValueError, "two dimensions"),
    ("csgraph_from_dense", (np.ones((2, 3)),), ValueError, "square"),
    ("csgraph_masked_from_dense", (np.ones((2, 3)),), ValueError, "square"),
    ("csgraph_from_masked", (np.ma.ones((2, 3)),), ValueError, "square"),
    ("construct_dist_matrix", (CSR, np.zeros((2, 2), np.int32)), ValueError, "same shape"),
    ("construct_dist_matrix", (CSR, np.zeros((3, 3))), TypeError, "int32"),
    ("maximum_flow", (np.eye(3), 0, 1), TypeError, "must be sparse"),
    ("maximum_flow", (CSR, 0, 1), ValueError, "integers"),
    ("maximum_flow", (CSR.astype(int), 0, 0), ValueError, "source and sink"),
    ("maximum_flow", (CSR.astype(int), 0, 3), ValueError, "sink must be between"),
    ("maximum_flow", (-CSR.astype(int), 0, 1), ValueError, "negative"),
    ("laplacian", (np.ones((2, 3)),), ValueError, "square"),
]


@pytest.mark.parametrize(("name", "given", "kind", "message"), BAD_INPUTS)
def test_bad_inputs(name: str, given: Any, kind: type[Exception], message: str) -> None:
    raises(kind, message, getattr(ours, name), *given)


def test_graphs_of_ours_are_taken(device: str) -> None:
    graph = hpg.Graph(random_graph(60, 0.05)).to(device)
    theirs_of = graph.to("cpu").out_csr.to_scipy()
    assert ours.structural_rank(graph) == theirs.structural_rank(theirs_of)
    same(ours.reverse_cuthill_mckee(hpg.Matrix(graph)), theirs.reverse_cuthill_mckee(theirs_of))
    same(ours.csgraph_to_dense(graph), theirs.csgraph_to_dense(theirs_of))
    same(ours.laplacian(graph), theirs.laplacian(theirs_of))


def test_results_share_no_memory_with_the_graph(device: str) -> None:
    given = moved(
        sp.csr_array(np.array([[0, 4, 0], [4, 0, 3], [0, 3, 0]], np.int32 if device == "cpu" else float)), device
    )
    before = given.toarray()
    flow = ours.maximum_flow(given, 0, 2).flow
    tree = ours.reconstruct_path(given, ours.breadth_first_order(given, 0)[1], directed=False)
    for found in (flow, tree, ours.minimum_spanning_tree(given)):
        for name in ("data", "indices"):
            getattr(found, name)[:] = 0
    assert bool((given.toarray() == before).all())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_flows_of_few_vertices(dtype: type) -> None:
    """Only vertices that the source reaches, or that reach the sink, take part: in trees these are few, or none."""
    rng = np.random.default_rng(8)
    child = np.arange(1, 120)
    parent = (rng.random(119) * child).astype(int)
    tree = sp.csr_array((rng.integers(1, 9, 119).astype(dtype), (parent, child)), shape=(120, 120))
    sparse = sp.csr_array(sp.random_array((120, 120), density=0.012, rng=rng) * 100).astype(dtype)
    flows = set()
    for graph in (tree, tree.T.tocsr(), sparse):
        for source, sink in rng.integers(0, 120, (60, 2)).tolist():
            if source == sink:
                continue
            found, wanted = (module.maximum_flow(graph, source, sink) for module in (ours, theirs))
            flow, total = found.flow.toarray(), np.zeros(120, dtype)
            assert found.flow_value == wanted.flow_value and found.flow.dtype == wanted.flow.dtype
            assert (flow == -flow.T).all() and (flow <= graph.toarray()).all()
            total[[source, sink]] = found.flow_value, -found.flow_value
            np.testing.assert_array_equal(flow.sum(axis=1), total)
            flows.add(found.flow_value > 0)
    assert flows == {True, False}


def test_paths_in_a_long_chain() -> None:
    """No vertex but the first has another way on."""
    n = 30_000
    graph = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1], format="lil")
    graph[0, 2] = 5
    assert ours.yen(graph.tocsr(), 0, n - 1, 4).tolist() == [n - 1, n + 2]
