"""Arcs from Parquet files, from Dask arrays, from a data frame and from an .hpg file: the same graph."""

from __future__ import annotations

import types

import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.cluster.tables import parquet_files
from tests.cluster.conftest import sparse_graph

pyarrow = pytest.importorskip("pyarrow")


def edges_on(client, C) -> list[tuple[int, int, float]]:
    """The arcs that lie in the blocks, wherever these are, as vertices of the graph."""

    def arcs(key):
        from hpgraph.cluster import worker

        found = []
        for (name, _), block in worker._blocks.items():
            if name == key:
                csr, vertices = block.graph.out_csr, block.vertices
                found.append((vertices[csr.expand_rows()], vertices[csr.indices], csr.data))
        return found

    parts = [part for some in client.run(arcs, C.key).values() for part in some]
    source, target, weight = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return sorted(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))


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
        make.from_parquet(client, f"{tmp_path}/*.parquet", n_vertices=n, blocks=4),
        make.from_edges(client, *dask, n_vertices=n, blocks=4),
        make.from_edges(client, *columns, n_vertices=n, shape=(1, 3)),
        make.open(client, tmp_path / "graph.hpg", blocks=4),
        make.from_graph(client, graph, blocks=3, order="scattered"),
    ):
        with C:
            assert edges_on(client, C) == wanted
            assert (C.n_vertices, C.n_edges, C.least_weight()) == (n, len(wanted), weight.min())
            predicted = C.memory()
            assert set(predicted) == set(C.placed.values()) and min(predicted.values()) > 8 * len(wanted) / 4
    with make.from_parquet(client, f"{tmp_path}/*.parquet", directed=False, blocks=2) as C:
        both = {(u, v) for u, v, _ in wanted} | {(v, u) for u, v, _ in wanted}
        assert {(u, v) for u, v, _ in edges_on(client, C)} == both


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
    with pytest.raises(ValueError, match="whole numbers"):
        arrays_of([np.array([0.5]), np.array([1])])
    with pytest.raises(IndexError, match="negative"):
        arrays_of([np.array([-1]), np.array([1])])


def test_what_no_source_can_give(client, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        hpg.cluster.Graph.from_parquet(client, f"{tmp_path}/*.parquet")
    import dask.array as da

    ids = da.from_array(np.arange(10), chunks=5)
    with pytest.raises(IndexError, match="n_vertices=10"):
        hpg.cluster.Graph.from_edges(client, ids, ids, n_vertices=7)
    with pytest.raises(ValueError, match="chunks"):
        hpg.cluster.Graph.from_edges(client, ids, ids.rechunk(2))
