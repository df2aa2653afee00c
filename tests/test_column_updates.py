"""Columns through updates, against a dict of edges; and in graphs made of others, against pandas."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from raising import raises

import hpgraph as hpg

VERTICES = "abcdefg"
VALUES = {
    "weight": st.integers(0, 9),
    "year": st.integers(1990, 2025),
    "kind": st.none() | st.sampled_from(["pays", "knows", "owes"]),
}
BATCH = st.dictionaries(
    st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)), st.fixed_dictionaries(VALUES), max_size=6
)
PAIRS = st.sets(st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)), max_size=4)
TITLES = st.sets(st.sampled_from(["year", "kind"]))


def plain(column: Any) -> list[Any]:
    """A column as Python's values; what is missing, NaN too, as None."""
    column = column.text() if isinstance(column, tuple) else column
    return [None if value is None or value != value else value for value in column.tolist()]


class Updates(RuleBasedStateMachine):
    """A graph after updates has the edges, weights, columns and vertices that a dict has."""

    @initialize(directed=st.booleans(), named=st.booleans(), multigraph=st.booleans(), edges=BATCH)
    def begin(self, directed: bool, named: bool, multigraph: bool, edges: dict[Any, Any]) -> None:
        self.directed, self.named, self.multigraph = directed, named, multigraph
        # Parallel edges in the order in which they came.
        self.edges: dict[Any, list[dict[str, Any]]] = {}
        self.vertices = list("ab") if named else list(VERTICES)
        edges = {pair: held for pair, held in self.once(edges).items() if not named or set(pair) <= set("ab")}
        table = self.table(edges, {"year", "kind"})
        n, ends = len(self.vertices), [[VERTICES.index(pair[side]) for pair in edges] for side in (0, 1)]
        ends = [np.array(end, np.int64) for end in ends]
        self.graph = hpg.Graph.from_edges(
            *ends, table["weight"], n, directed, list("ab") if named else None,
            duplicates="keep" if multigraph else None,
            columns={title: self.column(title, table[title]) for title in ("year", "kind")},
            vertex_columns={"age": list(range(n)), "town": ["x"] * n},
        )  # fmt: skip
        self.edges.update({pair: [held] for pair, held in edges.items()})
        self.ages: list[Any] = list(range(n))

    def column(self, title: str, values: Any) -> Any:
        if title == "year":
            return np.array(values, np.int64)
        return pd.Categorical(values, ["knows", "owes", "pays"])

    def once(self, batch: dict[Any, Any]) -> dict[Any, Any]:
        """The edges of a batch, in an undirected graph each one way."""
        return batch if self.directed else {tuple(sorted(pair)): held for pair, held in batch.items()}

    def name(self, vertex: str) -> Any:
        return vertex if self.named else VERTICES.index(vertex)

    def table(self, batch: dict[Any, Any], titles: Any) -> dict[str, Any]:
        held = list(batch.values())
        ends = {which: [self.name(pair[side]) for pair in batch] for side, which in enumerate(("source", "target"))}
        return {**ends, **{title: self.column(title, [one[title] for one in held]) for title in sorted(titles)},
                "weight": np.array([one["weight"] for one in held], np.int64)}  # fmt: skip

    @rule(insert=BATCH, delete=PAIRS, weights=BATCH, titles=TITLES, set_titles=TITLES)
    def update(self, insert: Any, delete: Any, weights: Any, titles: Any, set_titles: Any) -> None:
        insert, weights = self.once(insert), self.once(weights)
        known = set(self.vertices)
        weights = {pair: held for pair, held in weights.items() if set(pair) <= known}
        gone = [pair for pair in delete if set(pair) <= known]
        given: dict[str, Any] = {"missing": "ignore"}
        if insert:
            given["insert"] = self.table(insert, titles)
        if gone:
            given["delete"] = [(self.name(u), self.name(v)) for u, v in gone]
        if weights:
            given["set"] = self.table(weights, set_titles)
            if set_titles and len(weights) % 2:
                del given["set"]["weight"]
        before = self.state()
        old, self.graph = self.graph, self.graph.update(**given)
        assert self.state(old) == before

        for pair in self.once(dict.fromkeys(gone)):
            self.edges.pop(pair, None)
        asked = {*set_titles, *({"weight"} if "weight" in given.get("set", {}) else ())}
        for pair, held in weights.items():
            if not isinstance(self.edges.get(pair), type(None)):
                self.edges[pair] = [{**one, **{title: held[title] for title in asked}} for one in self.edges[pair]]
        missing = {title: None for title in ("year", "kind") if title not in titles}
        for side in (0, 1):
            new = [pair[side] for pair in insert if pair[side] not in self.vertices]
            self.vertices += dict.fromkeys(new)
        for pair, held in insert.items():
            self.edges[pair] = [*(self.edges.get(pair, []) if self.multigraph else []), {**held, **missing}]

    def state(self, graph: Any = None) -> Any:
        graph = self.graph if graph is None else graph
        return [plain(part) for part in (*graph.edges(), *(graph.edge_column(title) for title in ("year", "kind")))]

    @invariant()
    def is_the_dict(self) -> None:
        if not hasattr(self, "graph"):
            return
        G, place = self.graph, self.vertices.index
        assert G.n_vertices == len(self.vertices) and G.directed <= self.directed
        rows = []
        for (u, v), parallel in self.edges.items():
            # Of an undirected graph an edge is listed from the lower index.
            ends = (place(u), place(v)) if G.directed or self.directed else sorted((place(u), place(v)))
            rows += [(*ends, one["weight"], one["year"], one["kind"]) for one in parallel]
        rows.sort(key=lambda row: row[:2])
        found = list(zip(*self.state(), strict=True))
        assert found == rows, (found, rows)
        assert plain(G.vertex_column("age")) == [*self.ages, *[None] * (len(self.vertices) - len(self.ages))]
        assert plain(G.vertex_column("town"))[: len(self.ages)] == ["x"] * len(self.ages)
        if self.named:
            assert G.names.tolist() == self.vertices


TestUpdates = Updates.TestCase
TestUpdates.settings = settings(max_examples=40, stateful_step_count=6, deadline=None)


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    rows = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=20))
    found = pd.DataFrame(rows, columns=["source", "target", "weight"])
    return found.assign(year=np.arange(len(found)), kind=[f"{k % 3}" for k in range(len(found))])


def rows_of(G: hpg.Graph) -> list[Any]:
    columns = [G.edge_column(title) for title in G.edge_columns]
    return list(zip(*(plain(part) for part in (*G.edges(), *columns)), strict=True))


def graph_of(table: pd.DataFrame, **options: Any) -> hpg.Graph:
    return hpg.from_edges(table, names=False, columns=["year", "kind"], n_vertices=5, **options)


@given(table=tables())
@settings(max_examples=40, deadline=None)
def test_both_directions_have_the_columns_of_the_lighter(table: pd.DataFrame) -> None:
    table = table.drop_duplicates(["source", "target"]).sort_values(["source", "target"])
    low = table[["source", "target"]].min(axis=1)
    ordered = table.assign(source=low, target=table.source + table.target - low)
    lighter = ordered.sort_values("weight", kind="stable").drop_duplicates(["source", "target"])
    want = [tuple(row) for row in lighter.sort_values(["source", "target"]).itertuples(index=False)]
    G = graph_of(table, directed=True)
    H = G.undirected
    assert rows_of(H) == want and H.undirected is H and (G.undirected is H)
    assert rows_of(hpg.Graph(G, directed=False, duplicates="min")) == want
    both = H.edge_column("year", both_ways=True)
    assert both.tolist() == both[H.reverse_arcs].tolist()
    later = G.with_columns(edges={"year": G.edge_column("year") + 100}).undirected
    assert rows_of(later) == [(*row[:3], row[3] + 100, row[4]) for row in want]


@pytest.mark.parametrize("weight", ["min", "max", "sum", "count"])
@given(table=tables(), directed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_parallel_edges_become_one(weight: str, table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, directed=directed, duplicates="keep")
    if not directed:
        low = table[["source", "target"]].min(axis=1)
        table = table.assign(source=low, target=table.source + table.target - low)
    H, ends = G.simple(weight), ["source", "target"]
    if weight in ("min", "max"):
        kept = table.sort_values("weight", kind="stable", ascending=weight == "min").drop_duplicates(ends)
        assert rows_of(H) == [tuple(row) for row in kept.sort_values(ends).itertuples(index=False)]
    else:
        assert H.edge_columns == ("year",)
        total = table.groupby(ends)[["weight", "year"]].sum()
        assert H.edge_column("year").tolist() == total.year.tolist()


@given(table=tables(), gone=PAIRS)
@settings(max_examples=20, deadline=None)
def test_differences_keep_columns(table: pd.DataFrame, gone: Any) -> None:
    table = table.drop_duplicates(["source", "target"]).sort_values(["source", "target"])
    pairs = [(VERTICES.index(u), VERTICES.index(v)) for u, v in gone]
    H = hpg.Graph.from_edges(*(np.array([p[side] for p in pairs], np.int64) for side in (0, 1)), n_vertices=7)
    left = [tuple(row) for row in table.itertuples(index=False) if tuple(row)[:2] not in pairs]
    assert rows_of(graph_of(table, directed=True) - H) == left


def test_columns_of_batches_in_each_form() -> None:
    G = hpg.from_edges([("a", "b"), ("b", "c")], columns={"year": [1, 2], "share": [0.5, 0.25]}, directed=True)
    new = {"source": ["c"], "target": ["d"], "year": [7]}
    N = nx.DiGraph()
    N.add_edge("c", "d", year=7)
    for insert in (new, pd.DataFrame(new), N):
        H = G.update(insert=insert)
        assert plain(H.edge_column("year")) == [1, 2, 7] and plain(H.edge_column("share")) == [0.5, 0.25, None]
    assert H.edge_column("year").dtype == np.int64 and H.weights is None
    bare = G.add_edges(["c"], ["d"])
    assert bare.edge_column("year").dtype == np.float64 and plain(bare.edge_column("year")) == [1, 2, None]
    assert plain(bare.remove_edges(["c"], ["d"]).edge_column("year")) == [1, 2]
    S = hpg.Stream(G)
    S.update(insert=new, delete=[("a", "b")])
    assert plain(S.graph.edge_column("year")) == [2, 7] and S.bfs("b").level.tolist() == [-1, 0, 1, 2]
    shared = G.update(set={"source": ["a"], "target": ["b"], "year": [9]})
    assert shared.out_csr.indices is G.out_csr.indices and plain(shared.edge_column("year")) == [9, 2]


def test_an_update_leaves_what_is_iterated_over_alone() -> None:
    S = hpg.Stream(hpg.from_edges([("a", "b"), ("b", "c")], columns={"year": [1, 2]}))
    seen = []
    for vertex in S.graph:
        S.update(insert=[(vertex, f"{vertex}{vertex}")])
        seen.append(vertex)
    for source, target, _ in S.graph.edge_blocks(names=True):
        S.update(delete=list(zip(source, target, strict=True)))
        assert source.tolist() == ["a", "a", "b", "b", "c"] and target.tolist() == ["b", "aa", "c", "bb", "cc"]
    assert seen == ["a", "b", "c"] and len(S.graph) == 6 and S.graph.n_edges == 0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"set": [("a", "b")]}, ValueError, "set must have weights: .* or with columns that the graph has"),
        ({"set": {"source": ["a"], "target": ["b"], "other": ["x"]}}, ValueError, "set must have weights"),
        ({"insert": {"source": ["a"], "target": ["c"], "year": ["x"]}}, TypeError, "'year' holds numbers in the graph"),
        ({"insert": {"source": ["a"], "target": ["c"], "year": [1, 2]}}, ValueError, "'year' must have a value"),
        ({"insert": [("a", "c")]}, ValueError, "insert: 'big' would become float64"),
        ({"set": {"source": ["c"], "target": ["a"], "year": [3]}}, ValueError, "set holds 'c' -> 'a'"),
    ],
)  # fmt: skip
def test_unfit_columns_of_batches(given: Any, error: type[Exception], message: str) -> None:
    G = hpg.from_edges([("a", "b"), ("b", "c")], columns={"year": [1, 2], "big": [2**60 + 1, 0]}, directed=True)
    raises(error, message, G.update, **given)
