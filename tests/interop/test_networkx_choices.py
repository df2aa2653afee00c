"""Functions of the NetworkX backend whose results are not NetworkX's own, but as good: what must hold of them."""

import random
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import pytest

from hpgraph.interop.networkx_backend import interface
from hpgraph.interop.networkx_backend.serving import NETWORKX
from tests.interop.networkx_calls import public
from tests.interop.networkx_graphs import GRAPHS, NODES, STRONG

pytestmark = pytest.mark.usefixtures("networkx_backend")
# By default NetworkX 3.7 has its Leiden maximize something else, which it runs itself.
MEASURE = {"metric": "modularity"} if NETWORKX >= (3, 7) else {}


@pytest.mark.parametrize(
    "name", ["louvain_communities", "leiden_communities", "louvain_partitions", "leiden_partitions"]
)
def test_communities(name: str) -> None:
    """Draws are the backend's own: what it finds is a partition no worse than NetworkX's Louvain finds."""
    graph = nx.les_miserables_graph()
    measure = MEASURE if name.startswith("leiden") else {}
    try:
        takes: Any = interface.can_run(name, (graph,), {})
    except NotImplementedError:
        takes = False
    assert (takes is True) is not bool(measure)
    found = public(name)(graph, seed=1, **measure, backend="hpgraph")
    levels = [found] if name.endswith("communities") else list(found)
    assert type(levels[-1]) is list and all(nx.community.is_partition(graph, level) for level in levels)
    for finer, coarser in pairwise(levels):
        assert all(any(part <= whole for whole in coarser) for part in finer)
    again = public(name)(graph, seed=1, **measure, backend="hpgraph")
    assert levels[-1] == (again if name.endswith("communities") else list(again)[-1])
    quality = nx.community.modularity(graph, levels[-1])
    assert quality > 0.98 * nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))


@pytest.mark.parametrize(
    "name", ["asyn_lpa_communities", "fast_label_propagation_communities", "label_propagation_communities"]
)
def test_labels(name: str) -> None:
    graph = nx.ring_of_cliques(6, 9)
    graph.add_node("alone")
    options = {} if name.startswith("label") else {"seed": 3}
    wanted = public(name)(graph, **options, backend="networkx")
    found = public(name)(graph, **options, backend="hpgraph")
    assert type(found) is type(wanted)
    cliques = [set(range(9 * k, 9 * k + 9)) for k in range(6)]
    assert list(found) == [*cliques, {"alone"}]


def test_independent_set() -> None:
    for given in (None, NODES[:1]):
        found = nx.maximal_independent_set(GRAPHS["whole"], given, seed=4, backend="hpgraph")
        assert found == nx.maximal_independent_set(GRAPHS["whole"], given, seed=4, backend="hpgraph")
        assert set(given or ()) <= set(found) and len(set(found)) == len(found)
        near = set(found).union(*(GRAPHS["whole"][node] for node in found))
        assert not any(GRAPHS["whole"].has_edge(u, v) for u in found for v in found) and near == set(GRAPHS["whole"])
    for wrong in (["absent"], next(iter(GRAPHS["whole"].edges))):
        with pytest.raises(nx.NetworkXUnfeasible, match=r"subset of the nodes|independent set"):
            nx.maximal_independent_set(GRAPHS["whole"], wrong, backend="hpgraph")


@pytest.mark.parametrize("graph, ends", [("directed", STRONG), ("connected", NODES)])
def test_flows(graph: str, ends: list[Any]) -> None:
    G = GRAPHS[graph]
    value, flow = nx.maximum_flow(G, *ends, capacity="weight", backend="hpgraph")
    for u, row in flow.items():
        assert list(row) == list(G[u]) and all(0 <= row[v] <= G[u][v].get("weight", row[v]) for v in row)
    gained = dict.fromkeys(G, 0)
    for u, v, amount in ((u, v, amount) for u, row in flow.items() for v, amount in row.items()):
        gained[u], gained[v] = gained[u] - amount, gained[v] + amount
    assert {node: gain for node, gain in gained.items() if gain} == {ends[0]: -value, ends[1]: value}
    cut, (near, far) = nx.minimum_cut(G, *ends, capacity="weight", backend="hpgraph")
    crossing = sum(G[u][v].get("weight", 1) for u in near for v in G[u] if v in far)
    assert cut == crossing == value == nx.maximum_flow_value(G, *ends, capacity="weight", backend="networkx")


@pytest.mark.parametrize("graph", ["whole", "blocks", "several", "null"])
def test_cliques(graph: str) -> None:
    """The same cliques in another order."""
    found, wanted = (list(nx.find_cliques(nx.Graph(GRAPHS[graph]), backend=name)) for name in ("hpgraph", "networkx"))
    assert sorted(map(sorted, found)) == sorted(map(sorted, wanted)) and all(type(one) is list for one in found)


@pytest.mark.parametrize("function", [nx.find_cliques, nx.find_cliques_recursive])
def test_cliques_with_some_nodes(function: Any) -> None:
    G = nx.gnp_random_graph(40, 0.4, seed=2)
    for nodes in ([], [3], list(next(iter(G.edges))), max(nx.find_cliques(G), key=len)):
        found, wanted = (list(function(G, nodes, backend=name)) for name in ("hpgraph", "networkx"))
        assert sorted(map(sorted, found)) == sorted(map(sorted, wanted))
        assert all(clique[: len(nodes)] == nodes for clique in found)
    for nodes in ([3, 3], ["absent"], list(next(nx.non_edges(G)))):
        with pytest.raises(ValueError, match="do not form a clique"):
            list(function(G, nodes, backend="hpgraph"))


def test_largest_clique() -> None:
    for G in (*map(nx.Graph, (GRAPHS["whole"], GRAPHS["blocks"])), nx.gnp_random_graph(60, 0.5, seed=1), nx.Graph()):
        found, size = nx.max_weight_clique(G, None, backend="hpgraph")
        assert size == len(found) == nx.max_weight_clique(G, None, backend="networkx")[1]
        assert type(found) is list and all(G.has_edge(u, v) for u, v in combinations(found, 2))


def test_edge_cut() -> None:
    for G in (GRAPHS["connected"], nx.les_miserables_graph(), nx.complete_graph(5)):
        found = nx.minimum_edge_cut(G, backend="hpgraph")
        left = nx.Graph(G)
        left.remove_edges_from(found)
        assert type(found) is set and found <= {(u, v) for u in G for v in G[u]} and not nx.is_connected(left)
        assert len(found) == len(nx.minimum_edge_cut(G, backend="networkx"))
    between = nx.minimum_edge_cut(G, 1, 3, backend="hpgraph")
    assert between == nx.minimum_edge_cut(G, 1, 3, backend="networkx")
    with pytest.raises(nx.NetworkXError, match="not connected"):
        nx.minimum_edge_cut(GRAPHS["blocks"], backend="hpgraph")


@pytest.mark.parametrize("weight", ["weight", "absent"])
def test_global_cut(weight: str) -> None:
    G = GRAPHS["connected"]
    value, (one, other) = nx.stoer_wagner(G, weight, backend="hpgraph")
    assert type(one) is type(other) is list and {*one, *other} == set(G) and len(one) + len(other) == len(G)
    assert value == nx.stoer_wagner(G, weight, backend="networkx")[0] == nx.cut_size(G, one, other, weight)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_simple_paths(weight: str | None) -> None:
    G = nx.DiGraph(
        [(u, v, {"weight": (3 * u + v) % 5 + 1}) for u in range(7) for v in range(7) if (u + 2 * v) % 3 and u != v]
    )
    found, wanted = (list(nx.shortest_simple_paths(G, 0, 5, weight, backend=name)) for name in ("hpgraph", "networkx"))
    length = (lambda path: nx.path_weight(G, path, weight)) if weight else len
    assert sorted(found) == sorted(wanted) and list(map(length, found)) == list(map(length, wanted))
    with pytest.raises(nx.NodeNotFound, match="source node absent not in graph"):
        nx.shortest_simple_paths(G, "absent", 5, backend="hpgraph")


@pytest.mark.parametrize("weight", [None, "weight"])
def test_path_between_two(weight: str | None) -> None:
    """Of several shortest paths any may be found."""
    G = GRAPHS["strong"]
    for source, target in random.Random(1).sample([(u, v) for u in G for v in G], 40):
        path = nx.shortest_path(G, source, target, weight, backend="hpgraph")
        assert path[0] == source and path[-1] == target and nx.is_path(G, path)
        length = nx.path_weight(G, path, weight) if weight else len(path) - 1
        assert length == nx.shortest_path_length(G, source, target, weight, backend="networkx")


def test_longest_path() -> None:
    G = nx.DiGraph([(u, v, {"weight": (u * v) % 4}) for u in range(12) for v in range(u + 1, 12, 3)])
    path = nx.dag_longest_path(G, backend="hpgraph")
    assert nx.path_weight(G, path, "weight") == nx.dag_longest_path_length(G, backend="networkx")
