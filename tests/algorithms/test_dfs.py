"""Depth-first search, against a recursive one, and by the intervals between meeting and leaving a vertex."""

import networkx as nx
import numpy as np
import pytest
from graph_examples import example
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device


def searched(neighbors, starts):
    """Order, postorder and parents of a search that calls itself."""
    order, left, parent = [], [], {}

    def visit(v, above):
        parent[v] = above
        order.append(v)
        for u in sorted(neighbors(v)):
            if u not in parent:
                visit(u, v)
        left.append(v)

    for v in starts:
        if v not in parent:
            visit(v, v)
    return order, left, parent


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("p", [0.0, 0.02, 0.05, 0.3])
def test_as_recursive(directed, p, device):
    for n, seed in ((1, 0), (40, 1), (90, 2)):
        g = nx.gnp_random_graph(n, p, seed=seed, directed=directed)
        g.add_edge(0, 0)
        G = hpg.from_networkx(g).to(device)
        for source, starts in ((None, range(n)), (n // 2, [n // 2])):
            found = [to_device(part, "cpu") for part in hpg.dfs(G, source)]
            order, left, parent = searched(g.neighbors, starts)
            assert found[0].tolist() == order and found[1].tolist() == left
            assert found[2].tolist() == [parent.get(v, -1) for v in range(n)]


def test_intervals():
    """No arc leads from a vertex that is left to one that is met later; nor does a long path overflow a stack."""
    G = hpg.datasets.kron(9)
    order, left, parent = hpg.dfs(G)
    met, gone = np.empty((2, G.n_vertices), np.int64)
    met[order], gone[left] = np.arange(len(order)), np.arange(len(left))
    u, v, _ = G.edges(both_ways=True)
    assert not ((met[u] < met[v]) & (gone[u] < gone[v])).any()
    inner = parent != np.arange(len(parent))
    assert (met[parent[inner]] < met[inner]).all() and (gone[parent[inner]] > gone[inner]).all()
    line = hpg.dfs((np.arange(10**5), np.arange(10**5) + 1), 0)
    assert (line.order == np.arange(10**5 + 1)).all() and (line.postorder == line.order[::-1]).all()


def test_names_and_arguments():
    g = example(True, False, True)
    source = list(g)[3]
    G = hpg.from_networkx(g)
    found = hpg.dfs(G, source)
    assert {G.names[v] for v in found.order} == {source} | nx.descendants(g, source)
    assert G.names[found.parent[source]] == source
    for call, error in ((lambda: hpg.dfs(([0], [1]), 2), IndexError), (lambda: hpg.dfs(([0], [1]), 0.5), TypeError)):
        raises(error, "source", call)
