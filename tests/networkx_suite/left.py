"""What the backend leaves to NetworkX, and why: each reason with the functions, or whole modules, that it holds for."""

# Names of functions, or of modules of NetworkX, which stand for all in them that the backend does not have.
LEFT: dict[str, str] = {
    "hpgraph has it, in a form of its own that is not yet NetworkX's": """
        min_cost_flow max_flow_min_cost percolation_centrality random_spanning_tree simrank_similarity steiner_tree
        weisfeiler_lehman_graph_hash weisfeiler_lehman_subgraph_hashes
    """,
    "no algorithm of hpgraph answers it": """
        algorithms.asteroidal algorithms.bipartite.cluster algorithms.bipartite.redundancy algorithms.broadcasting
        algorithms.centrality.betweenness_subset algorithms.centrality.dispersion prominent_group
        edge_load_centrality algorithms.centrality.reaching
        algorithms.chains algorithms.chordal algorithms.community.bipartitions
        algorithms.community.lukes algorithms.connectivity algorithms.cycles algorithms.d_separation
        algorithms.distance_regular algorithms.dominance algorithms.dominating algorithms.flow
        algorithms.hybrid algorithms.isomorphism algorithms.lowest_common_ancestors algorithms.perfect_graph
        algorithms.planarity algorithms.similarity algorithms.summarization algorithms.time_dependent
        algorithms.tournament algorithms.tree.branchings
        algorithms.tree.decomposition algorithms.tree.distance_measures algorithms.triads algorithms.vitality
        algorithms.traversal.beamsearch algorithms.bipartite.covering
        algorithms.bipartite.extendability algorithms.bipartite.link_analysis algorithms.covering
        k_factor algorithms.euler algorithms.efficiency_measures
        algorithms.node_classification all_triangles generalized_degree transitive_closure transitive_closure_dag
        transitive_reduction antichains v_structures colliders dag_to_branching root_to_leaf_paths
        find_negative_cycle algorithms.coloring.equitable_coloring generators.line
        partition_spanning_tree algorithms.centrality.flow_matrix
        current_flow_betweenness_centrality_subset edge_current_flow_betweenness_centrality_subset
        approximate_current_flow_betweenness_centrality common_neighbor_centrality cn_soundarajan_hopcroft
        ra_index_soundarajan_hopcroft within_inter_cluster algorithms.moral algorithms.bipartite.projection
        incremental_closeness_centrality prim_mst_edges girvan_newman algorithms.community.divisive
        greedy_modularity_communities naive_greedy_modularity_communities
    """,
    "the problem is NP-hard, or the answer grows exponentially": """
        algorithms.approximation algorithms.polynomials all_topological_sorts
    """,
    "NetworkX's draws come one by one from Python's generator: arrays would give another graph for the same seed": """
        generators.random_graphs generators.community generators.degree_seq generators.directed generators.duplication
        generators.geometric generators.internet_as_graphs generators.intersection generators.joint_degree_seq
        generators.random_clustered generators.spectral_graph_forge generators.trees generators.cographs
        generators.expanders algorithms.bipartite.generators algorithms.smallworld algorithms.sparsifiers
        algorithms.swap algorithms.community.asyn_fluid generators.nonisomorphic_trees
    """,
    "the graphs are small, or rarely made": """
        generators.atlas LCF_graph generalized_petersen_graph generators.sudoku generators.triads generators.mycielski
        generators.harary_graph generators.interval_graph generators.time_series generators.stochastic
        generators.lattice kneser_graph binomial_tree dorogovtsev_goltsev_mendes_graph
    """,
    "NetworkX reads a few of its dicts, which is sooner done than a conversion": """
        algorithms.boundary algorithms.cuts algorithms.isolate classes is_partition intra_community_edges
        inter_community_edges inter_community_non_edges algorithms.regular algorithms.structuralholes
        is_matching is_maximal_matching is_perfect_matching algorithms.tree.coding algorithms.tree.operations
        algorithms.graphical reconstruct_path algorithms.bridges algorithms.bipartite.basic
        algorithms.bipartite.centrality bipartite_degree_centrality algorithms.hierarchy algorithms.non_randomness
        is_simple_path convert relabel node_attribute_xy node_degree_xy is_negatively_weighted
    """,
    "the result is dicts with the attributes of nodes and edges, which are copied one by one in either case": """
        algorithms.minors algorithms.operators boykov_kolmogorov dinitz edmonds_karp preflow_push
        shortest_augmenting_path build_residual_network build_auxiliary_edge_connectivity
        build_auxiliary_node_connectivity
    """,
    "files and other formats": "readwrite drawing algorithms.bipartite.edgelist algorithms.bipartite.matrix",
    "NetworkX hands a matrix to SciPy or NumPy, whose solver takes all of the time": """
        linalg algorithms.communicability_alg algorithms.centrality.subgraph_alg algorithms.centrality.second_order
        algorithms.centrality.trophic algorithms.centrality.laplacian eigenvector_centrality_numpy kemeny_constant
        number_of_spanning_trees algorithms.walks algorithms.bipartite.spectral
    """,
    "the order of its steps is the answer": """
        generic_bfs_edges bfs_labeled_edges dfs_labeled_edges edge_bfs edge_dfs biconnected_component_edges
        kosaraju_strongly_connected_components lexicographical_topological_sort boruvka_mst_edges kruskal_mst_edges
        floyd_warshall_predecessor_and_distance
    """,
    "it numbers cliques in the order in which NetworkX finds them": "make_max_clique_graph make_clique_bipartite",
    "sums over all pairs that weigh distances by degrees": "schultz_index gutman_index hyper_wiener_index",
}
