"""Functions of the NetworkX backend whose results are not NetworkX's own, but as good: what must hold of them."""

import gc
import math
import random
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import pytest
from raising import raises

from hpgraph.interop.networkx_backend import interface
from hpgraph.interop.networkx_backend.serving import NETWORKX, reason_against
from tests.interop.networkx_calls import REGISTERED, public
from tests.interop.networkx_graphs import GRAPHS, NODES, STRONG

pytestmark = pytest.mark.usefixtures("networkx_backend")
# By default NetworkX 3.7 has its Leiden maximize something else, which it runs itself.
MEASURE = {"metric": "modularity"} if NETWORKX >= (3, 7) else {}


@pytest.mark.parametrize(
    "name",
    sorted(
        REGISTERED.keys() & {f"{how}_{what}" for how in ("louvain", "leiden") for what in ("communities", "partitions")}
    ),
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


@pytest.mark.parametrize("name", ["asyn_lpa_communities", "fast_label_propagation_communities"])
def test_labels(name: str) -> None:
    graph = nx.ring_of_cliques(6, 9)
    graph.add_node("alone")
    wanted = public(name)(graph, seed=3, backend="networkx")
    found = public(name)(graph, seed=3, backend="hpgraph")
    assert type(found) is type(wanted)
    cliques = [set(range(9 * k, 9 * k + 9)) for k in range(6)]
    assert list(found) == [*cliques, {"alone"}]


@pytest.mark.parametrize(
    "graph", [nx.barbell_graph(3, 0), nx.empty_graph(3), *map(GRAPHS.get, ["whole", "blocks", "null"])]
)
def test_labels_by_colors(graph: nx.Graph) -> None:
    wanted = nx.community.label_propagation_communities(graph, backend="networkx")
    found = nx.community.label_propagation_communities(graph, backend="hpgraph")
    assert type(found) is type(wanted) and list(found) == list(wanted)


def test_independent_set() -> None:
    for given in (None, NODES[:1]):
        found = nx.maximal_independent_set(GRAPHS["whole"], given, seed=4, backend="hpgraph")
        assert found == nx.maximal_independent_set(GRAPHS["whole"], given, seed=4, backend="hpgraph")
        assert type(found) is type(nx.maximal_independent_set(GRAPHS["whole"], given, seed=4, backend="networkx"))
        assert set(given or ()) <= set(found) and len(set(found)) == len(found)
        near = set(found).union(*(GRAPHS["whole"][node] for node in found))
        assert not any(GRAPHS["whole"].has_edge(u, v) for u in found for v in found) and near == set(GRAPHS["whole"])
    for wrong in (["absent"], next(iter(GRAPHS["whole"].edges))):
        with pytest.raises(nx.NetworkXUnfeasible, match=r"subset of the nodes|independent set"):
            nx.maximal_independent_set(GRAPHS["whole"], wrong, backend="hpgraph")


@pytest.mark.parametrize(
    "graph, ends", [("directed", STRONG), ("connected", NODES), ("arcs", STRONG), ("halves", NODES)]
)
def test_flows(graph: str, ends: list[Any]) -> None:
    G = GRAPHS[graph]
    value, flow = nx.maximum_flow(G, *ends, capacity="weight", backend="hpgraph")
    for u, row in flow.items():
        assert list(row) == list(G[u]) and all(0 <= row[v] <= G[u][v].get("weight", row[v]) for v in row)
    gained = dict.fromkeys(G, 0)
    for u, v, amount in ((u, v, amount) for u, row in flow.items() for v, amount in row.items()):
        gained[u], gained[v] = gained[u] - amount, gained[v] + amount
    assert {node: gain for node, gain in gained.items() if gain} == {ends[0]: -value, ends[1]: value}
    assert type(value) is (float if graph in ("arcs", "halves") else int)
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
    raises(nx.NetworkXError, "not connected", nx.minimum_edge_cut, GRAPHS["blocks"], backend="hpgraph")


def test_capacities_of_floats() -> None:
    """Infinite ones, and none, are no bound; zero is the whole number."""
    G = nx.DiGraph([(0, 1, {"capacity": math.inf}), (1, 2, {"capacity": 0.25}), (1, 3), (3, 2, {"capacity": 1.5})])
    G.add_edge(4, 0, capacity=0.0)
    assert nx.maximum_flow(G, 0, 2, backend="hpgraph") == (
        1.75,
        {0: {1: 1.75}, 1: {2: 0.25, 3: 1.5}, 2: {}, 3: {2: 1.5}, 4: {0: 0}},
    )
    assert nx.minimum_cut(G, 0, 2, backend="hpgraph") == nx.minimum_cut(G, 0, 2, backend="networkx")
    assert repr(nx.maximum_flow_value(G, 4, 2, backend="hpgraph")) == "0"
    for wrong, error in ((0, nx.NetworkXUnbounded), (2, NotImplementedError)):
        G.add_edge(3, 2, capacity=math.inf if wrong == 0 else math.nan)
        with pytest.raises(error):
            nx.maximum_flow_value(G, 0, 2, backend="hpgraph")
    tree = nx.gomory_hu_tree(GRAPHS["halves"], "weight", backend="hpgraph")
    wanted = nx.gomory_hu_tree(GRAPHS["halves"], "weight", backend="networkx")
    assert sorted(tree.edges(data="weight")) == sorted(wanted.edges(data="weight"))
    assert nx.maximum_flow(nx.empty_graph(2), 0, 1, backend="hpgraph") == (0, {0: {}, 1: {}})


def test_node_cut() -> None:
    for G in (GRAPHS["connected"], nx.les_miserables_graph(), nx.complete_graph(5), nx.petersen_graph()):
        found = nx.minimum_node_cut(G, backend="hpgraph")
        left = nx.Graph(G)
        left.remove_nodes_from(found)
        assert type(found) is set and (len(left) == 1 or not nx.is_connected(left))
        assert len(found) == len(nx.minimum_node_cut(G, backend="networkx"))
    between = nx.minimum_node_cut(GRAPHS["blocks"], "a", "f", backend="hpgraph")
    assert between == nx.minimum_node_cut(GRAPHS["blocks"], "a", "f", backend="networkx")
    raises(nx.NetworkXError, "not connected", nx.minimum_node_cut, GRAPHS["blocks"], backend="hpgraph")
    raises(NotImplementedError, "some pairs alone", nx.minimum_node_cut, GRAPHS["strong"], backend="hpgraph")


@pytest.mark.parametrize("name", ["node_clique_number", "minimum_spanning_tree", "maximum_spanning_tree"])
def test_functions_of_undirected_graphs_alone(name: str) -> None:
    directed = nx.DiGraph([(0, 1), (1, 2), (2, 0)])
    raises(NotImplementedError, "directed graph", getattr(nx, name), directed, backend="hpgraph")
    with pytest.raises(nx.NetworkXNotImplemented):
        getattr(nx, name)(directed)


def test_reciprocity_of_undirected_nodes() -> None:
    with pytest.raises(NotImplementedError):
        nx.reciprocity(nx.path_graph(3), 1, backend="hpgraph")


@pytest.mark.parametrize("function", [nx.edge_disjoint_paths, nx.node_disjoint_paths])
@pytest.mark.parametrize("cutoff", [None, 1, 1.5, 0])
def test_disjoint_paths(function: Any, cutoff: float | None) -> None:
    for G, (s, t) in ((GRAPHS["connected"], NODES), (GRAPHS["strong"], STRONG), (nx.complete_graph(5), (0, 3))):
        if cutoff == 0:
            for given in (cutoff, None):
                with pytest.raises(nx.NetworkXNoPath if given == 0 else nx.NetworkXError):
                    next(function(G, s, t if given == 0 else "absent", cutoff=given, backend="hpgraph"))
            continue
        found = list(function(G, s, t, cutoff=cutoff, backend="hpgraph"))
        assert len(found) == len(list(function(G, s, t, cutoff=cutoff, backend="networkx")))
        assert all(type(path) is list and nx.is_path(G, path) and [path[0], path[-1]] == [s, t] for path in found)
        shared = [one for path in found for one in (path[1:-1] if "node" in function.__name__ else pairwise(path))]
        assert len(shared) == len(set(shared))


@pytest.mark.parametrize("name", ["max_weight_matching", "min_weight_matching"])
@pytest.mark.parametrize("options", [{}, {"weight": None}, {"maxcardinality": True}], ids=str)
def test_matchings_by_weight(name: str, options: dict[str, Any]) -> None:
    if name.startswith("min"):
        options = {key: value for key, value in options.items() if key == "weight"}
    weight = options.get("weight", "weight")
    negative = nx.Graph([(0, 1, {"weight": -2}), (1, 2, {"weight": 3.5}), (2, 3, {"weight": -1}), (0, 3)])
    odd = nx.les_miserables_graph()
    for G in (GRAPHS["tree"], nx.grid_2d_graph(4, 5), negative, nx.Graph([(0, 1)]), nx.empty_graph(2), odd):
        found, wanted = (public(name)(G, **options, backend=backend) for backend in ("hpgraph", "networkx"))
        assert type(found) is set and nx.is_matching(G, found)
        amounts = [sum(G.edges[edge].get(weight, 1) for edge in edges) for edges in (found, wanted)]
        assert amounts[0] == pytest.approx(amounts[1], rel=1e-12)
        if name.startswith("min") or "maxcardinality" in options:
            assert len(found) == len(wanted)
    for refused in (nx.Graph([(0, 1, {"weight": 2**53})]), nx.Graph([(0, 1, {"weight": math.inf})])):
        with pytest.raises(NotImplementedError):
            public(name)(refused, backend="hpgraph")


@pytest.mark.parametrize("k", [2, 3, 4])
def test_communities_of_cliques(k: int) -> None:
    for G in (GRAPHS["whole"], nx.les_miserables_graph(), nx.Graph(GRAPHS["several"]), nx.Graph()):
        found, wanted = (list(public("k_clique_communities")(G, k, backend=name)) for name in ("hpgraph", "networkx"))
        assert set(found) == set(wanted) and len(found) == len(wanted) and all(type(one) is frozenset for one in found)
    with pytest.raises(nx.NetworkXError, match="greater than 1"):
        next(nx.community.k_clique_communities(G, 1, backend="hpgraph"))


def test_group_betweenness_by_its_definition() -> None:
    """Of three nodes or more, where NetworkX adds some paths up wrongly."""
    G = nx.Graph(["ab", "ac", "af", "bf", "bd", "fc", "ce"])
    group = {"a", "d", "e"}
    found = nx.group_betweenness_centrality(G, group, normalized=False, backend="hpgraph")
    paths = [list(nx.all_shortest_paths(G, *pair)) for pair in combinations(set(G) - group, 2)]
    assert found == sum(sum(bool(group & set(path)) for path in between) / len(between) for between in paths) == 0.5


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


def test_collector_is_paused() -> None:
    G = nx.star_graph(20_000)
    nx.single_source_shortest_path(G, 0, backend="hpgraph")
    collections: list[str] = []
    gc.callbacks.append(lambda phase, info: collections.append(phase))
    try:
        nx.single_source_shortest_path(G, 0, backend="hpgraph")
    finally:
        gc.callbacks.pop()
    # Two events each; a list for each of 20,000 nodes would start dozens.
    assert len(collections) <= 10 and gc.isenabled()


def test_longest_path() -> None:
    G = nx.DiGraph([(u, v, {"weight": (u * v) % 4}) for u in range(12) for v in range(u + 1, 12, 3)])
    path = nx.dag_longest_path(G, backend="hpgraph")
    assert nx.path_weight(G, path, "weight") == nx.dag_longest_path_length(G, backend="networkx")


@pytest.mark.parametrize("seed", range(40))
def test_flows_of_least_cost(seed: int) -> None:
    rng = random.Random(seed)
    G = nx.gnp_random_graph(rng.randrange(2, 9), 0.5, seed=seed, directed=True)
    G.add_edge(0, 0)
    for _, _, data in G.edges(data=True):
        data.update(weight=rng.randrange(-2, 9))
        if rng.random() < 0.8 or data["weight"] < 0:
            data["capacity"] = rng.choice([0, 1, 2, 5])
    for node, taken in enumerate(given := [rng.randrange(-2, 3) for _ in G]):
        G.nodes[node]["demand"] = taken - (sum(given) if node == 0 else 0)
    for solve in (nx.network_simplex, nx.capacity_scaling):
        try:
            wanted = solve(G, backend="networkx")
        except nx.NetworkXUnfeasible as error:
            raises(nx.NetworkXUnfeasible, str(error), solve, G, backend="hpgraph")
            continue
        cost, flow = solve(G, backend="hpgraph")
        assert (type(cost), cost) == (int, wanted[0]) == (int, nx.cost_of_flow(G, flow))
        assert [list(row) for row in flow.values()] == [list(row) for row in wanted[1].values()]
        assert all(0 <= flow[u][v] <= room for u, v, room in G.edges(data="capacity", default=99))
        gained = {node: sum(flow[u][node] for u in G.pred[node]) - sum(flow[node].values()) for node in G}
        assert gained == dict(G.nodes(data="demand"))


def test_greatest_flow_of_least_cost() -> None:
    for name, ends in (("directed", STRONG), ("connected", NODES)):
        G = nx.DiGraph(GRAPHS[name]) if name == "directed" else nx.Graph(GRAPHS[name])
        nx.set_edge_attributes(G, {edge: place * 5 % 7 for place, edge in enumerate(G.edges)}, "cost")
        found, wanted = (
            nx.max_flow_min_cost(G, *ends, capacity="weight", weight="cost", backend=backend)
            for backend in ("hpgraph", "networkx")
        )
        both = nx.DiGraph(G)
        assert nx.cost_of_flow(both, found, "cost") == nx.cost_of_flow(both, wanted, "cost") > 0
        assert [list(row) for row in found.values()] == [list(row) for row in wanted.values()]
    with pytest.raises(NotImplementedError):
        nx.max_flow_min_cost(G, *ends, capacity="weight", backend="hpgraph")
    held = nx.DiGraph([(0, 1, {"capacity": 2})])
    held.nodes[1]["demand"] = 1
    raises(NotImplementedError, "a demand", nx.max_flow_min_cost, held, 0, 1, backend="hpgraph")


def test_random_spanning_trees() -> None:
    """Of a triangle each tree is as likely as the product of its weights."""
    G = nx.Graph([("a", "b", {"w": 1}), ("b", "c", {"w": 2}), ("c", "a", {"w": 3})])
    drawn = [nx.random_spanning_tree(G, "w", seed=seed, backend="hpgraph") for seed in range(1200)]
    assert all(nx.is_tree(tree) and set(tree) == set(G) for tree in drawn)
    without = [next(edge for edge in G.edges if not tree.has_edge(*edge)) for tree in drawn]
    for edge, share in (("ab", 6 / 11), ("ac", 2 / 11), ("bc", 3 / 11)):
        count = sum(set(edge) == set(left) for left in without)
        assert abs(count / len(drawn) - share) < 4 * math.sqrt(share / len(drawn))
    raises(KeyError, "no such", nx.random_spanning_tree, G, "no such", backend="hpgraph")
    raises(NotImplementedError, "multiplicative", nx.random_spanning_tree, G, multiplicative=False, backend="hpgraph")
    with pytest.raises(NotImplementedError, match="spanning_tree"):
        nx.random_spanning_tree(nx.empty_graph(2), backend="hpgraph")


def test_steiner_trees() -> None:
    steiner_tree, G, rng = nx.algorithms.approximation.steiner_tree, GRAPHS["colored"], random.Random(3)
    G = G.subgraph(max(nx.connected_components(G), key=len)).copy()
    for _ in range(10):
        terminals = rng.sample(list(G), 5)
        found, wanted = (steiner_tree(G, terminals, backend=backend) for backend in ("hpgraph", "networkx"))
        assert nx.is_tree(found) and set(terminals) <= set(found)
        assert {node for node, degree in found.degree if degree == 1} <= set(terminals)
        assert all(data == G.nodes[node] for node, data in found.nodes(data=True))
        assert all(data == G.edges[u, v] for u, v, data in found.edges(data=True))
        assert found.size("weight") <= 2 * wanted.size("weight")
    path = nx.path_graph(5)
    assert list(steiner_tree(path, [3, 1], backend="hpgraph").edges) == [(1, 2), (2, 3)]
    assert len(steiner_tree(path, [3], backend="hpgraph")) == 0
    for wrong, error in (([], ValueError), (["absent"], nx.NodeNotFound)):
        with pytest.raises(error):
            steiner_tree(path, wrong, backend="hpgraph")


def test_odd_arguments() -> None:
    graph = nx.path_graph(4)
    for given in (nx.Graph(), nx.empty_graph(2)):
        assert nx.attribute_assortativity_coefficient(given, "kind", backend="hpgraph") == 0.0
    named = [0, 1, 2, "x"]
    raises(
        nx.NetworkXError, "in nodelist is not in G", lambda: nx.floyd_warshall_numpy(graph, named, backend="hpgraph")
    )
    # NetworkX takes any iterator for nodes, but looks at an empty list.
    found, wanted = (nx.voronoi_cells(graph, iter(()), backend=library) for library in ("hpgraph", "networkx"))
    assert found == wanted == {"unreachable": {0, 1, 2, 3}}
    reason = reason_against(interface.__getattr__("single_source_dijkstra"), (graph, 0), {"cutoff": -1})
    assert reason is not None and "negative cutoff" in reason
