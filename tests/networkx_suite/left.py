"""What the backend leaves to NetworkX, and why: each reason with the functions, or whole modules, that it holds for."""

# Names of functions, or of modules of NetworkX, which stand for all in them that the backend does not have.
LEFT: dict[str, str] = {
    "no algorithm of hpgraph answers it": """
        algorithms.asteroidal algorithms.bipartite.cluster algorithms.bipartite.redundancy
        algorithms.broadcasting algorithms.centrality.betweenness_subset algorithms.centrality.dispersion
        prominent_group edge_load_centrality algorithms.chains algorithms.chordal
        algorithms.community.bipartitions algorithms.community.kernighan_lin algorithms.community.lukes
        algorithms.connectivity algorithms.cycles
        algorithms.d_separation algorithms.dominance algorithms.dominating algorithms.hybrid
        algorithms.isomorphism.tree_isomorphism algorithms.lowest_common_ancestors algorithms.perfect_graph
        algorithms.planarity algorithms.summarization algorithms.time_dependent algorithms.tournament
        algorithms.tree.branchings algorithms.tree.decomposition algorithms.tree.distance_measures
        algorithms.triads algorithms.traversal.beamsearch algorithms.bipartite.extendability
        algorithms.bipartite.link_analysis k_factor algorithms.euler algorithms.node_classification
        all_triangles generalized_degree transitive_closure transitive_closure_dag transitive_reduction
        antichains v_structures colliders dag_to_branching root_to_leaf_paths find_negative_cycle
        algorithms.coloring.equitable_coloring generators.line partition_spanning_tree
        algorithms.centrality.flow_matrix current_flow_betweenness_centrality_subset
        edge_current_flow_betweenness_centrality_subset approximate_current_flow_betweenness_centrality
        common_neighbor_centrality cn_soundarajan_hopcroft ra_index_soundarajan_hopcroft within_inter_cluster
        algorithms.moral algorithms.bipartite.projection incremental_closeness_centrality prim_mst_edges
        greedy_modularity_communities naive_greedy_modularity_communities
    """,
    "its own code calls functions above, or asks for one of their results: these run here by priority": """
        girvan_newman algorithms.community.divisive local_efficiency efficiency bipartite_betweenness_centrality
        bipartite_closeness_centrality algorithms.covering algorithms.bipartite.covering closeness_vitality
        approximate_diameter k_components could_be_isomorphic fast_could_be_isomorphic is_distance_regular
        intersection_array is_strongly_regular metric_closure
    """,
    "the problem is NP-hard, the answer grows exponentially, or it is NetworkX's own approximation": """
        graph_edit_distance optimal_edit_paths optimize_edit_paths optimize_graph_edit_distance
        algorithms.isomorphism.vf2pp is_isomorphic algorithms.approximation algorithms.polynomials
        all_topological_sorts
    """,
    "NetworkX draws or lists the graph, which the first function on it converts": """
        generators.random_graphs generators.community generators.degree_seq generators.directed
        generators.duplication generators.geometric generators.internet_as_graphs generators.intersection
        generators.joint_degree_seq generators.random_clustered generators.spectral_graph_forge generators.trees
        generators.cographs generators.expanders algorithms.bipartite.generators algorithms.smallworld
        algorithms.sparsifiers algorithms.swap algorithms.community.asyn_fluid algorithms.similarity
        generators.nonisomorphic_trees
        generators.atlas LCF_graph generalized_petersen_graph generators.sudoku generators.triads
        generators.mycielski generators.harary_graph generators.interval_graph generators.time_series
        generators.stochastic generators.lattice kneser_graph binomial_tree dorogovtsev_goltsev_mendes_graph
    """,
    "NetworkX reads a few of its dicts, which is sooner done than a conversion": """
        algorithms.boundary algorithms.cuts algorithms.isolate classes is_partition intra_community_edges
        inter_community_edges inter_community_non_edges algorithms.regular algorithms.structuralholes
        is_matching is_maximal_matching is_perfect_matching algorithms.tree.coding algorithms.tree.operations
        algorithms.graphical reconstruct_path algorithms.bridges algorithms.bipartite.basic
        algorithms.non_randomness is_simple_path cost_of_flow faster_could_be_isomorphic
        bipartite_degree_centrality convert relabel node_attribute_xy node_degree_xy is_negatively_weighted
    """,
    "the result is dicts with the attributes of nodes and edges, which are copied one by one in either case": """
        algorithms.flow algorithms.minors algorithms.operators build_auxiliary_edge_connectivity
        build_auxiliary_node_connectivity
    """,
    "files and other formats": "readwrite drawing algorithms.bipartite.edgelist algorithms.bipartite.matrix",
    "NetworkX passes a matrix to SciPy or NumPy, whose solver takes all of the time": """
        linalg algorithms.communicability_alg algorithms.centrality.subgraph_alg
        algorithms.centrality.second_order eigenvector_centrality_numpy kemeny_constant number_of_spanning_trees
        algorithms.walks algorithms.bipartite.spectral
    """,
    "the order of its steps is the answer": """
        generic_bfs_edges bfs_labeled_edges dfs_labeled_edges edge_bfs edge_dfs biconnected_component_edges
        kosaraju_strongly_connected_components lexicographical_topological_sort boruvka_mst_edges
        floyd_warshall_predecessor_and_distance
    """,
    "it numbers cliques in the order in which NetworkX finds them": "make_max_clique_graph make_clique_bipartite",
}
