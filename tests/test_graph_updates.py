"""`Graph.update` beside a dict of edges, in every form in which edges come."""

from typing import Any

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device

WEIGHTED = [(0, 1, 2.0), (1, 2, 3.0), (2, 3, 4.0), (3, 3, 5.0)]
LETTERS = list("abcdef")


def edges_of(graph: Any) -> dict[Any, Any]:
    source, target, weight = (None if part is None else to_device(part, "cpu").tolist()
                              for part in graph.edges(both_ways=True))  # fmt: skip
    names = range(graph.n_vertices) if graph.names is None else graph.names.tolist()
    weight = [None] * len(source) if weight is None else weight
    return {(names[u], names[v]): w for u, v, w in zip(source, target, weight, strict=True)}


def expected(graph: Any, insert: Any = (), delete: Any = (), weights: Any = ()) -> dict[Any, Any]:
    edges, ways = edges_of(graph), (1,) if graph.directed else (1, -1)
    for u, v in delete:
        for way in ways:
            edges.pop((u, v)[::way], None)
    for u, v, *weight in [*weights, *insert]:
        for way in ways:
            edges[(u, v)[::way]] = weight[0] if weight else None
    return edges


def columns(rows: Any) -> Any:
    return tuple(map(list, zip(*rows, strict=True)))


FORMS = {
    "rows": lambda rows: rows,
    "columns": columns,
    "arrays": lambda rows: tuple(map(np.array, columns(rows))),
    "table": lambda rows: dict(zip(("source", "target", "weight"), columns(rows), strict=False)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_batch_of_each_kind(form: str, named: bool, directed: bool, device: str) -> None:
    def of(rows: Any) -> Any:
        return [(LETTERS[u], LETTERS[v], *rest) for u, v, *rest in rows] if named else rows

    source, target, weight = columns(WEIGHTED)
    names = {"names": LETTERS[:4]} if named else {}
    G = hpg.Graph.from_edges(source, target, weight, directed=directed, **names).to(device)
    insert, delete, weights = of([(0, 1, 9.0), (4, 5, 7.0), (1, 3, 0.0)]), of([(1, 2), (0, 1)]), of([(2, 3, 8.0)])
    room = {} if named else {"n_vertices": 6}
    as_given = FORMS[form]
    before = edges_of(G)
    H = G.update(as_given(insert), as_given(delete), as_given(weights), **room)
    assert edges_of(H) == expected(G, insert, delete, weights) and H.n_vertices == 6 and H.directed == directed
    assert edges_of(G.update(insert=as_given(insert), **room)) == expected(G, insert)
    assert edges_of(G.update(delete=as_given(delete))) == expected(G, (), delete)
    assert edges_of(G.update(set=as_given(weights))) == expected(G, (), (), weights)
    assert edges_of(G) == before == edges_of(G.update())
    absent = of([(0, 3)])
    passed = G.update(delete=as_given([*absent, *delete]), set=as_given([(*absent[0], 1.0)]), missing="ignore")
    assert edges_of(passed) == expected(G, (), delete)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("named", [False, True])
def test_edges_of_what_is_no_vertex_are_passed_over(form: str, named: bool, device: str) -> None:
    names, unknown = (LETTERS, "z") if named else (list(range(6)), 77)
    source, target, weight = columns([(names[u], names[v], w) for u, v, w in WEIGHTED])
    G = hpg.Graph.from_edges(*(columns(WEIGHTED)[:2]), weight, names=LETTERS[:4] if named else None).to(device)
    as_given, gone = FORMS[form], [(unknown, target[0]), (source[0], target[0]), (source[1], unknown)]
    assert edges_of(G.update(delete=as_given(gone), missing="ignore")) == expected(G, (), gone)
    weights = [(unknown, unknown, 1.0), (source[1], target[1], 8.0), (source[0], unknown, 2.0)]
    assert edges_of(G.update(set=as_given(weights), missing="ignore")) == expected(G, (), (), weights[1:2])
    assert edges_of(G.remove_edges(*columns(gone))) == expected(G, (), gone)
    assert edges_of(G.update(delete=as_given(gone[:1]), missing="ignore")) == edges_of(G)
    with pytest.raises((ValueError, IndexError), match=r"no vertex is named 'z'|it has [01]\.\.77"):
        G.update(delete=as_given(gone))
    with pytest.raises((ValueError, IndexError)):
        G.update(delete=([unknown, names[0], names[1]], [names[0], names[1]]), missing="ignore")


def test_columns_of_edges_passed_over_are_left_out() -> None:
    G = hpg.from_edges([("a", "b"), ("b", "c")], columns={"year": [1, 2], "kind": ["x", "y"]})
    rows = {"source": ["z", "b", "a"], "target": ["a", "c", "z"], "year": [7, 8, 9], "kind": ["p", "q", "r"]}
    H = G.update(set=rows, missing="ignore")
    assert H.edge_column("year").tolist() == [1, 8] and H.edge_column("kind").text().tolist() == ["x", "q"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_few_changes_of_many_arcs(weighted: bool, directed: bool, device: str) -> None:
    rng = np.random.default_rng(directed)
    source, target = rng.integers(2, 398, (2, 12_000))
    source[:3000] = 77
    weight = rng.random(12_000) if weighted else None
    G = hpg.Graph.from_edges(source, target, weight, n_vertices=400, directed=directed, duplicates="min").to(device)
    held = list(edges_of(G))
    for count in (1, 30, 500):
        new = {(0, 1), (399, 398), *map(tuple, rng.integers(0, 400, (count, 2)).tolist())}
        new = [pair for pair in sorted(new) if directed or pair[0] <= pair[1]]
        rows = [(*pair, float(k)) for k, pair in enumerate(new)] if weighted else new
        gone = [held[k] for k in rng.choice(len(held), count, replace=False)]
        assert edges_of(G.update(insert=rows)) == expected(G, rows)
        assert edges_of(G.update(delete=gone)) == expected(G, (), gone)
        H = G.update(insert=rows, delete=gone)
        assert edges_of(H) == expected(G, rows, gone)
        assert H.out_csr.is_canonical()


def test_weights_alone_share_the_topology(device: str) -> None:
    source, target, weight = columns(WEIGHTED)
    G = hpg.Graph.from_edges(source, target, weight).to(device)
    degree, distance = G.out_degree, hpg.sssp(G, 0).distance
    H = G.update(set=[(1, 2, 100.0)])
    assert H.out_csr.indices is G.out_csr.indices and H.out_csr.indptr is G.out_csr.indptr
    assert to_device(H.out_degree, "cpu").tolist() == to_device(degree, "cpu").tolist()
    assert to_device(hpg.sssp(H, 0).distance, "cpu").tolist() == [0, 2, 102, 106]
    assert to_device(distance, "cpu").tolist() == to_device(hpg.sssp(G, 0).distance, "cpu").tolist() == [0, 2, 5, 9]


def test_weights_where_there_were_none(device: str) -> None:
    bare = hpg.Graph.from_edges([0, 1], [1, 2], directed=False).to(device)
    assert edges_of(bare.update(set=[(2, 1, 5)])) == {(0, 1): 1, (1, 0): 1, (1, 2): 5, (2, 1): 5}
    assert edges_of(bare.update(insert=[(0, 2, 2.5)], delete=[(0, 1)])) == expected(
        bare, [(0, 2, 2.5), (1, 2, 1)], [(0, 1)]
    )
    assert edges_of(bare.update(insert=[(0, 2)], delete=[(0, 1)])) == expected(bare, [(0, 2)], [(0, 1)])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"delete": [(0, 2)]}, ValueError, 'delete holds 0 -> 2, which is no edge of the graph: missing="ignore"'),
        ({"delete": [(0, 2)], "insert": [(0, 1)]}, ValueError, "delete holds 0 -> 2"),
        ({"set": [(2, 0, 3.0)]}, ValueError, "set holds 2 -> 0"),
        ({"set": [(0, 1, 3.0)], "delete": [(0, 1)]}, ValueError, "set holds 0 -> 1"),
        ({"set": [(0, 1)]}, ValueError, "set must have weights"),
        ({"set": [(0, 1, 1), (0, 1, 2)], "duplicates": "error"}, ValueError, "given more than once"),
        ({"missing": "skip"}, ValueError, 'missing must be "raise" or "ignore"'),
        ({"insert": [(0, 7)]}, IndexError, "target holds 7"),
        ({"insert": [(0, 1), (0, 1, 2.0)]}, ValueError, "pairs"),
        ({"insert": ([0, 1], [1])}, ValueError, "2 and 1"),
        ({"insert": {"source": [0]}}, ValueError, "a column for each end"),
    ],
)
def test_unfit_batches(given: Any, error: type[Exception], message: str) -> None:
    raises(error, message, hpg.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0]).update, **given)
