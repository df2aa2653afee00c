"""Small NetworkX graphs of every kind, for comparing what ours are asked and made into."""

import itertools

import networkx as nx
import numpy as np
import pytest

import hpgraph as hpg

KINDS = list(itertools.product((False, True), repeat=3))
every_kind = pytest.mark.parametrize(("directed", "weighted", "named"), KINDS)


def example(directed: bool, weighted: bool, named: bool, n: int = 40, seed: int = 1) -> nx.Graph:
    """Random, with loops, some vertices alone; names are texts, in no order."""
    rng = np.random.default_rng(seed)
    made = nx.DiGraph() if directed else nx.Graph()
    nodes = [f"v{i}" for i in rng.permutation(n)] if named else list(range(n))
    made.add_nodes_from(nodes)
    for u, v in rng.integers(0, n - 3, (4 * n, 2)).tolist():
        made.add_edge(nodes[u], nodes[v], **({"weight": float(rng.integers(1, 9))} if weighted else {}))
    return made


def without_loops(graph: nx.Graph) -> nx.Graph:
    """A copy without self-loops."""
    graph = graph.copy()
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def same(G: hpg.Graph, expected: nx.Graph) -> None:
    """The same vertices by name, the same edges, the same weights, and directed or not alike."""
    found = hpg.to_networkx(G)
    assert G.directed == expected.is_directed() or not expected.edges
    assert set(found) == set(expected) and len(G) == len(expected)
    ours, theirs = (nx.DiGraph(graph).edges(data=True) for graph in (found, expected))
    assert {(u, v): attributes for u, v, attributes in ours} == {(u, v): attributes for u, v, attributes in theirs}
    assert G.out_csr.is_canonical() and (G.directed or G.out_csr.is_symmetric())
