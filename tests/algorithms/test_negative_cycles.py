"""Negative cycles: found, shown, and left where no path meets them; and any small graph."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raising import raises
from reference_algorithms import bellman_ford, check_shortest_paths
from test_sssp import INF, arcs, distances

import hpgraph as hpg
from hpgraph.core.device import to_device


def cycle_in(error, G):
    """The cycle a message shows, asserted to be one of G's, of negative length."""
    shown = re.search(r"length, (\d+(?: -> \d+)*)( -> \.\.\.)?:", str(error.value))
    assert shown, error.value
    around = [int(v) for v in shown[1].split(" -> ")]
    S = G.to("cpu").out_csr.to_scipy().todok()
    total = sum(S[u, v] for u, v in itertools.pairwise(around))
    if not shown[2]:
        assert around[0] == around[-1] and total < 0
    return around


def test_a_negative_cycle(device):
    G = arcs([0, 1, 2, 3], [1, 2, 3, 1], [1.0, 1.0, -3.0, 1.0], device=device)
    with pytest.raises(hpg.NegativeCycleError, match="source 0 reaches") as error:
        hpg.sssp(G, 0)
    assert sorted(set(cycle_in(error, G))) == [1, 2, 3]


def test_a_negative_edge_is_a_cycle_where_edges_go_both_ways(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], [4.0, -1.0], directed=False).to(device)
    with pytest.raises(hpg.NegativeCycleError):
        hpg.sssp(G, 0)


def test_a_negative_cycle_out_of_reach_does_no_harm(device):
    G = arcs([0, 1, 2, 3], [1, 2, 1, 0], [-1.0, -1.0, -1.0, -2.0], device=device)
    with pytest.raises(hpg.NegativeCycleError):
        hpg.sssp(G, 3)
    G = arcs([0, 1, 2, 3, 2], [1, 2, 1, 0, 4], [-1.0, -1.0, -1.0, -2.0, -7.0], device=device)
    assert distances(G, 4).tolist() == [INF, INF, INF, INF, 0]


def test_a_long_way_to_a_negative_cycle(device):
    n = 20_000
    source, target = np.arange(n), np.append(np.arange(1, n), n - 3)
    weight = np.ones(n)
    weight[-1] = -2.5
    G = arcs(source, target, weight, device=device)
    with pytest.raises(hpg.NegativeCycleError) as error:
        hpg.sssp(G, 0)
    assert sorted(set(cycle_in(error, G))) == [n - 3, n - 2, n - 1]


def test_a_large_negative_cycle_is_shown_in_part(device):
    n = 100
    weight = np.ones(n)
    weight[-1] = -1.0 * n
    G = arcs(np.arange(n), np.arange(1, n + 1) % n, weight, device=device)
    with pytest.raises(hpg.NegativeCycleError, match=r"-> \.\.\.:") as error:
        hpg.sssp(G, 0)
    around = cycle_in(error, G)
    assert [v % n for v in range(around[0], around[0] + 8)] == around


def test_cycles_of_length_zero_are_fine(device):
    """Also where arcs of negative length keep the search going past the looks for a negative cycle."""
    n = 200
    source = [*range(n), 5, 20, 150]
    target = [*range(1, n + 1), 3, 18, 100]
    weight = [-1.0] * n + [2.0, 2.0, 50.0]
    found = hpg.sssp(arcs(source, target, weight, device=device), 0, parents=True)
    assert (to_device(found.distance, "cpu") == -np.arange(n + 1.0)).all()
    assert (to_device(found.parent, "cpu")[1:] == np.arange(n)).all()


def test_a_negative_cycle_among_cycles_of_length_zero(device):
    n = 300
    source = [*range(n), *range(2, 290, 3)]
    target = [*range(1, n + 1), *range(0, 288, 3)]
    weight = [-1.0] * n + [2.0] * 96
    weight[-1] = 1.5
    G = arcs(source, target, weight, device=device)
    with pytest.raises(hpg.NegativeCycleError) as error:
        hpg.sssp(G, 0)
    assert sorted(set(cycle_in(error, G))) == [285, 286, 287]


def test_a_negative_cycle_by_name():
    G = hpg.Graph.from_edges([0, 1], [1, 0], [1.0, -2.0], names=["ann", "bob"])
    raises(hpg.NegativeCycleError, r"(ann -> bob -> ann)|(bob -> ann -> bob)", hpg.sssp, G, "ann")


# --- any small graph

ANY = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(-2, 6)), max_size=30))
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=ANY, cutoff=st.none() | st.integers(0, 8))
def test_any_small_graph(graph, cutoff, device):
    n, listed = graph
    columns = np.array(listed, np.int64).reshape(-1, 3).T
    G = hpg.Graph.from_edges(columns[0], columns[1], columns[2].astype(float), n_vertices=n).to(device)
    expected = bellman_ford(n, [(u, v, float(w)) for u, v, w in listed], 0)
    if expected is None:
        with pytest.raises(hpg.NegativeCycleError) as error:
            hpg.sssp(G, 0, cutoff=cutoff)
        cycle_in(error, G)
        return
    found = hpg.sssp(G, 0, cutoff=cutoff, parents=True)
    distance = np.array(expected)
    near = distance if cutoff is None else np.where(distance > cutoff, INF, distance)
    assert (to_device(found.distance, "cpu") == near).all()
    if (columns[2] >= 0).all():
        distance = near
    check_shortest_paths(G.to("cpu").out_csr.to_scipy(), 0, distance, to_device(found.parent, "cpu"))
