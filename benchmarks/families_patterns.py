"""Works of the families of patterns and of measures, each library used as its documentation does."""

from collections.abc import Iterator

import numpy as np

import hpgraph as hpg

from .families_peers import Given, Row, ig, nk, nx, rx, topology


def patterns(scale: int, device: str) -> Iterator[Row]:
    """In graphs with hubs and without."""
    hubs = Given(hpg.datasets.social(scale - 5).undirected, device)
    even = Given(hpg.datasets.gnm_random_graph(2**scale, 2 ** (scale + 3)), device)
    yield _all_cliques("hubs", hubs)
    yield _all_cliques("no hubs", even)
    size = f"hubs, {hubs.host.n_edges:,} arcs"
    yield Row("patterns", f"maximum_clique, {size}", lambda: len(hpg.maximum_clique(hubs.graph)), {
        "networkit": lambda: len(nk.clique.MaximalCliques(hubs.nk, True).run().getCliques()[0]),
        "igraph": lambda: hubs.ig.clique_number(),
    })  # fmt: skip
    yield Row("patterns", f"count_cliques of 5, {size}", lambda: hpg.count_cliques(hubs.graph, 5), {
        "scikit-network": lambda: int(topology.count_cliques(hubs.matrix, 5)),
        "igraph": lambda: len(hubs.ig.cliques(5, 5)),
    })  # fmt: skip
    yield Row("patterns", f"graphlet_counts, {size}", lambda: hpg.graphlet_counts(hubs.graph)["clique_4"], {
        "igraph": lambda: int(hubs.ig.motifs_randesu(4)[-1]),
    })  # fmt: skip
    work = f"maximum_clique, no hubs, {even.host.n_edges:,} arcs"
    yield Row("patterns", work, lambda: len(hpg.maximum_clique(even.graph)), {
        "networkit": lambda: len(nk.clique.MaximalCliques(even.nk, True).run().getCliques()[0]),
        "igraph": lambda: even.ig.clique_number(),
    })  # fmt: skip
    yield Row("patterns", f"graphlet_degrees, {size}", lambda: int(hpg.graphlet_degrees(hubs.graph).sum()))
    cycle = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False)
    own = ig and ig.Graph.Ring(4)
    few = Given(hpg.datasets.social(scale - 7, 4).undirected, device)
    work = f"count_subgraph_isomorphisms of a cycle of 4, {few.host.n_edges:,} arcs"
    yield Row("patterns", work, lambda: hpg.count_subgraph_isomorphisms(few.graph, cycle), {
        "igraph": lambda: len(few.ig.get_subisomorphisms_lad(own)),
    })  # fmt: skip
    listed = f"subgraph_isomorphisms of a cycle of 4, {few.host.n_edges:,} arcs"
    yield Row("patterns", listed, lambda: len(hpg.subgraph_isomorphisms(few.graph, cycle)), {
        "igraph": lambda: len(few.ig.get_subisomorphisms_lad(own)),
    })  # fmt: skip
    work = f"{work}, induced"
    yield Row("patterns", work, lambda: hpg.count_subgraph_isomorphisms(few.graph, cycle, kind="induced"), {
        "igraph": lambda: len(few.ig.get_subisomorphisms_lad(own, induced=True)),
        "rustworkx": lambda: sum(1 for _ in rx.vf2_mapping(few.rx, _cycle(), subgraph=True)),
    })  # fmt: skip
    work = f"color_refinement, no hubs, {even.host.n_edges:,} arcs"
    yield Row("patterns", work, lambda: int(hpg.color_refinement(even.graph).max()) + 1, {
        "scikit-network": lambda: int(topology.color_weisfeiler_lehman(even.matrix).max()) + 1,
    })  # fmt: skip
    line = np.arange(2 ** (scale - 3))
    line = Given(hpg.Graph.from_edges(line[:-1], line[1:], directed=False), device)
    work = f"color_refinement, a path, {line.host.n_edges:,} arcs"
    yield Row("patterns", work, lambda: int(hpg.color_refinement(line.graph).max()) + 1, {
        "scikit-network": lambda: int(topology.color_weisfeiler_lehman(line.matrix).max()) + 1,
    })  # fmt: skip
    small = Given(hpg.datasets.kron(scale - 6).undirected, device)
    size = f"{small.host.n_edges:,} arcs"
    work = f"weisfeiler_lehman_graph_hash, {size}"
    yield Row("patterns", work, lambda: hpg.weisfeiler_lehman_graph_hash(small.graph), {
        "NetworkX": lambda: nx.weisfeiler_lehman_graph_hash(small.nx),
    })  # fmt: skip
    work = f"weisfeiler_lehman_subgraph_hashes, {size}"
    yield Row("patterns", work, lambda: hpg.weisfeiler_lehman_subgraph_hashes(small.graph)[5, 2], {
        "NetworkX": lambda: nx.weisfeiler_lehman_subgraph_hashes(small.nx)[5][2],
    })  # fmt: skip
    yield Row(
        "patterns", f"simrank_similarity, {size}",
        lambda: round(float(hpg.simrank_similarity(small.graph, importance_factor=0.6).sum()), 2),
        {"NetworkX": lambda: round(float(nx.similarity._simrank_similarity_numpy(
            small.nx, importance_factor=0.6).sum()), 2)},
    )  # fmt: skip


def _all_cliques(kind: str, given: Given) -> Row:
    work = f"find_cliques, {kind}, {given.host.n_edges:,} arcs"
    return Row("patterns", work, lambda: sum(1 for _ in hpg.find_cliques(given.graph)), {
        "networkit": lambda: _cliques(given),
        "igraph": lambda: len(given.ig.maximal_cliques()),
    })  # fmt: skip


def _cliques(given: Given) -> int:
    found = []
    nk.clique.MaximalCliques(given.nk, callback=lambda clique: found.append(len(clique))).run()
    return len(found)


def _cycle() -> object:
    return rx.generators.cycle_graph(4)


def measures(scale: int, device: str) -> Iterator[Row]:
    """Of a graph with hubs, directed and undirected."""
    arcs = Given(hpg.Graph(hpg.datasets.social(scale - 1).edges()[:2], directed=True), device)
    G, size = arcs.graph, f"{arcs.host.n_edges:,} arcs"
    yield Row("measures", f"reciprocity, {size}", lambda: round(hpg.reciprocity(G), 9), {
        "igraph": lambda: round(arcs.ig.reciprocity(), 9),
    })  # fmt: skip
    yield Row("measures", f"dyad_census, {size}", lambda: tuple(hpg.dyad_census(G).values()), {
        "igraph": lambda: tuple(arcs.ig.dyad_census()),
    })  # fmt: skip
    few = Given(hpg.Graph(hpg.datasets.social(scale - 4).edges()[:2], directed=True), device)
    work = f"triadic_census, {few.host.n_edges:,} arcs"
    yield Row("measures", work, lambda: sum(list(hpg.triadic_census(few.graph).values())[1:]), {
        "igraph": lambda: int(sum(list(few.ig.triad_census())[1:])),
    })  # fmt: skip
    hubs = Given(hpg.datasets.social(scale).undirected, device)
    H, n, size = hubs.graph, hubs.host.n_vertices, f"{hubs.host.n_edges:,} arcs"
    rng = np.random.default_rng(3)
    number, kind = rng.random(n), rng.integers(0, 20, n)
    numbers, kinds = number.tolist(), kind.tolist()
    yield Row("measures", f"density, {size}", lambda: round(hpg.density(H), 12), {
        "igraph": lambda: round(hubs.ig.density(), 12),
        "networkit": lambda: round(nk.graphtools.density(hubs.nk), 12),
    })  # fmt: skip
    yield Row("measures", f"isolates, {size}", lambda: len(hpg.isolates(H)), {
        "rustworkx": lambda: len(rx.isolates(hubs.rx)),
    })  # fmt: skip
    work = f"degree_assortativity_coefficient, {size}"
    yield Row("measures", work, lambda: round(hpg.degree_assortativity_coefficient(H), 6), {
        "igraph": lambda: round(hubs.ig.assortativity_degree(directed=False), 6),
    })  # fmt: skip
    work = f"numeric_assortativity_coefficient, {size}"
    yield Row("measures", work, lambda: round(hpg.numeric_assortativity_coefficient(H, number), 6), {
        "igraph": lambda: round(hubs.ig.assortativity(numbers, directed=False), 6),
        "networkit": lambda: _run(nk.correlation.Assortativity(hubs.nk, numbers)),
    })  # fmt: skip
    work = f"attribute_assortativity_coefficient, {size}"
    yield Row("measures", work, lambda: round(hpg.attribute_assortativity_coefficient(H, kind), 6), {
        "igraph": lambda: round(hubs.ig.assortativity_nominal(kinds, directed=False), 6),
    })  # fmt: skip
    work = f"average_neighbor_degree, {size}"
    yield Row("measures", work, lambda: round(float(hpg.average_neighbor_degree(H).sum()), 3), {
        "igraph": lambda: round(float(np.nansum(hubs.ig.knn()[0])), 3),
    })  # fmt: skip
    work = f"average_degree_connectivity, {size}"
    yield Row("measures", work, lambda: round(
        float(np.nansum(hpg.average_degree_connectivity(H).tolist())), 3), {
        "igraph": lambda: round(float(np.nansum(hubs.ig.knn()[1])), 3),
    })  # fmt: skip
    small = Given(hpg.datasets.social(max(scale - 4, 4)).undirected, device)
    size = f"{small.host.n_edges:,} arcs"
    work = f"rich_club_coefficient, {size}"
    yield Row("measures", work, lambda: round(float(hpg.rich_club_coefficient(small.graph)[5]), 9), {
        "NetworkX": lambda: round(nx.rich_club_coefficient(small.nx, normalized=False)[5], 9),
    })  # fmt: skip
    yield Row("measures", f"core_periphery, {size}", lambda: hpg.core_periphery(small.graph).errors)
    whole = _connected(small, device)
    yield Row("measures", f"effective_diameter, {size}", lambda: hpg.effective_diameter(whole.graph) and None, {
        "networkit": lambda: nk.distance.EffectiveDiameter(whole.nk).run() and None,
    })  # fmt: skip
    degrees = np.asarray(small.host.out_degree)
    degrees = degrees[degrees > 0]
    values = degrees.tolist()
    work = f"power_law_fit of {len(values):,} degrees"
    yield Row("measures", work, lambda: round(hpg.power_law_fit(degrees).alpha, 2), {
        "igraph": lambda: round(ig.power_law_fit(values, p_precision=0.5).alpha, 2),
    })  # fmt: skip


def _run(found: object) -> float:
    found.run()
    return round(found.getCoefficient(), 6)


def centralities(scale: int, device: str) -> Iterator[Row]:
    """Of groups, of few vertices, and of spreading."""
    hubs = Given(hpg.datasets.kron(scale - 2).undirected, device)
    G, size = hubs.graph, f"{hubs.host.n_edges:,} arcs"
    yield Row("centralities", f"top_closeness, 10 of {hubs.host.n_vertices:,}", lambda: round(
        float(hpg.top_closeness(G, 10).closeness[-1]), 9), {"networkit": lambda: _top(hubs, False)})  # fmt: skip
    road = Given(hpg.datasets.grid(2 ** (scale // 2 - 1), removed=0).undirected, device)
    work = f"top_closeness, 10 of {road.host.n_vertices:,} of a lattice"
    yield Row("centralities", work, lambda: round(float(hpg.top_closeness(road.graph, 10).closeness[-1]), 9), {
        "networkit": lambda: _top(road, True),
    })  # fmt: skip
    few = np.random.default_rng(5).choice(hubs.host.n_vertices, 20, replace=False)
    names = [int(v) for v in few]
    yield Row("centralities", f"group_closeness_centrality, {size}", lambda: round(
        hpg.group_closeness_centrality(G, hpg.id(few)), 9), {
        "NetworkX": lambda: round(nx.group_closeness_centrality(hubs.nx, names), 9)})  # fmt: skip
    yield Row("centralities", f"group_degree_centrality, {size}", lambda: round(
        hpg.group_degree_centrality(G, hpg.id(few)), 9), {
        "NetworkX": lambda: round(nx.group_degree_centrality(hubs.nx, names), 9)})  # fmt: skip
    small = Given(hpg.datasets.kron(max(scale - 7, 5)).undirected, device)
    size = f"{small.host.n_edges:,} arcs"
    five, states = names[:5], np.random.default_rng(6).random(small.host.n_vertices)
    five = [v % small.host.n_vertices for v in five]
    by_vertex = dict(enumerate(states.tolist()))
    yield Row("centralities", f"group_betweenness_centrality, {size}", lambda: round(
        hpg.group_betweenness_centrality(small.graph, hpg.id(np.array(five))), 6), {
        "NetworkX": lambda: round(nx.group_betweenness_centrality(small.nx, five), 6)})  # fmt: skip
    yield from _by_currents(_connected(small, device))
    yield Row("centralities", f"percolation_centrality, {size}", lambda: round(
        float(hpg.percolation_centrality(small.graph, states).sum()), 6), {
        "NetworkX": lambda: round(sum(nx.percolation_centrality(small.nx, states=by_vertex).values()), 6)})  # fmt: skip
    middle = Given(hpg.datasets.kron(max(scale - 4, 5)).undirected, device)
    size = f"{middle.host.n_edges:,} arcs"
    yield Row("centralities", f"voterank of 10, {size}", lambda: len(hpg.voterank(middle.graph, 10)), {
        "NetworkX": lambda: len(nx.voterank(middle.nx, 10)),
    })  # fmt: skip
    start = np.argsort(-hubs.host.out_degree, kind="stable")[:1]
    yield Row("spreading", f"sir, 64 runs, {hubs.host.n_edges:,} arcs", lambda: hpg.sir(
        G, hpg.id(start), 0.1, 0.3, runs=64) and None)  # fmt: skip
    yield Row("spreading", f"sis, 64 runs of 20 steps, {hubs.host.n_edges:,} arcs", lambda: hpg.sis(
        G, hpg.id(start), 0.1, 0.3, runs=64, max_steps=20) and None)  # fmt: skip
    yield Row("spreading", f"influence_maximization of 10, {hubs.host.n_edges:,} arcs", lambda: len(
        hpg.influence_maximization(G, 10, 0.01).vertices))  # fmt: skip


def _by_currents(given: Given) -> Iterator[Row]:
    size = f"{given.host.n_edges:,} arcs"
    for kind in ("closeness", "betweenness"):
        work = f"current_flow_{kind}_centrality"
        yield Row(
            "centralities", f"{work}, {size}",
            lambda work=work: round(float(getattr(hpg, work)(given.graph).sum()), 6),
            {"NetworkX": lambda work=work: round(sum(getattr(nx, work)(given.nx).values()), 6)},
        )  # fmt: skip


def _connected(given: Given, device: str) -> Given:
    """The largest component."""
    label = hpg.connected_components(given.host).label
    return Given(given.host.subgraph(hpg.id(np.flatnonzero(label == np.bincount(label).argmax()))), device)


def _top(given: Given, lattice: bool) -> float:
    top = nk.centrality.TopCloseness(given.nk, 10, True, lattice)
    top.run()
    return round(float(top.topkScoresList()[-1]), 9)
