"""What every function of the NetworkX backend is called with, beside NetworkX's own."""

import math
import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas
import scipy.sparse

from hpgraph.interop.networkx_backend.info import FAMILIES
from hpgraph.interop.networkx_backend.serving import NETWORKX
from tests.interop.networkx_graphs import GRAPHS, NODES, PAIRS, STRONG

REGISTERED = nx.utils.backends._registered_algorithms
TARGETS = {"source": NODES[0], "target": NODES[1]}
FIRST, LAST = next(iter(GRAPHS["acyclic"])), list(GRAPHS["acyclic"])[-1]
WEIGHTED = {"weight": "weight", "method": "bellman-ford"}
# A cycle of negative length.
CYCLE = nx.DiGraph([(0, 1, {"weight": 1}), (1, 2, {"weight": -4}), (2, 0, {"weight": 2})])
SVD = {"method": "svd"} if NETWORKX >= (3, 7) else {}
START = {node: number % 3 + 1 for number, node in enumerate(GRAPHS["arcs"])}

KINDS = (nx.Graph, nx.DiGraph)
PIPES = nx.DiGraph()
PIPES.add_edges_from([(0, 1), (2, 3)])
PIPES.add_weighted_edges_from([(1, 2, 4), (0, 2, 1), (3, 3, 2)], weight="capacity")
# Of each problem one flow is the cheapest; the last two have none.
DELIVERIES = nx.DiGraph(
    [(0, 1, {"capacity": 4, "weight": 3}), (0, 2, {"capacity": 10, "weight": 6}), (1, 3, {"weight": 1}),
     (2, 3, {"capacity": 5, "weight": 2}), (1, 2, {"capacity": 0}), (3, 3, {"capacity": 2, "weight": -1})]
)  # fmt: skip
nx.set_node_attributes(DELIVERIES, {0: -5, 3: 5}, "demand")
UNMET = nx.DiGraph(DELIVERIES)
UNMET.nodes[3]["demand"] = UNMET.nodes[1]["taken"] = 6
UNMET.nodes[2]["reach"] = float("inf")
BARE = nx.gnp_random_graph(9, 0.3, seed=1, directed=True)
# Labels of several types, which are hashed as text.
LABELLED = nx.DiGraph([(0, 1, {"kind": 1}), (1, 2, {"kind": 1.0}), (2, 0, {"kind": True}), (2, 2, {"kind": "a"})])
nx.set_node_attributes(LABELLED, {0: "x", 1: 1, 2: None}, "mark")
ENDLESS = nx.DiGraph([(0, 1, {"weight": -3}), (1, 0, {"weight": 2, "cost": float("inf"), "room": -1})])
FRAME = pandas.DataFrame([[0, 2.5], [1, 0]], index=["a", "b"], columns=["a", "b"])
EDGES = pandas.DataFrame({"source": ["b", "a", "b"], "target": ["a", "c", "c"], "w": [1, 2, 3], "x": [0.5, 1.5, 2.5]})
# Distinct sums: the lightest matching is unique.
SIDES = nx.Graph()
SIDES.add_weighted_edges_from([("a", "x", 0), ("a", "y", 2.5), ("b", "x", 1), ("b", "y", 7), ("c", "x", -4.5)])
BLOCKS = [[0.3, 0.1, 0], [0.1, 0.2, 1], [0, 1, 0.5]]


def same(names: list[str], calls: list[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    """The same calls of several functions."""
    return {name: list(calls) for name in names}


# For each function what it is called with: the graph's name and further arguments. Floats wherever the results are
# floats whatever the weights: kernels for them there are.
# fmt: off
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "pagerank": [("arcs",), ("halves", {"personalization": {"v3": 1, "v5": 2}}), ("halves", {"max_iter": 2})],
    "hits": [
        ("arcs", {"tol": 1e-12, **SVD}),
        *(
            [
                ("arcs", {"tol": 1e-10, "nstart": START, "max_iter": 500, "normalized": False}),
                ("arcs", {"max_iter": 1}),
                ("arcs", {"nstart": dict(list(START.items())[1:])}),
                ("arcs", {"nstart": dict.fromkeys(START, 0)}),
                ("arcs", {"method": "no such"}),
            ]
            if SVD
            else []
        ),
    ],
    "katz_centrality": [("whole", {"alpha": 0.05}), ("whole", {"alpha": 0.05, "max_iter": 2})],
    "eigenvector_centrality": [("connected", {"max_iter": 500})],
    "betweenness_centrality": [("whole", {"k": 7, "seed": 5}), ("directed", {"normalized": False})],
    "edge_betweenness_centrality": [("whole",), ("directed",)],
    "closeness_centrality": [("directed",), ("whole", {"u": "v3"})],
    "harmonic_centrality": [("directed",)],
    "clustering": [("whole",), ("whole", {"nodes": "v3"}), ("whole", {"nodes": ["v3", "v5", "absent"]})],
    "average_clustering": [("whole",)],
    "transitivity": [("whole",)],
    "triangles": [("whole",)],
    "square_clustering": [("connected",)],
    "connected_components": [("whole",)],
    "number_connected_components": [("whole",)],
    "is_connected": [("whole",), ("connected",)],
    "node_connected_component": [("whole", "v3")],
    "weakly_connected_components": [("directed",)],
    "number_weakly_connected_components": [("directed",)],
    "is_weakly_connected": [("directed",)],
    "number_strongly_connected_components": [("directed",)],
    "is_strongly_connected": [("directed",), ("strong",)],
    "strongly_connected_components": [("directed",), ("acyclic",), ("null digraph",)],
    "condensation": [("directed",), ("acyclic",), ("null digraph",), ("path", [{0, 1}, {2}, {3}])],
    "attracting_components": [("directed",), ("acyclic",)],
    "number_attracting_components": [("directed",), ("null digraph",)],
    "is_attracting_component": [("directed",), ("strong",)],
    "is_semiconnected": [("directed",), ("strong",), ("acyclic",), ("path",), ("null digraph",)],
    "biconnected_components": [("whole",), ("blocks",), ("tree",), ("several",), ("null",)],
    "articulation_points": [("whole",), ("blocks",), ("tree",), ("null",)],
    "is_biconnected": [("whole",), ("blocks",), ("null",), (nx.cycle_graph(4),)],
    "bridges": [("whole",), ("blocks",)],
    "has_bridges": [("connected",)],
    "is_bipartite": [("whole",)],
    **same(["core_number", "onion_layers"], [("whole",), ("blocks",), ("null",), (nx.Graph([(0, 0)]),)]),
    **same(["k_core", "k_shell", "k_crust"], [("colored",), ("blocks", 1), ("directed", 3), ("null",)]),
    "k_corona": [("colored", 2), ("blocks", 1)],
    "k_truss": [("colored", 3), ("blocks", 2), ("blocks", 9), ("null", 3)],
    "ego_graph": [("colored", "v3"), ("directed", STRONG[0], 2), ("colored", "v5", {"radius": 4, "distance": "weight"}),
        ("whole", "absent")],
    "complement": [("colored",), ("directed",), ("null",)],
    **same(["is_tree", "is_forest"], [("tree",), ("blocks",), ("acyclic",), ("path",), ("null",)]),
    **same(["is_arborescence", "is_branching"], [("path",), ("acyclic",), ("null digraph",)]),
    **same(["minimum_spanning_edges", "maximum_spanning_edges"], [("colored",), ("blocks", {"data": False}),
        ("halves", {"weight": "no such"}), ("null",)]),
    **same(["minimum_spanning_tree", "maximum_spanning_tree"], [("colored",), ("halves",), ("null",)]),
    "kruskal_mst_edges": [("colored", True), ("blocks", False, {"data": False}), ("null", True),
        (nx.Graph([(0, 1, {"weight": math.nan})]), True)],
    **same(["network_simplex", "capacity_scaling", "min_cost_flow_cost"], [(DELIVERIES,), (UNMET,),
        (ENDLESS,), (ENDLESS, {"weight": "no such", "capacity": "room"}),
        (DELIVERIES, {"demand": "no such"}), (UNMET, {"demand": "taken"}), ("null digraph",)]),
    "min_cost_flow": [(ENDLESS, {"weight": "cost"}), (UNMET, {"demand": "reach"}), (DELIVERIES,)],
    "max_flow_min_cost": [(ENDLESS, 0, 1), (ENDLESS, 0, 9), ("path", 0, 3, {"capacity": "weight", "weight": "cost"}),
        (PIPES, 0, 3), (nx.Graph(PIPES), 0, 3), ("path", 3, 0), ("path", 0, 3)],
    "has_path": [("whole", *NODES), ("whole", "v3", "absent")],
    "shortest_path": [("tree", *NODES), ("single", {**TARGETS, "weight": "weight"}),
        ("acyclic", {**WEIGHTED, "source": LAST}), ("whole", "v3"), ("whole", "v3", {"weight": "weight"}),
        ("directed", None, STRONG[0], "weight"), ("whole",), ("connected", {"weight": "weight"}),
        ("connected", "absent"), ("whole", "v3", "absent"), ("whole", "v3", "v7"), ("whole", {"method": "no such"}),
        ("path", 3, 0)],
    "shortest_path_length": [("connected", *NODES), ("connected", *NODES, "weight"),
        ("acyclic", {**WEIGHTED, "source": LAST}), ("directed", STRONG[0]), ("directed", None, STRONG[0], "weight"),
        ("connected", {"weight": "weight"}), ("connected", "absent"), ("whole", "v3", "absent")],
    "single_source_shortest_path_length": [("whole", "v3"), ("whole", "v3", 2), ("whole", "absent")],
    "single_source_shortest_path": [("whole", "v3"), ("directed", STRONG[1], 3), ("several", "v3")],
    **same(["single_target_shortest_path", "single_target_shortest_path_length"], [("whole", "v3", 2),
        ("whole", "absent")]),
    **same(["all_pairs_shortest_path", "all_pairs_shortest_path_length"], [("connected",), ("directed", 2)]),
    "bidirectional_shortest_path": [("tree", *NODES), ("whole", "v3", "absent"), ("path", 3, 0)],
    "predecessor": [("whole", "v3"), ("directed", STRONG[0], {"cutoff": 2}),
        ("whole", "v3", "v5", {"return_seen": True}), ("whole", "v3", "absent"),
        ("whole", "v3", {"return_seen": True, "cutoff": 0}), ("whole", "absent")],
    **same(["all_shortest_paths"], [("whole", *NODES), ("halves", *NODES, "weight"), ("whole", "v3", "absent"),
        ("acyclic", LAST, FIRST, "weight", "bellman-ford"), ("whole", "v3", "v3"),
        ("connected", *NODES, "weight", "no such")]),
    "single_source_all_shortest_paths": [("connected", "v3"), ("halves", "v3", "weight")],
    "all_pairs_all_shortest_paths": [("connected",), ("directed", "weight")],
    "dijkstra_path": [("halves", *NODES), ("strong", *STRONG), ("whole", "v3", "absent"), ("whole", "absent", "v3")],
    "dijkstra_path_length": [("halves", *NODES), ("strong", *STRONG), ("whole", "v3", "absent")],
    "single_source_dijkstra": [("whole", "v3"), ("halves", "v3", {"cutoff": 4}), ("strong", *STRONG),
        ("halves", "v3", "v3")],
    **same(["single_source_dijkstra_path", "single_source_dijkstra_path_length"], [("whole", "v3"),
        ("directed", STRONG[1], 5), ("halves", "v5"), ("whole", "absent")]),
    "multi_source_dijkstra": [("whole", ["v3", "v5", "v7"]), ("halves", {"v3"}, "v3"),
        ("directed", STRONG, NODES[0], 3), ("whole", [])],
    **same(["multi_source_dijkstra_path", "multi_source_dijkstra_path_length"], [("whole", ["v3", "v5"]),
        ("directed", STRONG, 4), ("whole", ["absent"]), ("whole", [])]),
    "dijkstra_predecessor_and_distance": [("whole", "v3"), ("directed", STRONG[0]), ("whole", "absent")],
    **same(["all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length"], [("halves",),
        ("directed", 4), ("null",)]),
    "bidirectional_dijkstra": [("single", *NODES), ("whole", "v3", "absent"), ("path", 3, 0), ("single", "v3", "v3")],
    **same(["bellman_ford_path", "bellman_ford_path_length"], [("acyclic", LAST, FIRST), ("single", *NODES),
        ("whole", "v3", "absent"), ("whole", "absent", "absent")]),
    **same(["single_source_bellman_ford", "single_source_bellman_ford_path", "single_source_bellman_ford_path_length",
        "bellman_ford_predecessor_and_distance", "goldberg_radzik"], [("acyclic", LAST), ("single", "v3"),
        ("whole", "absent"), (CYCLE, 0), (nx.Graph([(0, 1, {"weight": -1})]), 0)]),
    **same(["all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length"], [("acyclic",), ("single",)]),
    "negative_edge_cycle": [("acyclic",), (CYCLE,), ("whole",), ("null",), (nx.Graph([(0, 1, {"weight": -1})]),)],
    "floyd_warshall": [("halves",), ("directed",)],
    "floyd_warshall_numpy": [("directed",), ("halves", list(GRAPHS["halves"])[::-1]), ("whole", ["v3"])],
    "bfs_edges": [("whole", "v3"), ("whole", "v3", {"depth_limit": 2}), ("whole", "absent"), ("several", "v3")],
    "bfs_tree": [("directed", STRONG[0]), ("whole", "v3", {"depth_limit": 1}), ("whole", "absent")],
    "bfs_predecessors": [("whole", "v3"), ("directed", STRONG[0], 2)],
    "bfs_successors": [("whole", "v3"), ("path", 3), ("directed", STRONG[0], 0)],
    "bfs_layers": [("whole", "v3"), ("directed", STRONG[1]), ("whole", ["v3", "v5"]), ("whole", ["absent"])],
    **same(["dfs_edges", "dfs_tree", "dfs_predecessors", "dfs_successors", "dfs_preorder_nodes", "dfs_postorder_nodes"],
        [("whole",), ("directed", STRONG[0]), ("several", "v3"), ("whole", "absent"), ("acyclic",), ("null",)]),
    "descendants": [("directed", STRONG[0]), ("directed", "absent")],
    "ancestors": [("directed", STRONG[0]), ("whole", "absent")],
    "descendants_at_distance": [("whole", "v3", 2), ("whole", "absent", 2)],
    **same(["topological_generations", "topological_sort"], [("acyclic",), ("path",), ("directed",), ("whole",)]),
    **same(["is_directed_acyclic_graph", "has_cycle"], [("directed",), ("acyclic",), ("whole",)]),
    "is_aperiodic": [("strong",), (nx.cycle_graph(4, create_using=nx.DiGraph),), ("whole",), ("null digraph",)],
    "dag_longest_path": [("acyclic",), ("path",), ("null digraph",), ("directed",)],
    "dag_longest_path_length": [("acyclic",), ("path",), ("acyclic", None)],
    "eccentricity": [("connected",), ("whole",)],
    "diameter": [("connected",), ("whole",)],
    "radius": [("strong",)],
    "center": [("connected",)],
    "periphery": [("connected",)],
    "average_shortest_path_length": [("halves", {"weight": "weight"}), ("whole",)],
    "modularity": [("whole", [set(list(GRAPHS["whole"])[:20]), set(list(GRAPHS["whole"])[20:])]), ("whole", [{"v1"}])],
    "jaccard_coefficient": [("connected", PAIRS), ("connected", [("v3", "absent")])],
    "adamic_adar_index": [("connected", PAIRS)],
    "resource_allocation_index": [("connected", PAIRS)],
    "global_efficiency": [("whole",), ("null",), ("several",)],
    "harmonic_diameter": [("whole",), ("directed", {"weight": "weight"}), ("null",), (nx.empty_graph(3),)],
    "wiener_index": [("connected",), ("strong", "weight"), ("halves", "weight"), ("whole",), ("null",)],
    **same(["hyper_wiener_index", "schultz_index", "gutman_index"], [("connected",), ("halves", "weight"), ("whole",),
        ("null",), (nx.Graph([(0, 0), (0, 1)]),)]),
    "global_reaching_centrality": [("whole",), ("directed",), ("null",), (nx.Graph([(0, 0)]),)],
    "local_reaching_centrality": [("whole", "v3"), ("directed", STRONG[0]), ("whole", "absent"), ("null", 0)],
    "flow_hierarchy": [("directed",), ("directed", "weight"), ("acyclic",), ("null digraph",), ("whole",)],
    "laplacian_centrality": [("whole",), ("halves", {"normalized": False}), ("whole", {"nodelist": ["v3", "v3"]}),
        ("whole", {"nodelist": ["v5", "v3"], "weight": None}), ("null",), (nx.empty_graph(2),),
        (nx.empty_graph(2), {"normalized": False}), (nx.Graph([(0, 0), (0, 1)]),)],
    **same(["trophic_levels", "trophic_differences", "trophic_incoherence_parameter"], [("acyclic", None), ("path",),
        (nx.DiGraph([(0, 1, {"weight": 3}), (2, 1), (1, 3), (3, 3), (3, 1)]),), ("strong",), ("directed",),
        (nx.DiGraph([(0, 1), (2, 3), (3, 2)]),), (nx.empty_graph(3, create_using=nx.DiGraph),)]),
    "percolation_centrality": [("whole",), ("colored", {"attribute": "size"}), ("halves", {"weight": "weight"}),
        ("directed", {"states": {node: 0.5 ** (k % 5) for k, node in enumerate(GRAPHS["directed"])}}), ("null",),
        (nx.path_graph(2),), (nx.path_graph(3), {"states": {0: 0, 1: 2, 2: 0}}), (nx.empty_graph(1),)],
    "simrank_similarity": [(BARE, *ends, more) for ends in ((), (1,), (1, 3)) for more in ({}, {"max_iterations": 2})]
    + [(BARE, 99), (BARE, 1, 99), ("null",), (nx.empty_graph(2),)],
    **same(["weisfeiler_lehman_graph_hash", "weisfeiler_lehman_subgraph_hashes"], [("whole",),
        ("colored", None, "size"), ("directed", "weight"), ("directed", {"iterations": 1}), ("null",),
        (LABELLED, "kind", "mark", 2, 5), (LABELLED, {"node_attr": "no such"}), (LABELLED, "no such"),
        (LABELLED, {"iterations": 0}), (LABELLED, "kind")]),
    "barycenter": [("connected",), ("strong", "weight"), ("whole",)],
    "maximal_matching": [("whole",), (nx.Graph([(0, 0), (0, 1), (2, 1)]),), ("null",)],
    "greedy_color": [("whole",), ("blocks",), ("null",)],
    "color": [("tree",), ("path",), ("whole",), ("null",), (nx.complete_bipartite_graph(3, 2),)],
    **same(["maximum_flow_value", "minimum_cut_value"], [("directed", *STRONG, {"capacity": "weight"}),
        ("connected", *NODES, {"capacity": "weight"}), ("whole", "v3", "absent"), ("whole", "v3", "v3"),
        ("whole", "v3", "v5"), ("path", 3, 0)]),
    "maximum_flow": [("path", 0, 3, {"capacity": "weight"}), (PIPES, 0, 3), (nx.Graph(PIPES), 0, 3), ("path", 3, 0)],
    "minimum_cut": [(PIPES, 0, 3), (nx.Graph(PIPES), 0, 3), ("path", 3, 0)],
    "edge_connectivity": [("connected",), ("blocks",), ("strong",), ("directed",), ("null",), ("connected", *NODES),
        ("directed", *STRONG), ("whole", "v3"), ("whole", "v3", "absent"), ("whole", "v3", "v3")],
    "local_edge_connectivity": [("connected", *NODES), ("directed", *STRONG), ("whole", "absent", "v3")],
    "minimum_st_edge_cut": [("connected", *NODES), ("directed", *STRONG), ("path", 3, 0), ("whole", "v3", "absent")],
    "gomory_hu_tree": [("whole", "size"), ("connected", "weight"), (nx.Graph(PIPES), "capacity"), ("null",),
        (nx.complete_graph(1),), (nx.path_graph(2),)],
    "enumerate_all_cliques": [("whole",), ("blocks",), (nx.complete_graph(6),), (nx.Graph([(1, 1), (0, 1)]),),
        ("null",)],
    "node_clique_number": [("whole",), ("blocks", "c"), ("whole", ["v3", "v5"]), ("null",)],
    "astar_path": [("tree", *NODES), ("single", *NODES), ("whole", "v3", "absent"), ("whole", "absent", "v3"),
        ("path", 3, 0), ("path", 0, 3, {"cutoff": 2})],
    "astar_path_length": [("halves", *NODES, lambda u, v: 0), ("strong", *STRONG), ("whole", "v3", "absent"),
        ("path", 0, 3, {"cutoff": 3})],
    **same(["all_simple_paths", "all_simple_edge_paths"], [("connected", *NODES, 4), ("directed", *STRONG, 5),
        ("blocks", "a", "f"), ("blocks", "a", ["f", "d", "absent"]), ("blocks", "a", "a"), ("blocks", "a", ["a", "b"]),
        ("blocks", "absent", "a"), ("blocks", "a", 5), ("path", 3, 0), ("path", 0, 3, 2), ("path", 0, 3, -1),
        ("path", 0, 0, 0), ("null", 0, 1)]),
    "degree_centrality": [("whole",), ("directed",), (nx.Graph([(0, 0), (0, 1)]),), (nx.empty_graph(1),)],
    **same(["in_degree_centrality", "out_degree_centrality"], [("directed",)]),
    "average_neighbor_degree": [("whole",), ("directed", "in", "in+out"),
        ("halves", {"nodes": ["v3", "v5"], "weight": "weight"}), ("whole", "in"), ("directed", "no such")],
    "average_degree_connectivity": [("whole",), ("directed", "in", "out"),
        ("halves", {"nodes": ["v3", "v5"], "weight": "weight"}), ("whole", "in"), ("directed", "no such")],
    **same(["degree_assortativity_coefficient", "degree_pearson_correlation_coefficient"], [("connected",),
        ("directed", "in", "out"), ("whole", {"weight": "weight", "nodes": ["v3", "v5", "v7", "v1"]})]),
    "degree_mixing_dict": [("whole",), ("directed", "in", "out", {"normalized": True})],
    "degree_mixing_matrix": [("whole",), ("directed", "in", "out", {"normalized": False}),
        ("halves", {"weight": "weight"})],
    **same(["attribute_assortativity_coefficient", "attribute_mixing_dict", "attribute_mixing_matrix"],
        [("colored", "color"), ("colored", "size", ["v3", "v5", "v7", "v1"])]),
    "numeric_assortativity_coefficient": [("colored", "size"), ("whole", "size")],
    "reciprocity": [("directed",), ("directed", STRONG), ("directed", STRONG[0]), ("whole",),
        (nx.DiGraph([(0, 0), (0, 1)]),)],
    "overall_reciprocity": [("directed",), ("whole",), ("null digraph",), (nx.DiGraph([(0, 0), (0, 1)]),)],
    "rich_club_coefficient": [("connected", {"normalized": False}), ("null", {"normalized": False})],
    "s_metric": [("whole",), ("directed",)],
    "is_regular": [("whole",), (nx.cycle_graph(4, create_using=nx.DiGraph),), ("null",)],
    "is_k_regular": [("whole", 3), (nx.cycle_graph(4), 2), ("null", 2)],
    **same(["is_eulerian", "is_semieulerian", "has_eulerian_path"], [("whole",), ("path",), (nx.cycle_graph(4),),
        (nx.path_graph(4),), ("directed",), ("null",)]),
    "number_of_selfloops": [("whole",), (nx.Graph([(0, 0), (0, 1)]),)],
    "is_weighted": [("colored",), ("halves",), ("halves", next(iter(GRAPHS["halves"].edges))),
        ("colored", ("v1", "v7")), ("colored", ("v1", "absent")), ("null",)],
    **same(["isolates", "number_of_isolates"], [("blocks",), ("several",), ("null",)]),
    "voterank": [("whole",), ("directed",), ("blocks", 2), ("null",)],
    "triadic_census": [("directed",), ("arcs",), ("null digraph",), ("whole",)],
    "partition_quality": [("whole", [set(list(GRAPHS["whole"])[:20]), set(list(GRAPHS["whole"])[20:])])],
    "preferential_attachment": [("connected", PAIRS), ("blocks",), ("connected", [("v3", "absent")])],
    "current_flow_closeness_centrality": [("connected",), ("halves", "weight"), ("whole",), ("null",)],
    "current_flow_betweenness_centrality": [("connected",), ("halves", False, "weight"), ("whole",)],
    "katz_centrality_numpy": [("connected", 0.05), ("arcs", {"alpha": 0.02, "weight": "weight", "normalized": False}),
        ("whole", {"beta": {"v3": 1}}), ("null",)],
    "edge_current_flow_betweenness_centrality": [("connected",), ("halves", False, "weight"), ("whole",)],
    "newman_betweenness_centrality": [("whole",), ("directed", {"normalized": False}), ("halves", {"weight": "weight"}),
        ("whole", "v3", 2), ("halves", "v5", 1.5, {"weight": "weight"}), ("whole", "absent"), ("null",),
        (nx.path_graph(2),)],
    "reverse": [(nx.DiGraph([("b", "a"), ("a", "c"), ("b", "c"), ("c", "c")]),), ("null digraph",),
        (nx.path_graph(3),)],
    "sets": [("tree",), ("whole",), ("blocks", ["a"]), (nx.path_graph(5),), (nx.path_graph(4, nx.DiGraph),)],
    **same(["hopcroft_karp_matching", "eppstein_matching"], [(nx.path_graph(6),), (nx.path_graph(6), [0, 2, 4]),
        (nx.star_graph(1),), ("blocks",), ("whole",)]),
    "minimum_weight_full_matching": [(SIDES,), (SIDES, ["a", "b", "c"]), (SIDES, ["x", "y"], None), (nx.path_graph(4),),
        (nx.star_graph(3),), (nx.Graph([(0, 1), (1, 2), (1, 4), (2, 3)]),)],
    "to_vertex_cover": [(nx.path_graph(4), {"matching": {0: 1, 1: 0, 2: 3, 3: 2}}),
        (nx.star_graph(3), {"matching": {0: 2, 2: 0}}), (SIDES, {"matching": {}}),
        (SIDES, {"matching": {"x": "a", "a": "x"}, "top_nodes": ["a", "b", "c"]})],
    **same(["group_degree_centrality", "group_closeness_centrality"], [("connected", NODES), ("directed", STRONG),
        ("blocks", ["a", "c", "z"]), ("blocks", ["absent"]), ("blocks", []), (nx.path_graph(2), [0, 1]),
        (nx.path_graph(3, nx.DiGraph), [0])]),
    **same(["group_in_degree_centrality", "group_out_degree_centrality"], [("directed", STRONG), ("whole", NODES),
        (nx.path_graph(3, nx.DiGraph), [1, 2]), ("directed", ["absent"])]),
    "group_betweenness_centrality": [("connected", NODES), ("strong", [STRONG, STRONG[:1]]), ("blocks", ["a", "d"]),
        ("connected", NODES, {"normalized": False}), ("blocks", ["a", "d"], {"endpoints": True}), ("blocks", []),
        ("strong", STRONG, {"endpoints": True, "normalized": False}), ("blocks", [["q"]]),
        (nx.path_graph(2), [0, 1])],
    "node_connectivity": [("connected",), ("blocks",), ("null",), (nx.complete_graph(4),), ("directed", *STRONG),
        ("connected", *NODES), ("whole", "v3", "absent"), ("whole", "v3"), ("several", *NODES)],
    "local_node_connectivity": [("connected", *NODES), ("directed", *STRONG), ("strong", STRONG[0], STRONG[0]),
        ("blocks", "a", "z"), ("blocks", "a", "absent")],
    "all_pairs_node_connectivity": [("blocks",), ("blocks", ["a", "f"]), ("path",), ("null",)],
    "average_node_connectivity": [("blocks",), ("path",), ("null",), (nx.cycle_graph(5),)],
    "minimum_st_node_cut": [("blocks", "a", "f"), ("blocks", "a", "b"), ("blocks", "a", "z"), ("path", 0, 3),
        ("strong", *STRONG), ("blocks", "a", "absent"), (nx.petersen_graph(), 0, 7)],
    "johnson": [("single",), ("arcs",), ("null",), ("blocks", "absent")],
    "voronoi_cells": [("single", set(NODES)), ("single", set()), ("arcs", {STRONG[0]}), ("blocks", {"absent"})],
    "constraint": [("connected",), ("arcs", {"weight": "weight"}), ("blocks",)],
    "effective_size": [("connected",), ("blocks",), (nx.Graph([(0, 0), (0, 1), (1, 2), (0, 2)]),)],
    **same(["to_scipy_sparse_array", "adjacency_matrix"], [("whole",), ("arcs",),
        ("directed", STRONG, {"weight": None}), ("whole", ["absent"]), ("null",), ("whole", {"dtype": float}),
        ("whole", []), ("whole", ["v3", "v3"]), (nx.empty_graph(2),)]),
    "to_numpy_array": [("whole",), ("arcs",), ("directed", STRONG, {"weight": None, "nonedge": -1}),
        ("whole", ["absent"]), ("null",)],
    **same(["laplacian_matrix", "normalized_laplacian_matrix"], [("whole",), ("halves",), ("directed", STRONG)]),
    "modularity_matrix": [("whole",), ("halves", {"weight": "weight"})],
    "directed_modularity_matrix": [("directed",), ("arcs", {"weight": "weight"})],
    "bethe_hessian_matrix": [("whole",), ("halves", 2.5)],
    "incidence_matrix": [("whole",), ("directed", {"oriented": True, "weight": "weight"}), ("whole", ["v3"])],
    "google_matrix": [("arcs",), ("directed", {"personalization": {"v3": 1, "v7": 2}, "dangling": {"v3": 1}}),
        ("null",)],
    "resistance_distance": [("connected", *NODES), (nx.Graph([(0, 1, {"w": 0})]), {"weight": "w"}),
        ("halves", {"weight": "weight"}), ("connected", NODES[0]),
        ("whole",), ("null",), ("connected", "absent")],
    "effective_graph_resistance": [("connected",), ("halves", "weight"), ("whole",), ("null",)],
    "from_scipy_sparse_array": [
        (scipy.sparse.csr_array([[0, 2, 0], [1, 0, 3], [0, 0, 4]]), {"create_using": using}) for using in KINDS
    ]
    + [(scipy.sparse.coo_array([[0.0, 1.5], [0, 0]]),), (scipy.sparse.csr_array((2, 3)),)],
    "from_numpy_array": [(np.array([[0, 2, 0], [1, 0, 3], [0, 0, 4]]), {"create_using": using}) for using in KINDS]
    + [(np.eye(2), {"edge_attr": None, "nodelist": "ab"}), (np.ones((2, 3)),), (np.ones(2),)],
    # NetworkX's own code makes these.
    "complete_graph": [(4, using) for using in (*KINDS, nx.MultiGraph)] + [("abc",), (-1,)],
    "complete_multipartite_graph": [(1, 2, 3), (2, -1)],
    "circulant_graph": [(7, [1, 3], {"create_using": nx.DiGraph})],
    "grid_2d_graph": [("ab", {"n": 3, "periodic": (True, False)})],
    "stochastic_block_model": [([20, 30, 1], BLOCKS, {"seed": 5}), ([2], [[1.5]])],
    "gnp_random_graph": [(30, 0.2, {"seed": 7, "directed": True})],
    "barabasi_albert_graph": [(60, 3, 7), (9, 2, 1, nx.path_graph(4))],
    "watts_strogatz_graph": [(60, 4, 0.3, 7)],
    "configuration_model": [([3, 2, 2, 2, 1], {"create_using": using, "seed": 4}) for using in (nx.Graph, None)],
    "to_pandas_adjacency": [("colored",), ("directed", STRONG)],
    "to_pandas_edgelist": [("colored",), ("directed",), ("blocks",), ("null",), ("colored", "label")],
    "from_pandas_adjacency": [(FRAME, {"create_using": using}) for using in KINDS],
    "from_pandas_edgelist": [
        (EDGES, {"create_using": using, "edge_attr": columns})
        for using in KINDS
        for columns in (None, True, "w", ["w", "x"], "no such", [])
    ],
}
# fmt: on

# Functions that are not dispatched by each version that is served.
MISSING = {
    "barycenter", "hyper_wiener_index", "is_weighted", "number_of_selfloops", "leiden_communities", "leiden_partitions"
}  # fmt: skip
CALLS = {name: calls for name, calls in CALLS.items() if name in REGISTERED}
# Functions whose results are drawn, or chosen among others as good: tests of their own say what must hold.
DRAWN = REGISTERED.keys() & {
    "louvain_communities", "leiden_communities", "louvain_partitions", "leiden_partitions", "asyn_lpa_communities",
    "fast_label_propagation_communities", "label_propagation_communities", "maximal_independent_set",
    "find_cliques", "find_cliques_recursive", "max_weight_clique", "shortest_simple_paths", "stoer_wagner",
    "minimum_edge_cut", "minimum_node_cut", "edge_disjoint_paths", "node_disjoint_paths", "max_weight_matching",
    "min_weight_matching", "k_clique_communities", "random_spanning_tree", "steiner_tree",
    # Made as other generators are.
    *(set(FAMILIES["generators"].split()) - CALLS.keys()),
}  # fmt: skip


def public(name: str) -> Any:
    """The function as users call it, with what NetworkX does before it dispatches."""
    module = sys.modules[REGISTERED[name].orig_func.__module__]
    return getattr(module, name)


def in_order(name: str, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether dicts are in NetworkX's order: not in that of the steps of its queue, or of a set, or of predecessors."""
    unordered = {"goldberg_radzik", "floyd_warshall", "condensation", "color", "eppstein_matching"}
    if name in unordered | {"node_clique_number"} or "bellman_ford" in name:
        return False
    return args[-1:] != ["weight"] and kwargs.get("method") != "bellman-ford"
