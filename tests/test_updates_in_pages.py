"""Batches of changes of graphs in pages, in memory and in files, and on several devices, against a dict of edges."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import listed
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from raising import raises

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.core.device import to_device
from hpgraph.core.errors import DamagedPageError
from hpgraph.io.hpg_writer import write_hpg

N = 24


def edges_of(graph: Any) -> dict[Any, Any]:
    whole = graph.in_memory() if graph.in_pages else graph
    source, target, weight = map(listed, whole.edges(both_ways=True))
    return dict(zip(zip(source, target, strict=True), weight or [1] * len(source), strict=True))


def filed(graph: Any, folder: Path, compression: str = "gaps", **options: Any) -> Any:
    """The graph in a file, in pages of some arcs."""
    write_hpg(graph, folder / "graph.hpg", compression=compression, arcs_per_page=32)
    return hpg.open(folder / "graph.hpg", **options)


def cut(graph: Any, place: str, folder: Path, device: str = "cpu") -> Any:
    if place == "divided":
        return divide(graph.to(device), [device] * 2, scatter=bool(graph.n_edges % 2))
    if place.startswith("file"):
        return filed(graph, folder, place.removeprefix("file "), device=device)
    return hpg.StreamedGraph.of(graph, arcs_per_page=32, encoding=place, device=device)


PLACES = ["none", "gaps", "file none", "file gaps", "divided"]
ENDS = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1))


class Changes(RuleBasedStateMachine):
    """One graph in every place beside a dict: few changes are merged as pages are read, many written anew."""

    folder: Any

    @initialize(directed=st.booleans(), weighted=st.booleans(), seed=st.integers(0, 99), few=st.booleans())
    def begin(self, directed: bool, weighted: bool, seed: int, few: bool) -> None:
        rng = np.random.default_rng(seed)
        source, target = rng.integers(0, N, (2, 40 if few else 400))
        weight = rng.integers(1, 9, len(source)).astype(float) if weighted else None
        G = hpg.Graph.from_edges(source, target, weight, N, directed, duplicates="first")
        self.folder = tempfile.TemporaryDirectory()
        self.directed, self.edges = directed, edges_of(G)
        self.graphs = []
        for place in PLACES:
            folder = Path(self.folder.name) / place
            folder.mkdir()
            self.graphs.append(cut(G, place, folder))

    def ways(self, edge: Any) -> list[Any]:
        return [edge] if self.directed else [edge, edge[::-1]]

    @rule(
        insert=st.dictionaries(ENDS, st.integers(1, 9), max_size=4), delete=st.lists(ENDS, max_size=4),
        weights=st.dictionaries(ENDS, st.integers(1, 9), max_size=3),
    )  # fmt: skip
    def change(self, insert: dict[Any, int], delete: list[Any], weights: dict[Any, int]) -> None:
        if not self.directed:
            insert, weights = ({tuple(sorted(edge)): w for edge, w in given.items()} for given in (insert, weights))
        weighted = bool(self.graphs[0].weighted)
        rows = {"delete": delete, "missing": "ignore"}
        if insert:
            rows["insert"] = [(*edge, float(w)) if weighted else edge for edge, w in insert.items()]
        if weights and weighted:
            rows["set"] = [(*edge, float(w)) for edge, w in weights.items()]
        self.graphs = [graph.update(**rows) for graph in self.graphs]
        for edge in delete:
            for way in self.ways(edge):
                self.edges.pop(way, None)
        changed = weights if weighted else {}
        for edge, w in [*changed.items(), *insert.items()]:
            for way in self.ways(edge):
                if way in self.edges or edge in insert:
                    self.edges[way] = w if weighted else 1

    @rule()
    def save(self) -> None:
        folder = Path(self.folder.name) / "file gaps"
        self.graphs[3].save(folder / "graph.hpg")
        assert os.listdir(folder) == ["graph.hpg"]
        self.graphs[3] = hpg.open(folder / "graph.hpg")

    @invariant()
    def same(self) -> None:
        for graph in self.graphs:
            assert edges_of(graph) == self.edges
            assert listed(graph.out_degree) == [sum(u == v for u, _ in self.edges) for v in range(N)]
            assert listed(graph.in_degree) == [sum(u == v for _, u in self.edges) for v in range(N)]

    def teardown(self) -> None:
        self.folder.cleanup()


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=15, stateful_step_count=8, deadline=None)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("directed", [False, True])
def test_algorithms_see_the_changes(place: str, directed: bool, tmp_path: Path, device: str) -> None:
    rng = np.random.default_rng(3)
    G = hpg.Graph.from_edges(*rng.integers(0, 200, (2, 2000)), rng.random(2000), 200, directed)
    H = cut(G, place, tmp_path, device)
    for count in (30, 30, 500):
        source, target, _ = G.edges()
        gone = rng.choice(len(source), count // 2, replace=False)
        some = {
            "insert": (*rng.integers(0, 205, (2, count)), rng.random(count)), "delete": (source[gone], target[gone]),
            "n_vertices": 205,
        }  # fmt: skip
        G, H = G.update(**some), H.update(**some)
        assert type(H) is type(cut(G, place, tmp_path, device)) and H.n_edges == G.n_edges and len(H) == 205
        np.testing.assert_array_equal(to_device(hpg.bfs(H, 0).level, "cpu"), hpg.bfs(G, 0).level)
        np.testing.assert_allclose(to_device(hpg.sssp(H, 0).distance, "cpu"), hpg.sssp(G, 0).distance)
        np.testing.assert_allclose(to_device(hpg.pagerank(H).rank, "cpu"), hpg.pagerank(G).rank, atol=1e-6)
        assert listed(hpg.connected_components(H).label) == listed(hpg.connected_components(G).label)
        assert H.has_edge(0, listed(H.successors(0))[0]) and listed(H.successors(7)) == listed(G.successors(7))
        if not directed:
            assert hpg.triangle_count(H) == hpg.triangle_count(G)


@pytest.mark.parametrize("place", PLACES)
def test_names_come_as_they_are_and_missing_edges_are_named(place: str, tmp_path: Path) -> None:
    G = cut(hpg.from_edges([("ann", "bob"), ("bob", "cyd")]), place, tmp_path)
    H = G.update(insert=[("eve", "dan"), ("cyd", "eve")], delete=[("ann", "bob")])
    assert H.names.tolist() == ["ann", "bob", "cyd", "eve", "dan"] and G.names.tolist() == ["ann", "bob", "cyd"]
    assert edges_of(H) == {(1, 2): 1, (2, 3): 1, (3, 4): 1} and edges_of(G) == {(0, 1): 1, (1, 2): 1}
    assert hpg.bfs(H, "bob").path_to("dan") == ["bob", "cyd", "eve", "dan"]
    for given, message in (
        ({"delete": [("bob", "ann")]}, "delete holds 'bob' -> 'ann'"),
        ({"set": [("cyd", "ann", 1)]}, "set holds 'cyd'"),
        ({"delete": [("ann", "bob")], "set": [("ann", "bob", 1)]}, "set holds 'ann' -> 'bob'"),
    ):
        raises(ValueError, message, G.update, **given)
    weighted = G.update(set=[("ann", "bob", 2.5)])
    assert edges_of(weighted) == {(0, 1): 2.5, (1, 2): 1} and weighted.dtype == np.float64
    assert edges_of(G.add_edges(["ann"], ["cyd"]).remove_edges(["ann", "cyd"], ["bob", "ann"])) == {
        (0, 2): 1, (1, 2): 1
    }  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_empty_graphs_grow_and_graphs_become_empty(place: str, tmp_path: Path) -> None:
    G = cut(hpg.Graph.from_edges([], [], n_vertices=3), place, tmp_path)
    H = G.update(insert=[(0, 1), (2, 0)])
    assert edges_of(H) == {(0, 1): 1, (2, 0): 1} and edges_of(G.update()) == {}
    empty = H.update(delete=[(0, 1), (2, 0)])
    assert edges_of(empty) == {} and listed(hpg.bfs(empty, 0).level) == [0, -1, -1]
    assert edges_of(empty.update(insert=[(1, 1)], n_vertices=9)) == {(1, 1): 1}


def test_the_file_stays_as_it_is_and_scratch_files_go(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    G = filed(hpg.Graph.from_edges(*rng.integers(0, 99, (2, 900)), rng.random(900)), tmp_path)
    before = (tmp_path / "graph.hpg").read_bytes()
    for count in (3, 300):
        H = G.update(insert=(*rng.integers(0, 99, (2, count)), rng.random(count)))
        assert H.n_edges > G.n_edges and hpg.pagerank(H).converged
        (tmp_path / "other").mkdir(exist_ok=True)
        H.save(tmp_path / "other" / "copy.hpg", compression="none")
        assert edges_of(hpg.read(tmp_path / "other" / "copy.hpg")) == edges_of(H)
        assert (tmp_path / "graph.hpg").read_bytes() == before
        assert sorted(os.listdir(tmp_path)) == ["graph.hpg", "other"]
    raises(hpg.StreamingError, "needs the whole topology in memory", G.save, tmp_path / "graph.npz")


def test_a_full_disk_is_named_and_the_graph_stays(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    rng = np.random.default_rng(3)
    G = filed(hpg.Graph.from_edges(*rng.integers(0, 99, (2, 900)), rng.random(900)), tmp_path)
    before = edges_of(G)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that a write fails with EFBIG as it would with ENOSPC.
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            for _ in range(9):
                G = G.update(insert=(*rng.integers(0, 99, (2, 300)), rng.random(300)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert raised.value.filename == str(tmp_path)
    assert edges_of(hpg.open(tmp_path / "graph.hpg")) == before and os.listdir(tmp_path) == ["graph.hpg"]


def test_damage_of_a_page_is_found_as_changes_are_merged(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    G = filed(hpg.Graph.from_edges(*rng.integers(0, 99, (2, 900))), tmp_path)
    H = G.update(insert=[(0, 98), (98, 0)])
    at = int(G.pages(False).stored.at) + 8
    with (tmp_path / "graph.hpg").open("r+b") as file:
        file.seek(at)
        file.write(b"\xff\x13")
    raises(DamagedPageError, r"graph\.hpg, out-arcs, page 0", H.in_memory)
