"""Graphs made of a graph and edges, and of two graphs, beside NetworkX."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from graph_examples import every_kind, example, same

import hpgraph as hpg
from hpgraph.core.device import to_device


def pair(directed: bool, weighted: bool, named: bool) -> tuple[nx.Graph, nx.Graph]:
    """Two graphs that share vertices and edges, of which each has some of its own; vertices in another order."""
    N, other = example(directed, weighted, named), example(directed, weighted, named, n=45, seed=2)
    M = other.__class__()
    M.add_nodes_from([*sorted(other)[::-1], "one more"] if named else range(45))
    M.add_edges_from([*other.edges(data=True), *list(N.edges(data=True))[::3]])
    return N, M


def lighter(N: nx.Graph, M: nx.Graph, edges: Any, nodes: Any) -> nx.Graph:
    made = N.__class__()
    made.add_nodes_from(nodes)
    for u, v in edges:
        weights = [graph.edges[u, v].get("weight") for graph in (N, M) if graph.has_edge(u, v)]
        made.add_edge(u, v, **({} if weights[0] is None else {"weight": min(weights)}))
    return made


@every_kind
def test_two_graphs(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N, M = pair(directed, weighted, named)
    G, H = hpg.from_networkx(N).to(device), hpg.from_networkx(M).to(device)
    same(G | H, lighter(N, M, [*N.edges, *M.edges], [*N, *M]))
    common = [edge for edge in N.edges if M.has_edge(*edge)]
    same(G & H, lighter(N, M, common, [v for v in N if v in M]))
    rest = N.copy()
    rest.remove_edges_from(list(M.edges))
    same(G - H, rest)
    same(H - G, nx.restricted_view(M, [], common))
    same(G | G, N)
    same(G & G, N)
    assert (G - G).n_edges == 0
    if weighted:
        same(G.union(H, weight="second"), nx.compose(N, M))
        same(H.union(G, weight="first"), nx.compose(N, M))


@every_kind
def test_columns_of_two_graphs(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N, M = pair(directed, weighted, named)
    for graph, titles in ((N, ("year", "ours")), (M, ("year", "theirs"))):
        for k, edge in enumerate(graph.edges):
            graph.edges[edge].update({title: k + 100 * len(title) for title in titles})
        for k, v in enumerate(graph):
            graph.nodes[v].update({"age": k + len(titles[1]), titles[1]: f"v{k % 7}"})
    G, H = (hpg.from_networkx(X, columns=True, vertex_columns=True).to(device) for X in (N, M))
    for made, edges, nodes in (
        (G | H, [*N.edges, *M.edges], [*N, *M]),
        (G & H, [e for e in N.edges if M.has_edge(*e)], [v for v in N if v in M]),
    ):
        X = hpg.to_networkx(made)
        for title in ("year", "ours", "theirs"):
            for edge in edges:
                held = (Y.edges[edge][title] for Y in (N, M) if Y.has_edge(*edge) and title in Y.edges[edge])
                want = next(held, None)
                got = X.edges[edge].get(title)
                assert got == want or (want is None and got != got), (title, edge)
        for title in ("age", "ours", "theirs"):
            for v in nodes:
                want = next((Y.nodes[v][title] for Y in (N, M) if v in Y and title in Y.nodes[v]), None)
                assert X.nodes[v].get(title) == want
    assert (G & H).edge_column("ours").dtype == np.int64
    kept = hpg.Graph.from_edges([0], [1], columns={"a": [1]}) | hpg.Graph.from_edges([1], [2])
    assert kept.edge_column("a")[0] == 1 and np.isnan(kept.edge_column("a")[1])
    with pytest.raises(TypeError, match="'a' holds numbers in the graph, and text here"):
        kept.union(hpg.Graph.from_edges([2], [0], columns={"a": ["x"]})).edge_column("a")


def test_parts_put_together_again(device: str) -> None:
    """Parts of a graph without names are named by its indices, so that they meet."""
    N = example(directed=False, weighted=True, named=False)
    G = hpg.from_networkx(N).to(device)
    low, high = range(25), range(15, 40)
    same(G.subgraph(low) | G.subgraph(high), nx.compose(N.subgraph(low), N.subgraph(high)))
    same(G.subgraph(low) & G.subgraph(high), N.subgraph(range(15, 25)))


def test_directed_and_undirected(device: str) -> None:
    arrow = hpg.Graph.from_edges([0, 1], [1, 2]).to(device)
    edge = hpg.Graph.from_edges([0], [1], directed=False, n_vertices=3).to(device)
    ends = [[to_device(part, "cpu").tolist() for part in G.edges(both_ways=True)[:2]]
            for G in (arrow | edge, arrow & edge, arrow - edge, edge - arrow)]  # fmt: skip
    assert ends == [[[0, 1, 1], [1, 0, 2]], [[0], [1]], [[1], [2]], [[], []]]
    assert (arrow | edge).directed and not (edge - arrow).directed


@every_kind
def test_edges_more_and_fewer(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    nodes = list(N)
    new = ["new", "newer"] if named else [41, 43]
    source, target = [nodes[0], nodes[5], new[0], nodes[39]], [nodes[38], nodes[6], nodes[7], new[1]]
    source += [list(N.edges)[4][0]]
    target += [list(N.edges)[4][1]]
    weight = [2.0, 3.0, 4.0, 5.0, 100.0] if weighted else None
    M = N.copy()
    M.add_nodes_from(range(40, 44) if not named else [])
    M.add_edges_from((u, v, {"weight": weight[i]} if weight else {})
                     for i, (u, v) in enumerate(zip(source, target, strict=True)))  # fmt: skip
    more = G.add_edges(source, target, weight, n_vertices=None if named else 44)
    same(more, M)
    pairs = list(zip(source, target, strict=True))
    same(G.add_edges(pairs, weight=weight, n_vertices=None if named else 44), M)
    assert list(more)[:40] == nodes, "vertices stay where they are"
    M.remove_edges_from(list(zip(source[:3], target[:3], strict=True)))
    same(more.remove_edges(source[:3], target[:3]), M)
    same(more.remove_edges(pairs[:3]), M)
    same(more.remove_edges(source[:3] * 2, target[:3] * 2).remove_edges([nodes[1]], [nodes[39]]), M)
    same(G.add_edges([], []), N)


def test_an_edge_without_a_weight_weighs_one(device: str) -> None:
    bare, weighted = (hpg.Graph.from_edges([0], [1], w, n_vertices=3).to(device) for w in (None, np.array([5], "f4")))
    assert to_device(bare.add_edges([1], [2], [7.0]).weights, "cpu").tolist() == [1, 7]
    more = weighted.add_edges([1], [2])
    assert to_device(more.weights, "cpu").tolist() == [5, 1] and more.dtype == np.float32
    assert to_device((bare | weighted).weights, "cpu").tolist() == [1]


def test_graphs_of_nothing(device: str) -> None:
    nothing = hpg.Graph.from_edges([], [], n_vertices=0).to(device)
    G = hpg.Graph.from_edges([0], [1]).to(device)
    assert (nothing | G).n_edges == (G | nothing).n_edges == 1
    assert (nothing & G).n_vertices == (G & nothing).n_vertices == 0
    assert (nothing - G).n_vertices == 0 and (G - nothing).n_edges == 1
    assert nothing.add_edges([2], [1], n_vertices=3).n_vertices == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda G: G | hpg.Graph.from_edges([0], [1], names=["a", "b"]), ValueError, "names that are no numbers"),
        (lambda G: hpg.Graph.from_edges([0], [1], names=["a", "b"]) - G, ValueError, "names that are no numbers"),
        (lambda G: G.union([0]), TypeError, "other must be a Graph"),
        (lambda G: G | 3, TypeError, "unsupported operand"),
        (lambda G: G.add_edges([0], [-1]), IndexError, "target holds -1"),
        (lambda G: G.add_edges([8], [0]), IndexError, "source holds 8: with n_vertices=3 .* raise it to 9"),
        (lambda G: G.add_edges([1], [0], n_vertices=2), ValueError, "n_vertices must be at least 3"),
        (lambda G: G.add_edges([(0, 1, 5)]), ValueError, "edges, where no target is given, must be pairs"),
        (
            lambda G: hpg.Graph(G, names=list("abc")).add_edges([("b", "d")], n_vertices=9),
            ValueError,
            "n_vertices is for graphs without names",
        ),
        (lambda G: G.add_edges([0, 0], [1, 1], [1, 2], duplicates="error"), ValueError, "given more than once"),
        (lambda G: G.add_edges([0, 1], [1]), ValueError, "2 and 1"),
        (lambda G: G.add_edges([0], [1], [1, 2]), ValueError, "weight must have one value"),
        (lambda G: G.remove_edges([0.5], [1]), TypeError, "source must"),
    ],
)
def test_unfit_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(hpg.Graph.from_edges([0, 1], [1, 2], directed=False))
