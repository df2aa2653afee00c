"""The programs of docs/edge-vertex-programs.md: the page runs as it stands, and they do what they are said to do."""

import contextlib
import math
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from reference_algorithms import random_digraph

import hpgraph as hpg
from hpgraph.core.device import to_device

PAGE = Path(__file__).parents[2] / "docs" / "edge-vertex-programs.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def page():
    """The names of the page, after all of it has run."""
    names = {"__name__": "page"}
    with contextlib.redirect_stdout(None):
        for block in BLOCKS:
            exec(compile(block, str(PAGE), "exec"), names)
    assert len(BLOCKS) == 5
    return names


@pytest.fixture(scope="module")
def network():
    sparse = random_digraph(400, 700, seed=5)
    return sparse.maximum(sparse.T).tocsr()


def test_components(page, network, device):
    label = to_device(hpg.run(page["Components"], hpg.Graph(network).to(device)).label, "cpu")
    count, expected = scipy.sparse.csgraph.connected_components(network)
    assert count > 1 and len(set(zip(label.tolist(), expected.tolist(), strict=True))) == count
    assert (label == [np.flatnonzero(expected == one)[0] for one in expected]).all()


def test_pagerank_by_changes(page, device):
    ring = nx.connected_watts_strogatz_graph(150, 4, 0.3, seed=2)
    G = hpg.from_networkx(ring).to(device)
    first = np.full(len(G), 0.15 / len(G))
    share = 1 / to_device(G.out_degree, "cpu")[to_device(G.edges(both_ways=True).source, "cpu")]
    r = hpg.run(page["Changes"], G, rank=first, fresh=first, share=share)
    expected = nx.pagerank(ring, tol=1e-12, max_iter=1000)
    assert np.allclose(to_device(r.rank, "cpu"), [expected[v] for v in range(len(G))], rtol=1e-7, atol=0)
    assert (r.trace.active[-5:] < len(G)).any(), "some had halted before the end"


def test_beliefs_of_a_tree(page, device):
    """Exact on trees: against the sum over all states."""
    tree = nx.random_labeled_tree(9, seed=4)
    random, alike = np.random.default_rng(0), 0.7
    own = random.normal(size=9)
    G = hpg.from_networkx(tree).to(device)
    r = hpg.run(page["Beliefs"], G, own=own, odds=own, alike=alike)
    total = np.zeros((9, 2))
    for states in np.ndindex(*[2] * 9):
        score = math.exp(
            sum(own[v] for v in range(9) if not states[v]) + alike * sum(states[u] == states[v] for u, v in tree.edges)
        )
        total[np.arange(9), states] += score
    assert np.allclose(to_device(r.odds, "cpu"), np.log(total[:, 0] / total[:, 1]))


def test_matching(page, network, device):
    G = hpg.Graph(network).to(device)
    edge = np.minimum(np.arange(G.n_edges), to_device(G.reverse_arcs, "cpu"))
    rank = np.random.default_rng(3).permutation(G.n_edges)[edge]
    mate = to_device(hpg.run(page["Matching"], G, rank=rank).mate, "cpu")
    ends = to_device(G.edges(both_ways=True).source, "cpu"), to_device(G.edges(both_ways=True).target, "cpu")
    # What the greedy choice by rank gives: no other matching has each edge's better ones.
    expected = np.full(len(G), -1)
    for e in np.argsort(-rank, kind="stable"):
        u, v = ends[0][e], ends[1][e]
        if u != v and expected[u] < 0 and expected[v] < 0:
            expected[u], expected[v] = v, u
    assert (mate == expected).all()


def test_flow(page, device):
    capacity = random_digraph(40, 300, seed=7)
    capacity.setdiag(0)
    capacity.eliminate_zeros()
    capacity.data = np.random.default_rng(2).integers(1, 20, capacity.nnz).astype(np.int32)
    G = hpg.Graph(capacity, directed=True).undirected
    ends = G.edges(both_ways=True)
    s, t = np.argsort(np.diff(capacity.indptr))[-2:]
    carried = capacity.toarray()[ends.source, ends.target].astype(np.int64)
    full = np.where(ends.source == s, carried, 0)
    # As `flow_between` of the page, of which the arrays are NumPy's whatever the graph's device.
    r = hpg.run(
        hpg.Phases([page["Lift"], page["Push"]]), G.to(device), source=s, sink=t, capacity=carried, flow=full,
        excess=np.bincount(ends.target, full, 40).astype(np.int64), height=np.where(np.arange(40) == s, 40, 0),
    )  # fmt: skip
    flow, excess = to_device(r.flow, "cpu"), to_device(r.excess, "cpu")
    expected = scipy.sparse.csgraph.maximum_flow(capacity.tocsr(), s, t).flow_value
    assert expected > 0 and excess[t] == expected
    net = flow - flow[G.reverse_arcs]
    assert (net <= carried).all(), "no arc carries more than it can"
    others = np.setdiff1d(np.arange(40), [s, t])
    assert (excess[others] == 0).all() and (np.bincount(ends.source, net, 40)[others] == 0).all(), "what comes goes on"
