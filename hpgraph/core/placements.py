"""Support matrix: the functions that take a graph, for each placement of its arcs.

Error messages and the tables of docs/streaming.md, docs/several-gpus.md and docs/cluster.md are made from it.
"""

import sys
from typing import NamedTuple

from hpgraph.core.errors import StreamingError

# The public functions of a graph, by subject.
FUNCTIONS = {
    "searches": (
        "bfs dfs sssp shortest_path shortest_path_length astar_path all_shortest_paths all_simple_paths "
        "shortest_simple_paths contraction_hierarchy all_pairs_shortest_path_length k_hop reach k_hop_subgraph "
        "ego_graph landmarks distance_histogram effective_diameter eccentricity diameter radius center periphery"
    ),
    "centralities": (
        "pagerank hits eigenvector_centrality katz_centrality degree_centrality in_degree_centrality "
        "out_degree_centrality closeness_centrality harmonic_centrality betweenness_centrality "
        "edge_betweenness_centrality voterank group_degree_centrality group_in_degree_centrality "
        "group_out_degree_centrality group_closeness_centrality group_betweenness_centrality "
        "percolation_centrality top_closeness current_flow_closeness_centrality current_flow_betweenness_centrality"
    ),
    "measures": (
        "density isolates reciprocity average_neighbor_degree average_degree_connectivity "
        "degree_assortativity_coefficient numeric_assortativity_coefficient attribute_assortativity_coefficient "
        "rich_club_coefficient dyad_census triadic_census core_periphery"
    ),
    "structure": (
        "connected_components condensation core_number degeneracy_ordering k_core k_shell triangle_count triangles "
        "clustering average_clustering transitivity square_clustering k_truss truss_number "
        "find_cliques maximum_clique count_cliques graphlet_degrees graphlet_counts subgraph_isomorphisms "
        "count_subgraph_isomorphisms biconnected_components bridges articulation_points "
        "minimum_spanning_forest maximum_spanning_forest random_spanning_tree steiner_tree color_refinement "
        "weisfeiler_lehman_graph_hash weisfeiler_lehman_subgraph_hashes is_bipartite bipartite_sets is_dag "
        "is_directed_acyclic_graph topological_sort dag_longest_path"
    ),
    "communities and labels": (
        "louvain leiden infomap ecg label_propagation_communities cdlp spectral_clustering local_cluster "
        "k_clique_communities slpa paris modularity community_quality partition_quality conductance silhouette "
        "map_equation label_propagation label_spreading heat_kernel belief_propagation"
    ),
    "similarity": (
        "jaccard jaccard_coefficient cosine overlap sorensen common_neighbors adamic_adar adamic_adar_index "
        "resource_allocation resource_allocation_index simrank_similarity"
    ),
    "sets, flows and walks": (
        "maximal_independent_set maximal_matching maximum_bipartite_matching max_weight_matching greedy_color "
        "maximum_flow min_cost_flow max_flow_min_cost minimum_cut stoer_wagner gomory_hu_tree edge_connectivity "
        "node_connectivity edge_disjoint_paths node_disjoint_paths random_walk node2vec_walk sample_neighbors "
        "sir sis influence_maximization"
    ),
    "programs": "run",
}
_ON_WORKERS = (
    "bfs sssp pagerank eigenvector_centrality katz_centrality degree_centrality in_degree_centrality "
    "out_degree_centrality betweenness_centrality connected_components core_number triangle_count triangles "
    "transitivity run"
)
EVERYTHING = frozenset(name for names in FUNCTIONS.values() for name in names.split())


class Placement(NamedTuple):
    """A placement of a graph's arcs.

    ``where`` continues "this graph"; ``remedy`` is the advice for functions that are not in ``serves``, a list of
    names; ``only`` has the conditions of those that are served in part; ``heads`` are the columns of the table.
    """

    where: str
    remedy: str
    serves: str
    only: dict[str, str]
    heads: tuple[str, str]

    def table(self) -> str:
        """Markdown table of the functions of each subject that the placement supports, and the others."""
        served = self.serves.split()
        rows = ["|  | " + " | ".join(self.heads) + " |", "| --- | --- | --- |"]
        for subject, names in FUNCTIONS.items():
            sides: tuple[list[str], list[str]] = ([], [])
            for name in names.split():
                limit = f" ({self.only[name]})" if name in self.only else ""
                sides[name not in served].append(f"`{name}`{limit}")
            rows.append(f"| {subject} | {', '.join(sides[0])} | {', '.join(sides[1])} |")
        return "\n".join(rows)


PLACEMENTS = {
    "in pages": Placement(
        "stays in pages",
        "load it with G.in_memory(), or use what streams (vertex programs and most of what is made of them: "
        "docs/streaming.md)",
        (
            "bfs sssp shortest_path shortest_path_length all_pairs_shortest_path_length k_hop reach ego_graph "
            "landmarks distance_histogram "
            "effective_diameter density isolates eccentricity diameter radius center periphery pagerank hits "
            "eigenvector_centrality katz_centrality degree_centrality "
            "in_degree_centrality out_degree_centrality closeness_centrality harmonic_centrality "
            "betweenness_centrality connected_components core_number k_core k_shell triangle_count transitivity "
            "label_propagation label_spreading heat_kernel run"
        ),
        {
            "betweenness_centrality": "by numbers of arcs", "connected_components": "weak",
            **dict.fromkeys(("triangle_count", "transitivity"), "undirected graphs"),
            **dict.fromkeys(("shortest_path", "shortest_path_length"), "by numbers of arcs"),
        },
        ("streams", "takes `G.in_memory()`"),
    ),
    "on several devices": Placement(
        "is divided between devices",
        "G.whole is the graph on the first device",
        (
            "bfs sssp k_hop ego_graph pagerank hits eigenvector_centrality katz_centrality in_degree_centrality "
            "out_degree_centrality connected_components core_number k_core k_shell run"
        ),
        {"connected_components": "weak, on GPUs", "run": 'of directed graphs not `edges = "all"`'},
        ("from each device's arcs", "from the whole graph, put together when first asked for"),
    ),
    "on a cluster": Placement(
        "lies on a cluster's workers",
        f"what runs there is {', '.join(sorted(_ON_WORKERS.split()))}; for others load it on one machine, with "
        "hpgraph.read or hpgraph.open",
        _ON_WORKERS,
        {
            "betweenness_centrality": "by numbers of arcs", "connected_components": "weak",
            "run": "vertex programs", "pagerank": "without weights, of one personalization",
            **dict.fromkeys(("core_number", "triangles", "triangle_count", "transitivity"), "undirected graphs"),
        },
        ("on the workers", "on one machine"),
    ),
}  # fmt: skip


def not_served(placement: str, why: str | None = None, *, where: str | None = None) -> StreamingError:
    """The error of a function, or a program, that a graph's placement does not serve; `why` and `where` begin it."""
    place = PLACEMENTS[placement]
    why = f"{_called_function()} needs the whole topology in memory" if why is None else why
    return StreamingError(f"{why}, and this graph {place.where if where is None else where}: {place.remedy}")


def check_serves(placement: str, name: str, directed: bool) -> None:
    """Refuse a public function that the table does not have for a placement, or not for directed graphs."""
    place = PLACEMENTS[placement]
    if name not in place.serves.split():
        raise not_served(placement, f"{name} needs the whole topology in memory")
    if directed and place.only.get(name) == "undirected graphs":
        what = name.removesuffix("_count").replace("_", " ").rstrip("s")
        raise not_served(placement, f"{what}s are of undirected graphs, which directed=False or G.undirected make")


def _called_function() -> str:
    """Name of the public function that was called: the outermost frame in the algorithms."""
    name, frame = "this", sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("hpgraph.algorithms"):
            name = frame.f_code.co_qualname.partition(".")[0]
        frame = frame.f_back  # type: ignore[assignment]
    return name
