"""Works of the families of paths, matchings, trees, flows and cuts, each library used as its documentation does."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device

from .families_peers import Given, Row, csgraph, ig, nk, nx, ortools, rx


def _between(graph: hpg.Graph, one: int, other: int) -> tuple[int, int]:
    """The vertices of the first's component that are next to two."""
    label = hpg.connected_components(graph).label
    (near,) = np.nonzero(label == np.bincount(label).argmax())
    first, second = near[np.searchsorted(near, [one, other])].tolist()
    return first, second


def paths(scale: int, device: str) -> Iterator[Row]:
    """On a road with random lengths, and on graphs with hubs."""
    side = 2 ** (scale // 2 + 1)
    road = Given(hpg.datasets.grid(side, weighted=True, removed=0.1), device)
    G, n = road.graph, road.host.n_vertices
    s, t = _between(road.host, n // 4 + side // 4, n // 2 + side // 2)
    row, column = np.divmod(np.arange(n), side)
    far = (abs(row - t // side) + abs(column - t % side)).astype(np.float64)
    bounds, size = far.tolist(), f"a road of {G.n_edges:,} arcs"

    def length(path: Sequence[int]) -> float:
        return float(np.asarray(road.sp[list(path[:-1]), list(path[1:])]).sum())

    def found(search: Any) -> float:
        return float(search.run().getDistance())

    yield Row("paths", f"astar_path, {size}", lambda: length(hpg.astar_path(G, s, t, far, weight=True)), {
        "networkit": lambda: found(nk.distance.AStar(road.nk, bounds, s, t)),
        "rustworkx": lambda: length(rx.astar_shortest_path(road.rx, s, lambda v: v == t, float, bounds.__getitem__)),
    })  # fmt: skip
    yield Row("paths", f"shortest_path, {size}", lambda: length(hpg.shortest_path(G, s, t, weight=True)), {
        "networkit": lambda: found(nk.distance.BidirectionalDijkstra(road.nk, s, t)),
        "igraph": lambda: length(road.ig.get_shortest_path(s, t, "weight")),
        "rustworkx": lambda: length(rx.dijkstra_shortest_paths(road.rx, s, t, float)[t]),
    })  # fmt: skip
    yield Row(
        "paths", f"10 shortest_simple_paths, {size}",
        lambda: [length(path) for path in itertools.islice(hpg.shortest_simple_paths(G, s, t, weight=True), 10)],
        {"igraph": lambda: [length(path) for path in road.ig.get_k_shortest_paths(s, t, k=10, weights="weight")]},
    )  # fmt: skip
    hubs = Given(hpg.datasets.kron(scale), device)
    u, v = np.argsort(-hubs.host.out_degree, kind="stable")[[100, 400]].tolist()
    work = f"all_shortest_paths, hubs, {hubs.host.n_edges:,} arcs"
    yield Row("paths", work, lambda: sum(1 for _ in hpg.all_shortest_paths(hubs.graph, u, v)), {
        "igraph": lambda: len(hubs.ig.get_all_shortest_paths(u, v)),
        "rustworkx": lambda: len(rx.all_shortest_paths(hubs.rx, u, v)),
    })  # fmt: skip
    yield Row("paths", f"dfs, hubs, {hubs.host.n_edges:,} arcs", lambda: len(hpg.dfs(hubs.graph, u).order), {
        "SciPy": lambda: len(csgraph.depth_first_order(hubs.sp, u, return_predecessors=False)),
        "igraph": lambda: len(hubs.ig.dfs(u)[0]),
        "rustworkx": lambda: len(rx.dfs_edges(hubs.rx, u)) + 1,
    })  # fmt: skip
    even = Given(hpg.datasets.gnm_random_graph(2**scale, 2 ** (scale + 2)), device)
    a, b = _between(even.host, 0, 2 ** (scale - 1))
    work = f"all_simple_paths of up to 8 arcs, {even.host.n_edges:,} arcs"
    yield Row("paths", work, lambda: sum(1 for _ in hpg.all_simple_paths(even.graph, a, b, 8)), {
        "igraph": lambda: len(even.ig.get_all_simple_paths(a, b, maxlen=8)),
        "rustworkx": lambda: len(rx.all_simple_paths(even.rx, a, b, cutoff=8)),
    })  # fmt: skip
    yield Row("paths", f"contraction_hierarchy, {size}", lambda: len(hpg.contraction_hierarchy(G)))
    hierarchy = hpg.contraction_hierarchy(G)
    pairs = np.random.default_rng(1).integers(0, n, (1000, 2)).tolist()
    yield Row("paths", f"1,000 distances by it, {size}", lambda: [hierarchy.distance(*pair) for pair in pairs])
    one, other = np.transpose(pairs)
    yield Row("paths", f"1,000 distances by it at once, {size}", lambda: hierarchy.distance(one, other))
    limit = float(hierarchy.distance(s, t))
    yield Row("paths", f"isochrone by it, {size}", lambda: len(hierarchy.isochrone(s, limit)), {
        "SciPy": lambda: int((csgraph.dijkstra(road.sp, indices=s, limit=limit) <= limit).sum()),
    })  # fmt: skip


def _two_sides(n: int, m: int, skew: float) -> hpg.Graph:
    """Edges between two sides of n vertices, which they prefer by a power law."""
    rng = np.random.default_rng(4)
    ends = (rng.random((2, m)) ** (1 + skew) * n).astype(np.int64)
    one, other = (rng.permutation(n)[side] for side in ends)
    weight = rng.integers(1, 1000, m).astype(np.float64)
    return hpg.Graph.from_edges(one, n + other, weight, n_vertices=2 * n, directed=False, duplicates="min")


def _most_edges(n: int, kind: str, skew: float, degree: int, device: str) -> Row:
    sides = Given(_two_sides(n, degree * n, skew), device)
    types, size = [v >= n for v in range(2 * n)], f"{sides.host.n_edges // 2:,} edges {kind}"
    return Row("matchings", f"maximum_bipartite_matching, {size}", lambda: _edges(sides.graph, None), {
        "SciPy": lambda: int((csgraph.maximum_bipartite_matching(sides.sp[:n, n:], "column") >= 0).sum()),
        "igraph": lambda: len(ig.Graph.maximum_bipartite_matching(sides.ig, types)),
    })  # fmt: skip


def matchings(scale: int, device: str) -> Iterator[Row]:
    """Between two sides, with and without hubs, and in general graphs."""
    n = 2**scale
    yield _most_edges(n, "without hubs", 0, 3, device)
    yield _most_edges(n, "with hubs", 2, 16, device)
    few = n // 16
    sides = Given(_two_sides(few, 4 * few, 0), device)
    types = [v >= few for v in range(2 * few)]
    work = f"max_weight_matching, two sides, {sides.host.n_edges // 2:,} edges"
    yield Row("matchings", work, lambda: _weight(sides), {
        "rustworkx": lambda: _sum(sides, rx.max_weight_matching(sides.rx, False, int)),
        "igraph": lambda: _sum(sides, enumerate(
            ig.Graph.maximum_bipartite_matching(sides.ig, types, "weight").matching[:few])),
    })  # fmt: skip
    odd = Given(hpg.datasets.social(max(scale - 4, 4), weighted=True), device)
    for kind, most in (("", False), (" of most edges", True)):
        work = f"max_weight_matching{kind}, {odd.host.n_edges // 2:,} edges"
        yield Row("matchings", work, lambda most=most: _weight(odd, most), {
            "rustworkx": lambda most=most: _sum(odd, rx.max_weight_matching(odd.rx, most, int)),
        })  # fmt: skip
    many = Given(hpg.datasets.social(scale, weighted=True), device)
    yield Row(
        "matchings", f"max_weight_matching of half the best, {many.host.n_edges // 2:,} edges",
        lambda: _edges(many.graph, False) and None,
        {"networkit": lambda: nk.matching.SuitorMatcher(many.nk, False).run() and None},
    )  # fmt: skip


def _edges(G: hpg.Graph, exact: bool | None) -> int:
    """The number of edges in a matching: of most edges, or of most weight."""
    mate = hpg.maximum_bipartite_matching(G) if exact is None else hpg.max_weight_matching(G, exact=exact)
    return int((mate >= 0).sum()) // 2


def _weight(given: Given, most_edges: bool = False) -> float:
    mate = to_device(hpg.max_weight_matching(given.graph, most_edges), "cpu")
    return _sum(given, [(v, u) for v, u in enumerate(mate.tolist()) if v < u])


def _sum(given: Given, pairs: Iterable[tuple[int, int | None]]) -> float:
    """The weight of some edges."""
    ends = [(u, v) for u, v in pairs if v is not None and v >= 0]
    return float(np.asarray(given.sp[[u for u, _ in ends], [v for _, v in ends]]).sum())


def trees(scale: int, device: str) -> Iterator[Row]:
    """On a lattice with lengths, and on a graph with hubs."""
    lattice = Given(hpg.datasets.grid(2 ** (scale // 2 + 1), weighted=True, removed=0).undirected, device)
    G, n = lattice.graph, lattice.host.n_vertices
    ends = np.random.default_rng(2).choice(n, 100, replace=False)
    work = f"steiner_tree of 100 among {n:,} vertices"
    yield Row("trees", work, lambda: hpg.steiner_tree(G, hpg.id(ends)) and None, {
        "rustworkx": lambda: rx.steiner_tree(lattice.rx, ends.tolist(), float) and None,
    })  # fmt: skip
    hubs = Given(hpg.datasets.social(scale, weighted=True), device)
    size = f"{hubs.host.n_edges:,} arcs"
    source, target, weight = hubs.edges
    minus = Given(hpg.Graph.from_edges(source, target, -weight, n_vertices=hubs.host.n_vertices, directed=False))
    work = f"maximum_spanning_forest, {size}"
    yield Row("trees", work, lambda: float(hpg.maximum_spanning_forest(hubs.graph).total), {
        "SciPy": lambda: -float(csgraph.minimum_spanning_tree(minus.sp).sum()),
        "networkit": lambda: -float(nk.graph.KruskalMSF(minus.nk).run().getForest().totalEdgeWeight()),
        "igraph": lambda: sum(hubs.ig.es[hubs.ig.spanning_tree((-hubs.weights).tolist(), False)]["weight"]),
        "rustworkx": lambda: sum(w for _, _, w in rx.minimum_spanning_edges(hubs.rx, lambda w: -w)),
    })  # fmt: skip
    small = Given(hpg.datasets.kron(max(scale - 6, 5)).undirected, device)
    work = f"random_spanning_tree, {small.host.n_edges:,} arcs"
    yield Row("trees", work, lambda: len(hpg.random_spanning_tree(small.graph).source) and None)
    # NetworkX computes a determinant an edge.
    few = Given(hpg.datasets.gnm_random_graph(scale, 3 * scale), device)
    work = f"random_spanning_tree, {few.host.n_edges:,} arcs"
    yield Row("trees", work, lambda: len(hpg.random_spanning_tree(few.graph).source) and None, {
        "NetworkX": lambda: len(nx.random_spanning_tree(few.nx)) and None,
    })  # fmt: skip


def flows(scale: int, device: str) -> Iterator[Row]:
    """Of whole numbers and of floats."""
    rng, n = np.random.default_rng(1), 2 ** (scale - 3)
    net, bound = _with_costs(rng, n, device)
    demand = rng.integers(-50, 50, n)
    demand[0] -= demand.sum()
    yield Row("flows", f"min_cost_flow, {net.host.n_edges:,} arcs", lambda: hpg.min_cost_flow(
        net.graph, demand, bound).cost, {"OR-tools": lambda: _by_ortools(net, bound, -demand, False)})  # fmt: skip
    few, limit = _with_costs(rng, n // 4, device)
    ends = np.zeros(n // 4, np.int64)
    ends[[0, n // 8]] = [limit.sum(), -limit.sum()]
    yield Row("flows", f"max_flow_min_cost, {few.host.n_edges:,} arcs", lambda: hpg.max_flow_min_cost(
        few.graph, 0, n // 8, limit).cost, {"OR-tools": lambda: _by_ortools(few, limit, ends, True)})  # fmt: skip
    whole = Given(hpg.datasets.social(scale - 2, weighted=True).undirected, device)
    source, target, weight = whole.edges
    broken = Given(hpg.Graph.from_edges(source, target, weight + rng.random(len(weight)), directed=False), device)
    for kind, given in (("whole", whole), ("broken", broken)):
        yield from _of_capacities(kind, given)


def _with_costs(rng: Any, n: int, device: str) -> tuple[Given, np.ndarray]:
    """Costs and capacities at random; a ring of dear arcs meets every demand."""
    m = 16 * n
    source, target = (np.concatenate([rng.integers(0, n, m - n), (np.arange(n) + i) % n]) for i in range(2))
    cost = np.concatenate([rng.integers(1, 1000, m - n), np.full(n, 10**5)])
    net = Given(hpg.Graph((source, target, cost), directed=True, duplicates="keep"), device)
    return net, np.where(net.edges[2] == 10**5, 10**6, rng.integers(1, 100, m))


def _by_ortools(net: Given, bound: np.ndarray, supply: np.ndarray, most: bool) -> int:
    flow = ortools.SimpleMinCostFlow()
    flow.add_arcs_with_capacity_and_unit_cost(*(part.astype(np.int64) for part in (*net.edges[:2], bound, net.weights)))
    flow.set_nodes_supplies(np.arange(len(supply)), supply)
    (flow.solve_max_flow_with_min_cost if most else flow.solve)()
    return int(flow.optimal_cost())


def _of_capacities(kind: str, given: Given) -> Iterator[Row]:
    s, t = np.argsort(-given.host.out_degree, kind="stable")[[3, 11]].tolist()
    size = f"{kind} capacities, {given.host.n_edges:,} arcs"
    others: dict[str, Any] = {"igraph": lambda: round(given.ig.maxflow_value(s, t, "weight"), 6)}
    if kind == "whole":
        others["SciPy"] = lambda: int(csgraph.maximum_flow(given.sp.astype(np.int32), s, t).flow_value)
    yield Row(
        "flows", f"maximum_flow, {size}", lambda: round(hpg.maximum_flow(given.graph, s, t).flow_value, 6), others
    )
    yield Row("cuts", f"minimum_cut, {size}", lambda: round(hpg.minimum_cut(given.graph, s, t)[0], 6), {
        "igraph": lambda: round(given.ig.mincut(s, t, "weight").value, 6),
    })  # fmt: skip


def cuts(scale: int, device: str) -> Iterator[Row]:
    """Global cuts, all pairs' cuts, and connectivity."""
    whole = hpg.datasets.social(scale - 6, weighted=True).undirected
    label = hpg.connected_components(whole).label
    few = Given(whole.subgraph(hpg.id(np.flatnonzero(label == np.bincount(label).argmax()))), device)
    size = f"{few.host.n_edges:,} arcs"
    yield Row("cuts", f"stoer_wagner, {size}", lambda: hpg.stoer_wagner(few.graph)[0], {
        "igraph": lambda: few.ig.mincut(capacity="weight").value,
        "rustworkx": lambda: rx.stoer_wagner_min_cut(few.rx, float)[0],
    })  # fmt: skip
    small = Given(hpg.datasets.gnm_random_graph(2 ** (scale - 7), 2 ** (scale - 4)), device)
    size = f"{small.host.n_vertices:,} vertices, {small.host.n_edges:,} arcs"
    yield Row("cuts", f"gomory_hu_tree, {size}", lambda: float(hpg.gomory_hu_tree(small.graph).weights.sum()) / 2, {
        "igraph": lambda: sum(small.ig.gomory_hu_tree("weight").es["flow"]),
    })  # fmt: skip
    ring = Given(hpg.datasets.watts_strogatz_graph(2 ** (scale - 5), 8, 0.3), device)
    size = f"{ring.host.n_edges:,} arcs"
    yield Row("cuts", f"edge_connectivity, {size}", lambda: hpg.edge_connectivity(ring.graph), {
        "igraph": lambda: ring.ig.edge_connectivity(),
    })  # fmt: skip
    ring = Given(hpg.datasets.watts_strogatz_graph(2 ** (scale - 8), 8, 0.3), device)
    size = f"{ring.host.n_edges:,} arcs"
    yield Row("cuts", f"node_connectivity, {size}", lambda: hpg.node_connectivity(ring.graph), {
        "igraph": lambda: ring.ig.vertex_connectivity(),
    })  # fmt: skip
    hubs = Given(hpg.datasets.social(scale - 2).undirected, device)
    order, size = np.argsort(-hubs.host.out_degree, kind="stable"), f"{hubs.host.n_edges:,} arcs"
    s, t = next((int(order[5]), int(v)) for v in order[50:] if not hubs.host.has_edge(order[5], v))
    yield Row("cuts", f"edge_disjoint_paths, {size}", lambda: len(hpg.edge_disjoint_paths(hubs.graph, s, t)), {
        "igraph": lambda: hubs.ig.edge_disjoint_paths(s, t),
    })  # fmt: skip
    yield Row("cuts", f"node_disjoint_paths, {size}", lambda: len(hpg.node_disjoint_paths(hubs.graph, s, t)), {
        "igraph": lambda: hubs.ig.vertex_disjoint_paths(s, t),
    })  # fmt: skip
