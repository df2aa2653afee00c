"""Description of the backend for NetworkX, read at import: this module imports only the standard library."""

from __future__ import annotations

from typing import Any

_SEED = "Draws differ from NetworkX's: the same seed gives other communities, as good as those."
_ORDER = "Of nodes at the same distance the dict has those first that come first in the graph."
_LISTED = "Without `ebunch` NetworkX runs itself."

# Every function of the backend, with what its documentation in NetworkX is to say besides.
FUNCTIONS: dict[str, str] = {
    "adamic_adar_index": _LISTED,
    "all_pairs_dijkstra_path_length": _ORDER,
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "average_clustering": "",
    "average_shortest_path_length": "",
    "betweenness_centrality": "The sources that `k` and `seed` draw are NetworkX's.",
    "bfs_layers": "From one source; NetworkX itself takes several.",
    "bridges": "",
    "center": "",
    "closeness_centrality": "Without `sp`.",
    "clustering": "",
    "connected_components": "",
    "core_number": "",
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": "",
    "dijkstra_path_length": "",
    "eccentricity": "",
    "edge_betweenness_centrality": "The sources that `k` and `seed` draw are NetworkX's.",
    "eigenvector_centrality": "",
    "harmonic_centrality": "",
    "has_bridges": "",
    "has_path": "",
    "hits": 'By power iteration whatever the `method`; for "svd" `nstart`, which changes no result, is not read.',
    "is_bipartite": "",
    "is_connected": "",
    "is_directed_acyclic_graph": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "jaccard_coefficient": _LISTED,
    "katz_centrality": "",
    "leiden_communities": f"By modularity alone; `theta` is not read. {_SEED}",
    "louvain_communities": _SEED,
    "modularity": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "",
    "periphery": "",
    "radius": "",
    "resource_allocation_index": _LISTED,
    "shortest_path_length": _ORDER,
    "single_source_dijkstra_path_length": _ORDER,
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "square_clustering": "",
    "transitivity": "",
    "triangles": "",
    "weakly_connected_components": "",
}
# Parameters that NetworkX's own functions do not have.
PARAMETERS: dict[str, dict[str, str]] = {
    "pagerank": {
        "dtype : dtype, optional (default: float64)": "Type in which ranks are computed: float32 or float64.",
    },
}


def get_info() -> dict[str, Any]:
    """What the entry point ``networkx.backend_info`` is to give."""
    return {
        "backend_name": "hpgraph",
        "project": "hpgraph",
        "package": "hpgraph",
        "short_summary": "Compiled, parallel algorithms on the CPU or on a GPU.",
        "default_config": {"least_edges": 1000},
        "functions": {
            name: {
                **({"additional_docs": notes} if notes else {}),
                **({"additional_parameters": PARAMETERS[name]} if name in PARAMETERS else {}),
            }
            for name, notes in FUNCTIONS.items()
        },
    }
