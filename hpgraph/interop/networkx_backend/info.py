"""Description of the backend for NetworkX, read at import: this module imports only the standard library."""

from typing import Any

# Every function of the backend, by the module that has it.
FAMILIES: dict[str, str] = {
    "centrality": """
        pagerank hits katz_centrality eigenvector_centrality betweenness_centrality edge_betweenness_centrality
        closeness_centrality harmonic_centrality newman_betweenness_centrality percolation_centrality
    """,
    "clustering": "clustering average_clustering transitivity triangles square_clustering find_cliques "
    "find_cliques_recursive enumerate_all_cliques node_clique_number max_weight_clique",
    "components": """
        connected_components weakly_connected_components node_connected_component number_connected_components
        number_weakly_connected_components number_strongly_connected_components is_connected is_weakly_connected
        is_strongly_connected strongly_connected_components condensation attracting_components
        number_attracting_components is_attracting_component is_semiconnected biconnected_components
        articulation_points is_biconnected bridges has_bridges is_bipartite flow_hierarchy
    """,
    "paths": """
        has_path shortest_path shortest_path_length single_source_shortest_path single_source_shortest_path_length
        single_target_shortest_path single_target_shortest_path_length all_pairs_shortest_path
        all_pairs_shortest_path_length bidirectional_shortest_path predecessor all_shortest_paths
        single_source_all_shortest_paths all_pairs_all_shortest_paths dijkstra_path dijkstra_path_length
        single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length multi_source_dijkstra
        multi_source_dijkstra_path multi_source_dijkstra_path_length dijkstra_predecessor_and_distance
        all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_dijkstra_path_length bidirectional_dijkstra
        bellman_ford_path bellman_ford_path_length single_source_bellman_ford single_source_bellman_ford_path
        single_source_bellman_ford_path_length bellman_ford_predecessor_and_distance all_pairs_bellman_ford_path
        all_pairs_bellman_ford_path_length goldberg_radzik negative_edge_cycle floyd_warshall floyd_warshall_numpy
        astar_path astar_path_length all_simple_paths all_simple_edge_paths shortest_simple_paths johnson
        voronoi_cells
    """,
    "traversal": """
        bfs_edges bfs_tree bfs_predecessors bfs_successors bfs_layers dfs_edges dfs_tree dfs_predecessors dfs_successors
        dfs_preorder_nodes dfs_postorder_nodes descendants ancestors descendants_at_distance topological_generations
        topological_sort is_directed_acyclic_graph has_cycle is_aperiodic dag_longest_path dag_longest_path_length
    """,
    "distances": """
        eccentricity diameter radius center periphery average_shortest_path_length global_efficiency harmonic_diameter
        wiener_index hyper_wiener_index schultz_index gutman_index barycenter global_reaching_centrality
        local_reaching_centrality
    """,
    "cores": "core_number onion_layers k_core k_shell k_crust k_corona k_truss ego_graph complement reverse",
    "trees": """
        is_tree is_forest is_arborescence is_branching minimum_spanning_edges maximum_spanning_edges
        minimum_spanning_tree maximum_spanning_tree kruskal_mst_edges random_spanning_tree steiner_tree
    """,
    "structures": """
        maximal_matching maximal_independent_set greedy_color color sets hopcroft_karp_matching eppstein_matching
        minimum_weight_full_matching to_vertex_cover
        max_weight_matching min_weight_matching
    """,
    "flows": """
        maximum_flow maximum_flow_value minimum_cut minimum_cut_value stoer_wagner gomory_hu_tree edge_connectivity
        local_edge_connectivity minimum_edge_cut minimum_st_edge_cut
    """,
    "minimum_cost_flows": "network_simplex capacity_scaling min_cost_flow min_cost_flow_cost max_flow_min_cost",
    "connectivity": """
        node_connectivity local_node_connectivity all_pairs_node_connectivity average_node_connectivity minimum_node_cut
        minimum_st_node_cut edge_disjoint_paths node_disjoint_paths
    """,
    "groups": """
        group_degree_centrality group_in_degree_centrality group_out_degree_centrality group_closeness_centrality
        group_betweenness_centrality
    """,
    "degrees": """
        degree_centrality in_degree_centrality out_degree_centrality average_neighbor_degree average_degree_connectivity
        degree_assortativity_coefficient degree_pearson_correlation_coefficient degree_mixing_dict degree_mixing_matrix
        attribute_assortativity_coefficient numeric_assortativity_coefficient attribute_mixing_dict
        attribute_mixing_matrix reciprocity overall_reciprocity rich_club_coefficient s_metric is_regular is_k_regular
        is_eulerian is_semieulerian has_eulerian_path number_of_selfloops is_weighted isolates number_of_isolates
        voterank triadic_census
    """,
    "communities": """
        louvain_communities louvain_partitions leiden_communities leiden_partitions asyn_lpa_communities
        fast_label_propagation_communities label_propagation_communities modularity partition_quality
        k_clique_communities
    """,
    "link_prediction": "jaccard_coefficient adamic_adar_index resource_allocation_index preferential_attachment",
    "similarity": "simrank_similarity weisfeiler_lehman_graph_hash weisfeiler_lehman_subgraph_hashes",
    "solvers": """
        current_flow_closeness_centrality current_flow_betweenness_centrality
        edge_current_flow_betweenness_centrality katz_centrality_numpy constraint effective_size
        laplacian_centrality trophic_levels trophic_differences trophic_incoherence_parameter
    """,
    "matrices": """
        to_scipy_sparse_array from_scipy_sparse_array to_numpy_array from_numpy_array to_pandas_adjacency
        from_pandas_adjacency to_pandas_edgelist from_pandas_edgelist adjacency_matrix incidence_matrix laplacian_matrix
        normalized_laplacian_matrix modularity_matrix directed_modularity_matrix bethe_hessian_matrix google_matrix
        resistance_distance effective_graph_resistance
    """,
    "generators": """
        empty_graph null_graph trivial_graph complete_graph path_graph cycle_graph star_graph wheel_graph ladder_graph
        circular_ladder_graph grid_2d_graph grid_graph hypercube_graph full_rary_tree balanced_tree
        complete_multipartite_graph turan_graph complete_bipartite_graph barbell_graph lollipop_graph tadpole_graph
        circulant_graph caveman_graph connected_caveman_graph ring_of_cliques
        gnp_random_graph fast_gnp_random_graph gnm_random_graph stochastic_block_model random_partition_graph
        planted_partition_graph barabasi_albert_graph watts_strogatz_graph connected_watts_strogatz_graph
        random_regular_graph configuration_model
        karate_club_graph davis_southern_women_graph florentine_families_graph les_miserables_graph bull_graph
        chvatal_graph cubical_graph desargues_graph diamond_graph dodecahedral_graph frucht_graph heawood_graph
        hoffman_singleton_graph house_graph house_x_graph icosahedral_graph krackhardt_kite_graph moebius_kantor_graph
        octahedral_graph pappus_graph petersen_graph sedgewick_maze_graph tetrahedral_graph truncated_cube_graph
        truncated_tetrahedron_graph tutte_graph
    """,
}
FUNCTIONS: dict[str, str] = {name: family for family, names in FAMILIES.items() for name in names.split()}

_SEED = "Draws differ from NetworkX's: the same seed gives other communities, as good as those."
_ONE_OF = "Of several shortest paths it may be another than NetworkX's."
_DIRECTED = f"The heuristic is not called: the path is a shortest one. {_ONE_OF}"
_TREE_ORDER = "The dict is in the order of a search along the tree of shortest paths."
_CLIQUES = "In another order than NetworkX's."
_MATCHING = "Of several maximum matchings it may be another than NetworkX's."
_DISJOINT = "Of several such sets of paths it may be another than NetworkX's."
_BIPARTITE = "Of bipartite graphs. Of several such matchings it may be another than NetworkX's."
_CHEAPEST = "Of several flows of least cost it may be another than NetworkX's."
# Additions to the documentation of functions in NetworkX.
NOTES: dict[str, str] = {
    "betweenness_centrality": "The sources that `k` and `seed` draw are NetworkX's.",
    "astar_path": _DIRECTED,
    "astar_path_length": _DIRECTED,
    "bidirectional_dijkstra": _ONE_OF,
    "bidirectional_shortest_path": _ONE_OF,
    "asyn_lpa_communities": _SEED,
    "capacity_scaling": f"By the network simplex method, of whole numbers. {_CHEAPEST}",
    "closeness_centrality": "Without `sp`.",
    "dag_longest_path": "Of several longest paths, the one with the first last node, then the first before it.",
    "edge_disjoint_paths": _DISJOINT,
    "edge_betweenness_centrality": "The sources that `k` and `seed` draw are NetworkX's.",
    "eppstein_matching": _MATCHING,
    "fast_label_propagation_communities": _SEED,
    "find_cliques": _CLIQUES,
    "find_cliques_recursive": _CLIQUES,
    "global_reaching_centrality": "Without weights.",
    "goldberg_radzik": _TREE_ORDER,
    "greedy_color": "By falling degree alone.",
    "hopcroft_karp_matching": _MATCHING,
    "hits": 'By power iteration whatever the `method`; for "svd" `nstart`, which changes no result, is not read.',
    "group_betweenness_centrality": "Without weights; of a directed graph only where it is strongly connected.",
    "johnson": "Of weights that are not negative.",
    "k_clique_communities": "Without `cliques`. In another order than NetworkX's.",
    "kruskal_mst_edges": "Without `partition`.",
    "laplacian_centrality": "Of undirected graphs.",
    "local_reaching_centrality": "Without weights and `paths`.",
    "leiden_communities": f"By modularity alone; `theta` is not read. {_SEED}",
    "leiden_partitions": f"By modularity alone. {_SEED}",
    "louvain_communities": _SEED,
    "louvain_partitions": _SEED,
    "maximal_independent_set": "Draws differ from NetworkX's: the same seed gives another set.",
    "max_flow_min_cost": _CHEAPEST,
    "max_weight_clique": "Of `weight=None`. Of several largest cliques it may be another than NetworkX's.",
    "max_weight_matching": _BIPARTITE,
    "maximum_flow": "Of several flows it may be another than NetworkX's.",
    "min_weight_matching": _BIPARTITE,
    "min_cost_flow": _CHEAPEST,
    "minimum_edge_cut": "Of several cuts of a whole graph it may be another than NetworkX's.",
    "minimum_node_cut": "Of several cuts of a whole graph it may be another than NetworkX's.",
    "minimum_weight_full_matching": "Of several matchings of least weight it may be another than NetworkX's.",
    "network_simplex": _CHEAPEST,
    "node_disjoint_paths": _DISJOINT,
    "random_spanning_tree": "Of `multiplicative=True`. The same seed gives another tree, of the same distribution.",
    "reverse": "Of graphs without attributes of nodes and edges, which NetworkX does not convert here.",
    "rich_club_coefficient": "Without comparison with a random graph: `normalized=False`.",
    "stoer_wagner": "Of several minimum cuts it may be another than NetworkX's.",
    "shortest_path": f"Between two nodes: {_ONE_OF[0].lower()}{_ONE_OF[1:]}",
    "shortest_simple_paths": "Paths of equal length may come in another order than NetworkX's.",
    "simrank_similarity": "Of graphs without an attribute 'weight' of edges, which NetworkX does not convert here.",
    "single_source_bellman_ford": _TREE_ORDER,
    "steiner_tree": "By Mehlhorn's method. Of several such trees it may be another than NetworkX's.",
}
# Parameters that NetworkX's own functions do not have.
PARAMETERS: dict[str, dict[str, str]] = {
    "pagerank": {"dtype : dtype, optional (default: float64)": "Type in which ranks are computed: float32 or float64."}
}


def get_info() -> dict[str, Any]:
    """The value of the entry point ``networkx.backend_info``."""
    return {
        "backend_name": "hpgraph",
        "project": "hpgraph",
        "package": "hpgraph",
        "short_summary": "Compiled, parallel algorithms on the CPU or on a GPU.",
        "default_config": {"least_edges": 1000},
        "functions": {
            name: {
                **({"additional_docs": NOTES[name]} if name in NOTES else {}),
                **({"additional_parameters": PARAMETERS[name]} if name in PARAMETERS else {}),
            }
            for name in sorted(FUNCTIONS)
        },
    }
