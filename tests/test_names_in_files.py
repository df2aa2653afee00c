"""Names of vertices go through files, and to NetworkX and back, as they are or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from named_paths import NAMES, every_kind, path

import hpgraph as hpg


def test_a_file_of_sparse_ids(tmp_path: Path) -> None:
    file = tmp_path / "sparse.txt"
    file.write_text("1001 7 2\n7 500000000 3\n500000000 12 4\n")
    G = hpg.read(file)
    assert repr(G) == "Graph: 4 vertices, 3 arcs, directed, int64 weights, cpu, named 7, 12, 1001, ..."
    digraph = nx.read_weighted_edgelist(file, create_using=nx.DiGraph, nodetype=int)
    for start in digraph:
        level, distance = hpg.bfs(G, start).level, hpg.sssp(G, start).distance
        steps = nx.single_source_shortest_path_length(digraph, start)
        far = nx.single_source_dijkstra_path_length(digraph, start)
        for name in digraph:
            assert level[G.index_of(name)] == steps.get(name, -1)
            assert distance[G.index_of(name)] == far.get(name, np.inf)
    for unknown in (0, 1, 4):
        with pytest.raises(ValueError, match="no vertex is named"):
            hpg.bfs(G, unknown)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".el", ".tsv.gz"])
@pytest.mark.parametrize(
    "names",
    [[2, 1, 0], [1001, 7, -3], ["1", "0", "2"], ["a", "b", "c"], np.array([9, 4, 1], np.uint64)],
    ids=["shuffled", "negative", "digits", "text", "uint64"],
)
def test_files_keep_names_and_their_types(tmp_path: Path, suffix: str, names: Any) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=names)
    hpg.io.write(G, tmp_path / f"g{suffix}")
    again = hpg.read(tmp_path / f"g{suffix}")
    for start in list(names):
        there, here = hpg.bfs(again, start).level, hpg.bfs(G, start).level
        for name in list(names):
            assert there[again.index_of(name)] == here[G.index_of(name)]


@pytest.mark.parametrize("suffix", [".npz", ".el", ".parquet"])
@pytest.mark.parametrize("names", [[1.5, -2.0, 0.25], np.array([3, 1, 2], "datetime64[D]")], ids=["floats", "dates"])
def test_floats_and_dates_are_refused_but_by_hpg(tmp_path: Path, suffix: str, names: Any) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=names)
    with pytest.raises(ValueError, match=r"names (that )?are all text or all whole numbers"):
        hpg.io.write(G, tmp_path / f"g{suffix}")
    assert not (tmp_path / f"g{suffix}").exists()
    hpg.io.write(G, tmp_path / "g.hpg")
    again = hpg.read(tmp_path / "g.hpg")
    assert again.names is not None and again.names.dtype == G.names.dtype and (again.names == G.names).all()


@pytest.mark.parametrize("suffix", [".npz", ".el", ".csv"])
@pytest.mark.parametrize("kind", ["mixed", "tuples", "bytes", "beyond 64 bits"])
def test_names_a_file_would_change_are_refused(tmp_path: Path, suffix: str, kind: str) -> None:
    with pytest.raises(ValueError, match="holds names that are all text or all whole numbers"):
        hpg.io.write(path(NAMES[kind]), tmp_path / f"g{suffix}")
    assert not (tmp_path / f"g{suffix}").exists()


@every_kind
def test_networkx_round_trip(names: list[Any]) -> None:
    digraph = nx.DiGraph()
    digraph.add_nodes_from(names)
    digraph.add_weighted_edges_from([(names[1], names[0], 2), (names[3], names[1], 5)])
    G = hpg.from_networkx(digraph)
    again = hpg.to_networkx(G)
    assert list(again) == names and list(map(type, again)) == list(map(type, names))
    assert nx.utils.graphs_equal(again, digraph)
    steps = nx.single_source_shortest_path_length(digraph, names[3])
    assert dict(zip(names, hpg.bfs(G, names[3]).level.tolist(), strict=True)) == {
        name: steps.get(name, -1) for name in names
    }


def test_dates_go_to_networkx_as_they_are() -> None:
    days = np.array(["2026-01-03", "2026-01-01"], "datetime64[ns]")
    assert list(hpg.to_networkx(hpg.Graph.from_edges([0], [1], names=days))) == list(days)
