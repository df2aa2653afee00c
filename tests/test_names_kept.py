"""How names are held and looked up, whatever they are; and that files and NetworkX keep them as they are, or refuse."""

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_paths import NAMES, every_kind, path
from raising import raises

import hpgraph as hpg


def test_one_long_name_does_not_lengthen_the_others() -> None:
    names = [f"v{i}" for i in range(5000)]
    names[7] = "x" * 2000
    for given_ in (names, np.array(names), np.array(names, dtype=object)):
        G = hpg.Graph.from_edges([0], [4999], names=given_)
        assert G.names is not None and G.names.dtype.kind == "T" and G.names.nbytes == 16 * 5000
        assert G.names.tolist() == names and G.index_of("x" * 2000) == 7
        part = G.subgraph(["x" * 2000, "v4999"])
        assert sorted(part) == ["v4999", "x" * 2000]
        assert pickle.loads(pickle.dumps(G)).index_of("v4999") == 4999


@pytest.mark.parametrize("suffix", [".hpg", ".npz", ".txt"])
def test_long_names_in_files(suffix: str, tmp_path: Any) -> None:
    names = ["a", "b" * 300, "ü", *(f"v{i}" for i in range(20))]
    G = hpg.Graph.from_edges(np.arange(22), np.arange(1, 23), names=names)
    assert G.names is not None and G.names.dtype.kind == "T"
    G.save(tmp_path / f"names{suffix}")
    again = hpg.read(tmp_path / f"names{suffix}")
    assert again.names is not None and again.names.tolist() == names
    assert hpg.bfs(again, "a").path_to("ü") == ["a", "b" * 300, "ü"]


class Alike(str):
    """Text whose hash many share."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)


def test_names_of_one_hash() -> None:
    names = np.array([Alike(f"name {i:02d}") for i in range(50)] + [(1, 2)], dtype=object)
    G = hpg.Graph.from_edges([0], [50], names=names)
    assert [G.index_of(name) for name in names] == list(range(51))
    assert G.indices_of(list(names[::-1])).tolist() == list(range(51))[::-1]
    with pytest.raises(ValueError, match="no vertex is named 'name 99'"):
        G.indices_of([Alike("name 03"), Alike("name 99")])
    twice = [Alike("name 7"), Alike("name 1"), Alike("name 2"), Alike("name 1")]
    with pytest.raises(ValueError, match="vertices 1 and 3 are both named 'name 1'"):
        hpg.Graph.from_edges([0], [3], names=np.array(twice, dtype=object)).index_of("name 2")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()), unique=True, max_size=30))
def test_lookup_is_that_of_a_dictionary(names: list[Any]) -> None:
    names = [name for name in names if name == name]
    expected = {name: vertex for vertex, name in enumerate(names)}
    if len(expected) < len(names) or names == list(range(len(names))):
        return
    G = hpg.Graph.from_edges([0], [len(names) - 1], names=names)
    assert G.indices_of(names).tolist() == list(range(len(names)))
    assert all(G.index_of(name) == vertex for name, vertex in expected.items())
    assert ("no such", 1) not in G


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
        raises(ValueError, "no vertex is named", hpg.bfs, G, unknown)


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
    raises(ValueError, r"names (that )?are all text or all whole numbers", hpg.io.write, G, tmp_path / f"g{suffix}")
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
