"""Flows of least cost, against NetworkX's network simplex and linear programs."""

import networkx as nx
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def drawn(seed, multigraph=False, least=-3):
    """A directed graph with costs, bounds of all or most arcs, and demands that sum to 0."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(1, 40))
    g = (nx.MultiDiGraph if multigraph else nx.DiGraph)()
    g.add_nodes_from(range(n), demand=0)
    for u, v in rng.integers(0, n, (m, 2)).tolist():
        bound = {"capacity": int(rng.integers(0, 9))} if rng.random() < 0.9 else {}
        g.add_edge(u, v, weight=int(rng.integers(least, 9)), **bound)
    for u, v, amount in rng.integers(0, (n, n, 4), (3, 3)).tolist():
        g.nodes[u]["demand"] -= amount
        g.nodes[v]["demand"] += amount
    return g


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([-3, 0]))
def test_costs_are_networkxs(seed, multigraph, least):
    g = drawn(seed, multigraph, least)
    error = None
    try:
        wanted, _ = nx.network_simplex(g)
    except nx.NetworkXUnfeasible:
        error = "no flow meets the demands"
    except nx.NetworkXUnbounded:
        error = "G has a cycle of negative cost"
    capacity = "capacity" if any("capacity" in data for *_, data in g.edges(data=True)) else None
    if error is not None:
        raises(ValueError, error, hpg.min_cost_flow, g, capacity=capacity)
        return
    found = hpg.min_cost_flow(g, capacity=capacity)
    n, demand = len(g), [g.nodes[v]["demand"] for v in g]
    assert found.cost == wanted and isinstance(found.cost, int) and found.flow.dtype == np.int64
    assert (found.flow >= 0).all()
    assert (np.bincount(found.target, found.flow, n) - np.bincount(found.source, found.flow, n)).tolist() == demand


@pytest.mark.parametrize("seed", range(20))
def test_most_flow_at_least_cost(seed, device):
    g = drawn(seed, least=0)
    for *_, data in g.edges(data=True):
        data.setdefault("capacity", 20)
    nx.set_node_attributes(g, 0, "demand")
    wanted = nx.max_flow_min_cost(g, 0, 1)
    G = hpg.from_networkx(g, columns=["capacity"]).to(device)
    found = hpg.max_flow_min_cost(G, 0, 1, capacity="capacity")
    assert found.cost == nx.cost_of_flow(g, wanted) and device_of(found.flow) == device
    # By floats, as a linear program.
    bound, cost = (to_device(part, "cpu") * 0.1 for part in (G.edge_column("capacity"), G.weights))
    source, target = G.out_csr.to("cpu").expand_rows(), to_device(G.out_csr.indices, "cpu")
    F = hpg.Graph((source, target, cost), directed=True).to(device)
    found = hpg.max_flow_min_cost(F, 0, 1, capacity=bound)
    flow, n = to_device(found.flow, "cpu"), max(source.max(), target.max()) + 1
    demand = np.bincount(target, flow, n) - np.bincount(source, flow, n)
    balance = np.zeros((n, len(flow)))
    np.add.at(balance, (target, np.arange(len(flow))), 1)
    np.add.at(balance, (source, np.arange(len(flow))), -1)
    program = scipy.optimize.linprog(cost, A_eq=balance, b_eq=demand, bounds=[(0, most) for most in bound])
    assert found.cost == pytest.approx(program.fun, abs=1e-9) and (flow <= bound).all()
    assert hpg.min_cost_flow(F, demand, capacity=bound).cost == pytest.approx(program.fun, abs=1e-9)


def test_undirected_edges_loops_and_names():
    U = hpg.Graph.from_edges([0, 1], [1, 2], [2, 3], directed=False)
    assert hpg.min_cost_flow(U, [1, 0, -1], capacity=[1, 1, 1, 1]).flow.tolist() == [0, 1, 0, 1]
    loops = ([0, 1], [1, 1], [1, -2])
    assert hpg.min_cost_flow(loops, [-1, 1], capacity=[3, 5]).cost == -9
    found = hpg.min_cost_flow(hpg.from_edges([("a", "b", 2), ("b", "c", 1)]), {"a": -1, "b": 1})
    assert found.cost == 2 and found.to_pandas().values.tolist() == [["a", "b", 1]]
    big = hpg.min_cost_flow(([0], [1], [1 << 40]), [-(1 << 15), 1 << 15])
    assert big.cost == 1 << 55


ONE = ([0], [1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hpg.min_cost_flow(ONE, {0: -1, 1: 2}), ValueError, "demand: demands must add up to 0"),
        (lambda: hpg.min_cost_flow(ONE), ValueError, "no vertex column 'demand'"),
        (lambda: hpg.min_cost_flow(ONE, [-1, np.nan]), ValueError, "demand must be finite"),
        (lambda: hpg.min_cost_flow(ONE, [-1, 1], [np.nan]), ValueError, "capacity must not be negative or NaN"),
        (lambda: hpg.min_cost_flow(ONE, [-1, 1], [1, 2]), ValueError, "capacity must have one value for each of the 1"),
        (lambda: hpg.min_cost_flow(ONE, [-1, 1], ["a"]), TypeError, "capacity must hold numbers"),
        (lambda: hpg.min_cost_flow(ONE, [1, -1]), ValueError, "no flow meets the demands"),
        (lambda: hpg.min_cost_flow((*ONE, [np.inf]), [-1, 1]), ValueError, "costs must be finite"),
        (lambda: hpg.min_cost_flow((*ONE, [1 << 62]), [-1, 1]), ValueError, "cannot be counted"),
        (lambda: hpg.max_flow_min_cost(ONE, 0, 1, [np.inf]), ValueError, "capacities must be finite"),
        (lambda: hpg.max_flow_min_cost(ONE, 0, 0), ValueError, "two vertices"),
    ],
)
def test_unfit(call, error, message):
    raises(error, message, call)
