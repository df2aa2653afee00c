"""Arcs from Parquet files, from Dask arrays, from a data frame and from an .hpg file: the same graph."""

import types
import warnings

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.cluster.tables import parquet_files
from tests.cluster.conftest import sparse_graph

pyarrow = pytest.importorskip("pyarrow")


def edges_on(client, C) -> list[tuple[float, ...]]:
    """The arcs that lie in the blocks, wherever these are, as vertices of the graph."""

    def arcs(key):
        from hpgraph.cluster import worker

        found = []
        for (name, _), block in worker._blocks.items():
            if name == key:
                csr, vertices = block.graph.out_csr, block.vertices
                columns = vertices[csr.expand_rows()], vertices[csr.indices], csr.data
                found.append([column for column in columns if column is not None])
        return found

    parts = [part for some in client.run(arcs, C.key).values() for part in some]
    return sorted(zip(*(np.concatenate(column).tolist() for column in zip(*parts, strict=True)), strict=True))


def test_every_source_gives_the_same_graph(client, tmp_path) -> None:
    import dask.array as da
    import pyarrow.parquet

    graph = sparse_graph(5)
    source, target, weight = graph.edges(both_ways=True)
    wanted = sorted(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))
    # Each arc a second time, heavier: the lighter one is kept.
    columns = [np.concatenate([source, source]), np.concatenate([target, target]), np.concatenate([weight, weight + 1])]
    half = len(source) + 11
    for name, some in (("a", slice(half)), ("b", slice(half, None))):
        table = pyarrow.table({"weight": columns[2][some], "from": columns[0][some], "to": columns[1][some]})
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet", row_group_size=500)
    graph.save(tmp_path / "graph.hpg")
    dask = [da.from_array(column, chunks=700) for column in columns]
    n, make = graph.n_vertices, hpg.cluster.Graph
    for C in (
        make.from_parquet(client, f"{tmp_path}/*.parquet", n_vertices=n, duplicates="min", blocks=4),
        make.from_edges(client, *dask, n_vertices=n, duplicates="min", blocks=4),
        make.from_edges(client, *columns, n_vertices=n, duplicates="min", shape=(1, 3)),
        make.open(client, tmp_path / "graph.hpg", blocks=4),
        make.from_graph(client, graph, blocks=3, order="scattered"),
    ):
        with C:
            assert edges_on(client, C) == wanted
            assert (C.n_vertices, C.n_edges, C.least_weight()) == (n, len(wanted), weight.min())
            predicted = C.memory()
            assert set(predicted) == set(C.placed.values()) and min(predicted.values()) > 8 * len(wanted) / 4
    with make.from_parquet(client, f"{tmp_path}/*.parquet", directed=False, duplicates="max", blocks=2) as C:
        both = {(u, v) for u, v, _ in wanted} | {(v, u) for u, v, _ in wanted}
        assert {(u, v) for u, v, _ in edges_on(client, C)} == both


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("duplicates", ["min", "max", "sum", "first", None])
def test_duplicates_are_merged_as_on_one_machine(client, tmp_path, duplicates, directed) -> None:
    import dask.array as da
    import pyarrow.parquet

    rng = np.random.default_rng(11)
    columns = [rng.integers(0, 12, 300), rng.integers(0, 12, 300), rng.integers(1, 99, 300).astype(np.float32)]
    dask = [da.from_array(column, chunks=70) for column in columns]
    table = pyarrow.table(dict(zip(("source", "target", "weight"), columns, strict=True)))
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=90)
    made, how = hpg.cluster.Graph, {"directed": directed, "duplicates": duplicates}
    for weighted in (True, False):
        given, pieces = (columns, dask) if weighted else (columns[:2], dask[:2])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            wanted = hpg.Graph.from_edges(*given, **how)
            graphs = [
                made.from_edges(client, *pieces, blocks=4, **how),
                made.from_edges(client, *given, blocks=2, **how),
            ]
            if weighted:
                graphs.append(made.from_parquet(client, tmp_path / "a.parquet", blocks=3, **how))
        unlike = [one for one in caught if one.category is hpg.DuplicateEdgesWarning]
        # One for each graph, of the line that made it.
        assert len(unlike) == (0 if duplicates or not weighted else 1 + len(graphs))
        assert all(one.filename == __file__ for one in unlike)
        source, target, weight = wanted.edges(both_ways=True)
        arcs = [column.tolist() for column in (source, target, weight) if column is not None]
        for C in graphs:
            with C:
                assert C.dtype == wanted.dtype
                assert edges_on(client, C) == sorted(zip(*arcs, strict=True))


def test_duplicates_are_refused(client) -> None:
    import dask.array as da

    ends = [da.from_array(np.array(ids), chunks=2) for ids in ([0, 5, 2, 3, 5, 9], [1, 7, 3, 4, 7, 0])]
    with pytest.raises(ValueError, match=r"entry \(5, 7\) is given more than once, and 1 entries"):
        hpg.cluster.Graph.from_edges(client, *ends, duplicates="error", blocks=4)
    raises(ValueError, "duplicates must be", hpg.cluster.Graph.from_edges, client, *ends, duplicates="mean", blocks=4)
    with hpg.cluster.Graph.from_edges(client, *(end[:4] for end in ends), duplicates="error", blocks=4) as C:
        assert C.n_edges == 4
    with hpg.cluster.Graph.from_graph(client, ([0, 0], [1, 1], [3.0, 4.0]), duplicates="sum", blocks=2) as C:
        assert edges_on(client, C) == [(0, 1, 7.0)]


def test_what_hpgraph_wrote_beside_a_table_is_read(client, tmp_path) -> None:
    # An undirected edge stands there once; nothing touches the last vertices.
    ends = [0, 1, 2, 2], [1, 2, 0, 2]
    graph = hpg.Graph.from_edges(*ends, np.array([3.0, 1, 2, 5]), n_vertices=9, directed=False)
    hpg.write(graph, tmp_path / "a.parquet")
    source, target, weight = graph.edges(both_ways=True)
    wanted = sorted(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))
    with hpg.cluster.Graph.from_parquet(client, f"{tmp_path}/*.parquet", blocks=2) as C:
        assert edges_on(client, C) == wanted and len(wanted) == 7
        assert (C.directed, C.n_vertices) == (False, 9)
    made = parquet_files(tmp_path / "a.parquet", 12, True)
    assert (made.directed, made.n_vertices, len(made.pieces)) == (True, 12, 1)
    hpg.write(hpg.Graph.from_edges(*ends), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet is of an undirected graph and .*b\.parquet is not"):
        parquet_files(f"{tmp_path}/*.parquet", None, None)
    assert parquet_files(f"{tmp_path}/*.parquet", None, False).n_vertices == 9
    for names, remedy in (("xyz", "from_graph"), (range(7, 10), "give n_vertices")):
        hpg.write(hpg.Graph.from_edges(*ends, names=list(names)), tmp_path / "named.parquet")
        with pytest.raises(ValueError, match=rf"named\.parquet have names.*{remedy}"):
            parquet_files(tmp_path / "named.parquet", None, None)
    assert parquet_files(tmp_path / "named.parquet", 10, None).n_vertices == 10


def test_a_data_frame_is_known_by_its_columns() -> None:
    from hpgraph.cluster.tables import arrays_of

    class Frame(dict):
        columns = ("weight", "Source", "target")

    column = {name: types.SimpleNamespace(to_numpy=lambda k=k: np.array([k, k + 1])) for k, name in
              enumerate(Frame.columns)}  # fmt: skip
    source, target, weight = arrays_of(Frame(column))
    assert (source.tolist(), target.tolist(), weight.tolist()) == ([1, 2], [2, 3], [0, 1])
    raises(ValueError, "whole numbers", arrays_of, [np.array([0.5]), np.array([1])])
    raises(IndexError, "negative", arrays_of, [np.array([-1]), np.array([1])])


def test_what_no_source_can_give(client, tmp_path) -> None:
    raises(FileNotFoundError, "no Parquet file", hpg.cluster.Graph.from_parquet, client, f"{tmp_path}/*.parquet")
    import dask.array as da

    ids = da.from_array(np.arange(10), chunks=5)
    raises(IndexError, "n_vertices=10", hpg.cluster.Graph.from_edges, client, ids, ids, n_vertices=7)
    with pytest.raises(ValueError, match="chunks"):
        hpg.cluster.Graph.from_edges(client, ids, ids.rechunk(2))
