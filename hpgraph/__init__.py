"""Graph analytics as semiring sparse-matrix products, on CPU and GPU.

Every algorithm is a loop over one generalized sparse matrix-vector product. Three doors lead to it: ready algorithms
(`bfs`, `sssp`, `pagerank`, `triangle_count`), vertex programs (`VertexProgram`) and matrix algebra (`Matrix`,
`hyb_array`). Public names load on first use, so that ``import hpgraph`` itself stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from hpgraph.containers.public import hand_down
from hpgraph.core.config import config
from hpgraph.core.errors import (
    BudgetError,
    CompileError,
    ConvergenceWarning,
    DamagedPageError,
    DeviceError,
    DeviceMemoryError,
    FileFormatError,
    HpgraphError,
    MissingExtraError,
    NegativeCycleError,
    NoPathError,
    StreamingError,
)

if TYPE_CHECKING:
    from hpgraph import algebra, algorithms, csgraph, datasets, formats, interop, io, layout, semiring, viz
    from hpgraph import cluster as cluster
    from hpgraph.algebra.apply import apply
    from hpgraph.algebra.assign import assign, subassign
    from hpgraph.algebra.elementwise import ewise_add, ewise_mult, ewise_union
    from hpgraph.algebra.extract import extract
    from hpgraph.algebra.kronecker import kron, kronecker
    from hpgraph.algebra.mxm import mxm
    from hpgraph.algebra.mxv import mxv, vxm
    from hpgraph.algebra.reduce import reduce
    from hpgraph.algebra.select import select
    from hpgraph.algebra.transpose import transpose
    from hpgraph.algorithms.acyclic import dag_longest_path, is_dag, is_directed_acyclic_graph, topological_sort
    from hpgraph.algorithms.adjacency_operator import AdjacencyOperator
    from hpgraph.algorithms.all_pairs import all_pairs_shortest_path_length
    from hpgraph.algorithms.belief_propagation import BeliefResult, belief_propagation
    from hpgraph.algorithms.betweenness import betweenness_centrality, edge_betweenness_centrality
    from hpgraph.algorithms.bfs import BFSResult, bfs
    from hpgraph.algorithms.biconnected import (
        BiconnectedComponents,
        articulation_points,
        biconnected_components,
        bridges,
    )
    from hpgraph.algorithms.bipartite import bipartite_sets, is_bipartite
    from hpgraph.algorithms.closeness import closeness_centrality, harmonic_centrality
    from hpgraph.algorithms.clustering import average_clustering, clustering, transitivity
    from hpgraph.algorithms.coloring import greedy_color
    from hpgraph.algorithms.communities import Communities
    from hpgraph.algorithms.components import ComponentsResult, connected_components
    from hpgraph.algorithms.condensation import Condensation, condensation
    from hpgraph.algorithms.cores import core_number, degeneracy_ordering, k_core, k_shell
    from hpgraph.algorithms.degree_centrality import degree_centrality, in_degree_centrality, out_degree_centrality
    from hpgraph.algorithms.distance_histogram import distance_histogram
    from hpgraph.algorithms.eccentricity import center, diameter, eccentricity, periphery, radius
    from hpgraph.algorithms.ego import EgoSample, ego_graph, k_hop_subgraph
    from hpgraph.algorithms.eigenvector import eigenvector_centrality
    from hpgraph.algorithms.heat_kernel import heat_kernel
    from hpgraph.algorithms.hits import HITSResult, hits
    from hpgraph.algorithms.independent_set import maximal_independent_set
    from hpgraph.algorithms.katz import katz_centrality
    from hpgraph.algorithms.label_communities import cdlp, label_propagation_communities
    from hpgraph.algorithms.label_spreading import LabelResult, label_propagation, label_spreading
    from hpgraph.algorithms.landmarks import Landmarks, landmarks
    from hpgraph.algorithms.leiden import leiden
    from hpgraph.algorithms.louvain import louvain
    from hpgraph.algorithms.matching import maximal_matching
    from hpgraph.algorithms.maximum_flow import MaximumFlow, maximum_flow
    from hpgraph.algorithms.modularity import modularity, normalized_mutual_information, partition_quality
    from hpgraph.algorithms.neighbor_loader import NeighborLoader
    from hpgraph.algorithms.neighbor_sampling import NeighborSample, sample_neighbors
    from hpgraph.algorithms.pagerank import PageRankResult, pagerank
    from hpgraph.algorithms.pagerank_lanes import PageRankLanesResult
    from hpgraph.algorithms.power_iteration import CentralityResult
    from hpgraph.algorithms.random_walks import node2vec_walk, random_walk
    from hpgraph.algorithms.reach import k_hop, reach
    from hpgraph.algorithms.shortest_path import shortest_path, shortest_path_length
    from hpgraph.algorithms.similar_pairs import SimilarPairs
    from hpgraph.algorithms.similarity import (
        adamic_adar,
        adamic_adar_index,
        common_neighbors,
        cosine,
        jaccard,
        jaccard_coefficient,
        overlap,
        resource_allocation,
        resource_allocation_index,
        sorensen,
    )
    from hpgraph.algorithms.spanning_forest import SpanningForest, minimum_spanning_forest
    from hpgraph.algorithms.spectral_clustering import spectral_clustering
    from hpgraph.algorithms.square_clustering import square_clustering
    from hpgraph.algorithms.sssp import SSSPLanesResult, SSSPResult, sssp
    from hpgraph.algorithms.triangles import triangle_count, triangles
    from hpgraph.algorithms.truss import k_truss, truss_number
    from hpgraph.containers.divided_array import DividedArray
    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.containers.graph import Graph, as_graph
    from hpgraph.containers.streamed_graph import StreamedGraph
    from hpgraph.containers.vertices import id as id
    from hpgraph.core.versions import show_versions
    from hpgraph.engine.definition import Parameter, Property
    from hpgraph.engine.direction import Direction
    from hpgraph.engine.edge_definition import EdgeProperty
    from hpgraph.engine.edge_program import EdgeVertexProgram
    from hpgraph.engine.phases import Phases
    from hpgraph.engine.program import VertexProgram
    from hpgraph.engine.result import RunResult
    from hpgraph.engine.run import run
    from hpgraph.engine.trace import Trace
    from hpgraph.interop.given_edges import from_edges
    from hpgraph.interop.networkx import from_networkx, to_networkx
    from hpgraph.io import convert as convert
    from hpgraph.io import load as load
    from hpgraph.io import open as open
    from hpgraph.io import read as read
    from hpgraph.io import write as write
    from hpgraph.kernels.runtime.techniques import techniques
    from hpgraph.scipy_api.blocks import block_array, block_diag, bmat, hstack, vstack
    from hpgraph.scipy_api.construct import diag, diags, eye
    from hpgraph.scipy_api.divided_matrix import DividedMatrix
    from hpgraph.scipy_api.matrix import Matrix, hyb_array
    from hpgraph.scipy_api.matrix_power import matrix_power
    from hpgraph.scipy_api.random_matrix import random
    from hpgraph.scipy_api.triangle import tril, triu
    from hpgraph.scipy_api.vector import Vector
    from hpgraph.semiring.counter_random import random_bits, uniform, uniform32

__version__ = "0.2.0"

_MODULE_OF = {
    "apply": "hpgraph.algebra.apply",
    "ewise_add": "hpgraph.algebra.elementwise",
    "ewise_mult": "hpgraph.algebra.elementwise",
    "ewise_union": "hpgraph.algebra.elementwise",
    "reduce": "hpgraph.algebra.reduce",
    "select": "hpgraph.algebra.select",
    "assign": "hpgraph.algebra.assign",
    "subassign": "hpgraph.algebra.assign",
    "block_array": "hpgraph.scipy_api.blocks",
    "block_diag": "hpgraph.scipy_api.blocks",
    "bmat": "hpgraph.scipy_api.blocks",
    "diag": "hpgraph.scipy_api.construct",
    "diags": "hpgraph.scipy_api.construct",
    "eye": "hpgraph.scipy_api.construct",
    "hstack": "hpgraph.scipy_api.blocks",
    "random": "hpgraph.scipy_api.random_matrix",
    "vstack": "hpgraph.scipy_api.blocks",
    "extract": "hpgraph.algebra.extract",
    "tril": "hpgraph.scipy_api.triangle",
    "triu": "hpgraph.scipy_api.triangle",
    "kron": "hpgraph.algebra.kronecker",
    "kronecker": "hpgraph.algebra.kronecker",
    "matrix_power": "hpgraph.scipy_api.matrix_power",
    "mxm": "hpgraph.algebra.mxm",
    "mxv": "hpgraph.algebra.mxv",
    "vxm": "hpgraph.algebra.mxv",
    "techniques": "hpgraph.kernels.runtime.techniques",
    "transpose": "hpgraph.algebra.transpose",
    "AdjacencyOperator": "hpgraph.algorithms.adjacency_operator",
    "BeliefResult": "hpgraph.algorithms.belief_propagation",
    "belief_propagation": "hpgraph.algorithms.belief_propagation",
    "betweenness_centrality": "hpgraph.algorithms.betweenness",
    "edge_betweenness_centrality": "hpgraph.algorithms.betweenness",
    "bipartite_sets": "hpgraph.algorithms.bipartite",
    "is_bipartite": "hpgraph.algorithms.bipartite",
    "greedy_color": "hpgraph.algorithms.coloring",
    "maximal_independent_set": "hpgraph.algorithms.independent_set",
    "maximal_matching": "hpgraph.algorithms.matching",
    "dag_longest_path": "hpgraph.algorithms.acyclic",
    "is_dag": "hpgraph.algorithms.acyclic",
    "is_directed_acyclic_graph": "hpgraph.algorithms.acyclic",
    "topological_sort": "hpgraph.algorithms.acyclic",
    "Condensation": "hpgraph.algorithms.condensation",
    "condensation": "hpgraph.algorithms.condensation",
    "BFSResult": "hpgraph.algorithms.bfs",
    "bfs": "hpgraph.algorithms.bfs",
    "ComponentsResult": "hpgraph.algorithms.components",
    "BiconnectedComponents": "hpgraph.algorithms.biconnected",
    "articulation_points": "hpgraph.algorithms.biconnected",
    "biconnected_components": "hpgraph.algorithms.biconnected",
    "bridges": "hpgraph.algorithms.biconnected",
    "closeness_centrality": "hpgraph.algorithms.closeness",
    "harmonic_centrality": "hpgraph.algorithms.closeness",
    "core_number": "hpgraph.algorithms.cores",
    "degeneracy_ordering": "hpgraph.algorithms.cores",
    "k_core": "hpgraph.algorithms.cores",
    "k_shell": "hpgraph.algorithms.cores",
    "distance_histogram": "hpgraph.algorithms.distance_histogram",
    "center": "hpgraph.algorithms.eccentricity",
    "diameter": "hpgraph.algorithms.eccentricity",
    "eccentricity": "hpgraph.algorithms.eccentricity",
    "periphery": "hpgraph.algorithms.eccentricity",
    "radius": "hpgraph.algorithms.eccentricity",
    "k_hop": "hpgraph.algorithms.reach",
    "reach": "hpgraph.algorithms.reach",
    "shortest_path": "hpgraph.algorithms.shortest_path",
    "shortest_path_length": "hpgraph.algorithms.shortest_path",
    "LabelResult": "hpgraph.algorithms.label_spreading",
    "label_propagation": "hpgraph.algorithms.label_spreading",
    "label_spreading": "hpgraph.algorithms.label_spreading",
    "Landmarks": "hpgraph.algorithms.landmarks",
    "landmarks": "hpgraph.algorithms.landmarks",
    "cdlp": "hpgraph.algorithms.label_communities",
    "label_propagation_communities": "hpgraph.algorithms.label_communities",
    "leiden": "hpgraph.algorithms.leiden",
    "louvain": "hpgraph.algorithms.louvain",
    "modularity": "hpgraph.algorithms.modularity",
    "partition_quality": "hpgraph.algorithms.modularity",
    "normalized_mutual_information": "hpgraph.algorithms.modularity",
    "spectral_clustering": "hpgraph.algorithms.spectral_clustering",
    "Communities": "hpgraph.algorithms.communities",
    "connected_components": "hpgraph.algorithms.components",
    "degree_centrality": "hpgraph.algorithms.degree_centrality",
    "in_degree_centrality": "hpgraph.algorithms.degree_centrality",
    "out_degree_centrality": "hpgraph.algorithms.degree_centrality",
    "eigenvector_centrality": "hpgraph.algorithms.eigenvector",
    "katz_centrality": "hpgraph.algorithms.katz",
    "heat_kernel": "hpgraph.algorithms.heat_kernel",
    "hits": "hpgraph.algorithms.hits",
    "HITSResult": "hpgraph.algorithms.hits",
    "CentralityResult": "hpgraph.algorithms.power_iteration",
    "clustering": "hpgraph.algorithms.clustering",
    "average_clustering": "hpgraph.algorithms.clustering",
    "transitivity": "hpgraph.algorithms.clustering",
    "square_clustering": "hpgraph.algorithms.square_clustering",
    "PageRankLanesResult": "hpgraph.algorithms.pagerank_lanes",
    "MaximumFlow": "hpgraph.algorithms.maximum_flow",
    "maximum_flow": "hpgraph.algorithms.maximum_flow",
    "PageRankResult": "hpgraph.algorithms.pagerank",
    "pagerank": "hpgraph.algorithms.pagerank",
    "SSSPLanesResult": "hpgraph.algorithms.sssp",
    "SpanningForest": "hpgraph.algorithms.spanning_forest",
    "minimum_spanning_forest": "hpgraph.algorithms.spanning_forest",
    "SSSPResult": "hpgraph.algorithms.sssp",
    "all_pairs_shortest_path_length": "hpgraph.algorithms.all_pairs",
    "sssp": "hpgraph.algorithms.sssp",
    "triangle_count": "hpgraph.algorithms.triangles",
    "triangles": "hpgraph.algorithms.triangles",
    "k_truss": "hpgraph.algorithms.truss",
    "truss_number": "hpgraph.algorithms.truss",
    "EgoSample": "hpgraph.algorithms.ego",
    "ego_graph": "hpgraph.algorithms.ego",
    "k_hop_subgraph": "hpgraph.algorithms.ego",
    "NeighborLoader": "hpgraph.algorithms.neighbor_loader",
    "NeighborSample": "hpgraph.algorithms.neighbor_sampling",
    "sample_neighbors": "hpgraph.algorithms.neighbor_sampling",
    "node2vec_walk": "hpgraph.algorithms.random_walks",
    "random_walk": "hpgraph.algorithms.random_walks",
    "SimilarPairs": "hpgraph.algorithms.similar_pairs",
    "adamic_adar": "hpgraph.algorithms.similarity",
    "adamic_adar_index": "hpgraph.algorithms.similarity",
    "common_neighbors": "hpgraph.algorithms.similarity",
    "cosine": "hpgraph.algorithms.similarity",
    "jaccard": "hpgraph.algorithms.similarity",
    "jaccard_coefficient": "hpgraph.algorithms.similarity",
    "overlap": "hpgraph.algorithms.similarity",
    "resource_allocation": "hpgraph.algorithms.similarity",
    "resource_allocation_index": "hpgraph.algorithms.similarity",
    "sorensen": "hpgraph.algorithms.similarity",
    "show_versions": "hpgraph.core.versions",
    "Direction": "hpgraph.engine.direction",
    "Parameter": "hpgraph.engine.definition",
    "Property": "hpgraph.engine.definition",
    "EdgeProperty": "hpgraph.engine.edge_definition",
    "EdgeVertexProgram": "hpgraph.engine.edge_program",
    "RunResult": "hpgraph.engine.result",
    "run": "hpgraph.engine.run",
    "Phases": "hpgraph.engine.phases",
    "Trace": "hpgraph.engine.trace",
    "VertexProgram": "hpgraph.engine.program",
    "Graph": "hpgraph.containers.graph",
    "DividedArray": "hpgraph.containers.divided_array",
    "DividedGraph": "hpgraph.containers.divided_graph",
    "StreamedGraph": "hpgraph.containers.streamed_graph",
    "as_graph": "hpgraph.containers.graph",
    "from_edges": "hpgraph.interop.given_edges",
    "from_networkx": "hpgraph.interop.networkx",
    "id": "hpgraph.containers.vertices",
    "to_networkx": "hpgraph.interop.networkx",
    "convert": "hpgraph.io",
    "load": "hpgraph.io",
    "open": "hpgraph.io",
    "read": "hpgraph.io",
    "write": "hpgraph.io",
    "DividedMatrix": "hpgraph.scipy_api.divided_matrix",
    "Matrix": "hpgraph.scipy_api.matrix",
    "hyb_array": "hpgraph.scipy_api.matrix",
    "Vector": "hpgraph.scipy_api.vector",
    "random_bits": "hpgraph.semiring.counter_random",
    "uniform": "hpgraph.semiring.counter_random",
    "uniform32": "hpgraph.semiring.counter_random",
}
_SUBPACKAGES = (
    "algebra", "algorithms", "cluster", "csgraph", "datasets", "formats", "interop", "io", "layout", "semiring", "viz",
)  # fmt: skip

# All but `id` and `open`, which a star import would put in the place of Python's own, and `cluster`, which needs Dask.
__all__ = [
    "AdjacencyOperator",
    "BFSResult",
    "BeliefResult",
    "BiconnectedComponents",
    "BudgetError",
    "CentralityResult",
    "Communities",
    "CompileError",
    "ComponentsResult",
    "Condensation",
    "ConvergenceWarning",
    "DamagedPageError",
    "DeviceError",
    "DeviceMemoryError",
    "Direction",
    "DividedArray",
    "DividedGraph",
    "DividedMatrix",
    "EdgeProperty",
    "EdgeVertexProgram",
    "EgoSample",
    "FileFormatError",
    "Graph",
    "HITSResult",
    "HpgraphError",
    "LabelResult",
    "Landmarks",
    "Matrix",
    "MaximumFlow",
    "MissingExtraError",
    "NegativeCycleError",
    "NeighborLoader",
    "NeighborSample",
    "NoPathError",
    "PageRankLanesResult",
    "PageRankResult",
    "Parameter",
    "Phases",
    "Property",
    "RunResult",
    "SSSPLanesResult",
    "SSSPResult",
    "SimilarPairs",
    "SpanningForest",
    "StreamedGraph",
    "StreamingError",
    "Trace",
    "Vector",
    "VertexProgram",
    "adamic_adar",
    "adamic_adar_index",
    "algebra",
    "algorithms",
    "all_pairs_shortest_path_length",
    "apply",
    "articulation_points",
    "as_graph",
    "assign",
    "average_clustering",
    "belief_propagation",
    "betweenness_centrality",
    "bfs",
    "biconnected_components",
    "bipartite_sets",
    "block_array",
    "block_diag",
    "bmat",
    "bridges",
    "cdlp",
    "center",
    "closeness_centrality",
    "clustering",
    "common_neighbors",
    "condensation",
    "config",
    "connected_components",
    "convert",
    "core_number",
    "cosine",
    "csgraph",
    "dag_longest_path",
    "datasets",
    "degeneracy_ordering",
    "degree_centrality",
    "diag",
    "diags",
    "diameter",
    "distance_histogram",
    "eccentricity",
    "edge_betweenness_centrality",
    "ego_graph",
    "eigenvector_centrality",
    "ewise_add",
    "ewise_mult",
    "ewise_union",
    "extract",
    "eye",
    "formats",
    "from_edges",
    "from_networkx",
    "greedy_color",
    "harmonic_centrality",
    "heat_kernel",
    "hits",
    "hstack",
    "hyb_array",
    "in_degree_centrality",
    "interop",
    "io",
    "is_bipartite",
    "is_dag",
    "is_directed_acyclic_graph",
    "jaccard",
    "jaccard_coefficient",
    "k_core",
    "k_hop",
    "k_hop_subgraph",
    "k_shell",
    "k_truss",
    "katz_centrality",
    "kron",
    "kronecker",
    "label_propagation",
    "label_propagation_communities",
    "label_spreading",
    "landmarks",
    "layout",
    "leiden",
    "load",
    "louvain",
    "matrix_power",
    "maximal_independent_set",
    "maximal_matching",
    "maximum_flow",
    "minimum_spanning_forest",
    "modularity",
    "mxm",
    "mxv",
    "node2vec_walk",
    "normalized_mutual_information",
    "out_degree_centrality",
    "overlap",
    "pagerank",
    "partition_quality",
    "periphery",
    "radius",
    "random",
    "random_bits",
    "random_walk",
    "reach",
    "read",
    "reduce",
    "resource_allocation",
    "resource_allocation_index",
    "run",
    "sample_neighbors",
    "select",
    "semiring",
    "shortest_path",
    "shortest_path_length",
    "show_versions",
    "sorensen",
    "spectral_clustering",
    "square_clustering",
    "sssp",
    "subassign",
    "techniques",
    "to_networkx",
    "topological_sort",
    "transitivity",
    "transpose",
    "triangle_count",
    "triangles",
    "tril",
    "triu",
    "truss_number",
    "uniform",
    "uniform32",
    "viz",
    "vstack",
    "vxm",
    "write",
]


if not TYPE_CHECKING:
    # Type checkers see the imports above, and refuse what is not among them.
    def __getattr__(name: str) -> object:
        if name in _MODULE_OF:
            value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        elif name in _SUBPACKAGES:
            value = importlib.import_module(f"{__name__}.{name}")
        else:
            # Loaded for the message alone: what it needs would make a third of the time of `import hpgraph`.
            from hpgraph.core.misspelt import did_you_mean

            meant = "" if name.startswith("_") else did_you_mean(name, [*_MODULE_OF, *_SUBPACKAGES])
            raise AttributeError(f"module 'hpgraph' has no attribute {name!r}{meant}")
        globals()[name] = value
        return value

    hand_down(__getattr__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
