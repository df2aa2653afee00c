"""Graph analytics as semiring sparse-matrix products, on CPU and GPU.

Every algorithm is a loop over one generalized sparse matrix-vector product. Three doors lead to it: ready algorithms
(`bfs`, `sssp`, `pagerank`, `triangle_count`), vertex programs (`VertexProgram`) and matrix algebra (`Matrix`,
`hyb_array`). Public names load on first use, so that ``import hpgraph`` itself stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from hpgraph.containers.public import register_loader

# A public name stands here twice: for type checkers, to whom ``a as a`` is public, and in the table that finds it.
if TYPE_CHECKING:
    from hpgraph import algebra as algebra
    from hpgraph import algorithms as algorithms
    from hpgraph import cluster as cluster
    from hpgraph import csgraph as csgraph
    from hpgraph import datasets as datasets
    from hpgraph import formats as formats
    from hpgraph import interop as interop
    from hpgraph import io as io
    from hpgraph import layout as layout
    from hpgraph import semiring as semiring
    from hpgraph import viz as viz
    from hpgraph.algebra.apply import apply as apply
    from hpgraph.algebra.assign import assign as assign
    from hpgraph.algebra.assign import subassign as subassign
    from hpgraph.algebra.elementwise import ewise_add as ewise_add
    from hpgraph.algebra.elementwise import ewise_mult as ewise_mult
    from hpgraph.algebra.elementwise import ewise_union as ewise_union
    from hpgraph.algebra.extract import extract as extract
    from hpgraph.algebra.kronecker import kron as kron
    from hpgraph.algebra.kronecker import kronecker as kronecker
    from hpgraph.algebra.mxm import mxm as mxm
    from hpgraph.algebra.mxv import mxv as mxv
    from hpgraph.algebra.mxv import vxm as vxm
    from hpgraph.algebra.reduce import reduce as reduce
    from hpgraph.algebra.select import select as select
    from hpgraph.algebra.transpose import transpose as transpose
    from hpgraph.algorithms.acyclic import dag_longest_path as dag_longest_path
    from hpgraph.algorithms.acyclic import is_dag as is_dag
    from hpgraph.algorithms.acyclic import is_directed_acyclic_graph as is_directed_acyclic_graph
    from hpgraph.algorithms.acyclic import topological_sort as topological_sort
    from hpgraph.algorithms.adjacency_operator import AdjacencyOperator as AdjacencyOperator
    from hpgraph.algorithms.all_pairs import all_pairs_shortest_path_length as all_pairs_shortest_path_length
    from hpgraph.algorithms.belief_propagation import BeliefResult as BeliefResult
    from hpgraph.algorithms.belief_propagation import belief_propagation as belief_propagation
    from hpgraph.algorithms.betweenness import betweenness_centrality as betweenness_centrality
    from hpgraph.algorithms.betweenness import edge_betweenness_centrality as edge_betweenness_centrality
    from hpgraph.algorithms.bfs import BFSResult as BFSResult
    from hpgraph.algorithms.bfs import bfs as bfs
    from hpgraph.algorithms.biconnected import BiconnectedComponents as BiconnectedComponents
    from hpgraph.algorithms.biconnected import articulation_points as articulation_points
    from hpgraph.algorithms.biconnected import biconnected_components as biconnected_components
    from hpgraph.algorithms.biconnected import bridges as bridges
    from hpgraph.algorithms.bipartite import bipartite_sets as bipartite_sets
    from hpgraph.algorithms.bipartite import is_bipartite as is_bipartite
    from hpgraph.algorithms.closeness import closeness_centrality as closeness_centrality
    from hpgraph.algorithms.closeness import harmonic_centrality as harmonic_centrality
    from hpgraph.algorithms.clustering import average_clustering as average_clustering
    from hpgraph.algorithms.clustering import clustering as clustering
    from hpgraph.algorithms.clustering import transitivity as transitivity
    from hpgraph.algorithms.coloring import greedy_color as greedy_color
    from hpgraph.algorithms.communities import Communities as Communities
    from hpgraph.algorithms.components import ComponentsResult as ComponentsResult
    from hpgraph.algorithms.components import connected_components as connected_components
    from hpgraph.algorithms.condensation import Condensation as Condensation
    from hpgraph.algorithms.condensation import condensation as condensation
    from hpgraph.algorithms.cores import core_number as core_number
    from hpgraph.algorithms.cores import degeneracy_ordering as degeneracy_ordering
    from hpgraph.algorithms.cores import k_core as k_core
    from hpgraph.algorithms.cores import k_shell as k_shell
    from hpgraph.algorithms.degree_centrality import degree_centrality as degree_centrality
    from hpgraph.algorithms.degree_centrality import in_degree_centrality as in_degree_centrality
    from hpgraph.algorithms.degree_centrality import out_degree_centrality as out_degree_centrality
    from hpgraph.algorithms.distance_histogram import distance_histogram as distance_histogram
    from hpgraph.algorithms.eccentricity import center as center
    from hpgraph.algorithms.eccentricity import diameter as diameter
    from hpgraph.algorithms.eccentricity import eccentricity as eccentricity
    from hpgraph.algorithms.eccentricity import periphery as periphery
    from hpgraph.algorithms.eccentricity import radius as radius
    from hpgraph.algorithms.ego import EgoSample as EgoSample
    from hpgraph.algorithms.ego import ego_graph as ego_graph
    from hpgraph.algorithms.ego import k_hop_subgraph as k_hop_subgraph
    from hpgraph.algorithms.eigenvector import eigenvector_centrality as eigenvector_centrality
    from hpgraph.algorithms.heat_kernel import heat_kernel as heat_kernel
    from hpgraph.algorithms.hits import HITSResult as HITSResult
    from hpgraph.algorithms.hits import hits as hits
    from hpgraph.algorithms.independent_set import maximal_independent_set as maximal_independent_set
    from hpgraph.algorithms.katz import katz_centrality as katz_centrality
    from hpgraph.algorithms.label_communities import cdlp as cdlp
    from hpgraph.algorithms.label_communities import label_propagation_communities as label_propagation_communities
    from hpgraph.algorithms.label_spreading import LabelResult as LabelResult
    from hpgraph.algorithms.label_spreading import label_propagation as label_propagation
    from hpgraph.algorithms.label_spreading import label_spreading as label_spreading
    from hpgraph.algorithms.landmarks import Landmarks as Landmarks
    from hpgraph.algorithms.landmarks import landmarks as landmarks
    from hpgraph.algorithms.leiden import leiden as leiden
    from hpgraph.algorithms.louvain import louvain as louvain
    from hpgraph.algorithms.matching import maximal_matching as maximal_matching
    from hpgraph.algorithms.maximum_flow import MaximumFlow as MaximumFlow
    from hpgraph.algorithms.maximum_flow import maximum_flow as maximum_flow
    from hpgraph.algorithms.modularity import modularity as modularity
    from hpgraph.algorithms.modularity import normalized_mutual_information as normalized_mutual_information
    from hpgraph.algorithms.modularity import partition_quality as partition_quality
    from hpgraph.algorithms.neighbor_loader import NeighborLoader as NeighborLoader
    from hpgraph.algorithms.neighbor_sampling import NeighborSample as NeighborSample
    from hpgraph.algorithms.neighbor_sampling import sample_neighbors as sample_neighbors
    from hpgraph.algorithms.pagerank import PageRankResult as PageRankResult
    from hpgraph.algorithms.pagerank import pagerank as pagerank
    from hpgraph.algorithms.pagerank_lanes import PageRankLanesResult as PageRankLanesResult
    from hpgraph.algorithms.power_iteration import CentralityResult as CentralityResult
    from hpgraph.algorithms.random_walks import node2vec_walk as node2vec_walk
    from hpgraph.algorithms.random_walks import random_walk as random_walk
    from hpgraph.algorithms.reach import k_hop as k_hop
    from hpgraph.algorithms.reach import reach as reach
    from hpgraph.algorithms.shortest_path import shortest_path as shortest_path
    from hpgraph.algorithms.shortest_path import shortest_path_length as shortest_path_length
    from hpgraph.algorithms.similar_pairs import SimilarPairs as SimilarPairs
    from hpgraph.algorithms.similarity import adamic_adar as adamic_adar
    from hpgraph.algorithms.similarity import adamic_adar_index as adamic_adar_index
    from hpgraph.algorithms.similarity import common_neighbors as common_neighbors
    from hpgraph.algorithms.similarity import cosine as cosine
    from hpgraph.algorithms.similarity import jaccard as jaccard
    from hpgraph.algorithms.similarity import jaccard_coefficient as jaccard_coefficient
    from hpgraph.algorithms.similarity import overlap as overlap
    from hpgraph.algorithms.similarity import resource_allocation as resource_allocation
    from hpgraph.algorithms.similarity import resource_allocation_index as resource_allocation_index
    from hpgraph.algorithms.similarity import sorensen as sorensen
    from hpgraph.algorithms.spanning_forest import SpanningForest as SpanningForest
    from hpgraph.algorithms.spanning_forest import minimum_spanning_forest as minimum_spanning_forest
    from hpgraph.algorithms.spectral_clustering import spectral_clustering as spectral_clustering
    from hpgraph.algorithms.square_clustering import square_clustering as square_clustering
    from hpgraph.algorithms.sssp import SSSPLanesResult as SSSPLanesResult
    from hpgraph.algorithms.sssp import SSSPResult as SSSPResult
    from hpgraph.algorithms.sssp import sssp as sssp
    from hpgraph.algorithms.triangles import triangle_count as triangle_count
    from hpgraph.algorithms.triangles import triangles as triangles
    from hpgraph.algorithms.truss import k_truss as k_truss
    from hpgraph.algorithms.truss import truss_number as truss_number
    from hpgraph.containers.divided_array import DividedArray as DividedArray
    from hpgraph.containers.divided_graph import DividedGraph as DividedGraph
    from hpgraph.containers.graph import Graph as Graph
    from hpgraph.containers.graph import as_graph as as_graph
    from hpgraph.containers.streamed_graph import StreamedGraph as StreamedGraph
    from hpgraph.containers.vertices import id as id
    from hpgraph.core.config import config as config
    from hpgraph.core.errors import BudgetError as BudgetError
    from hpgraph.core.errors import CompileError as CompileError
    from hpgraph.core.errors import ConvergenceWarning as ConvergenceWarning
    from hpgraph.core.errors import DamagedPageError as DamagedPageError
    from hpgraph.core.errors import DeviceError as DeviceError
    from hpgraph.core.errors import DeviceMemoryError as DeviceMemoryError
    from hpgraph.core.errors import DuplicateEdgesWarning as DuplicateEdgesWarning
    from hpgraph.core.errors import FileFormatError as FileFormatError
    from hpgraph.core.errors import HpgraphError as HpgraphError
    from hpgraph.core.errors import MissingExtraError as MissingExtraError
    from hpgraph.core.errors import NegativeCycleError as NegativeCycleError
    from hpgraph.core.errors import NoPathError as NoPathError
    from hpgraph.core.errors import OutOfBoundsError as OutOfBoundsError
    from hpgraph.core.errors import SparseIdsWarning as SparseIdsWarning
    from hpgraph.core.errors import StreamingError as StreamingError
    from hpgraph.core.versions import show_versions as show_versions
    from hpgraph.engine.definition import Parameter as Parameter
    from hpgraph.engine.definition import Property as Property
    from hpgraph.engine.direction import Direction as Direction
    from hpgraph.engine.edge_definition import EdgeProperty as EdgeProperty
    from hpgraph.engine.edge_program import EdgeVertexProgram as EdgeVertexProgram
    from hpgraph.engine.phases import Phases as Phases
    from hpgraph.engine.program import VertexProgram as VertexProgram
    from hpgraph.engine.result import RunResult as RunResult
    from hpgraph.engine.run import run as run
    from hpgraph.engine.trace import Trace as Trace
    from hpgraph.interop.given_edges import from_edges as from_edges
    from hpgraph.interop.networkx import from_networkx as from_networkx
    from hpgraph.interop.networkx import to_networkx as to_networkx
    from hpgraph.io import convert as convert
    from hpgraph.io import load as load
    from hpgraph.io import open as open
    from hpgraph.io import read as read
    from hpgraph.io import write as write
    from hpgraph.kernels.runtime.techniques import techniques as techniques
    from hpgraph.scipy_api.blocks import block_array as block_array
    from hpgraph.scipy_api.blocks import block_diag as block_diag
    from hpgraph.scipy_api.blocks import bmat as bmat
    from hpgraph.scipy_api.blocks import hstack as hstack
    from hpgraph.scipy_api.blocks import vstack as vstack
    from hpgraph.scipy_api.construct import diag as diag
    from hpgraph.scipy_api.construct import diags as diags
    from hpgraph.scipy_api.construct import eye as eye
    from hpgraph.scipy_api.divided_matrix import DividedMatrix as DividedMatrix
    from hpgraph.scipy_api.matrix import Matrix as Matrix
    from hpgraph.scipy_api.matrix import hyb_array as hyb_array
    from hpgraph.scipy_api.matrix_power import matrix_power as matrix_power
    from hpgraph.scipy_api.random_matrix import random as random
    from hpgraph.scipy_api.triangle import tril as tril
    from hpgraph.scipy_api.triangle import triu as triu
    from hpgraph.scipy_api.vector import Vector as Vector
    from hpgraph.semiring.counter_random import random_bits as random_bits
    from hpgraph.semiring.counter_random import uniform as uniform
    from hpgraph.semiring.counter_random import uniform32 as uniform32

__version__ = "0.2.0"

# The public names of each module below this package.
_NAMES = {
    "algebra.apply": "apply",
    "algebra.assign": "assign subassign",
    "algebra.elementwise": "ewise_add ewise_mult ewise_union",
    "algebra.extract": "extract",
    "algebra.kronecker": "kron kronecker",
    "algebra.mxm": "mxm",
    "algebra.mxv": "mxv vxm",
    "algebra.reduce": "reduce",
    "algebra.select": "select",
    "algebra.transpose": "transpose",
    "algorithms.acyclic": "dag_longest_path is_dag is_directed_acyclic_graph topological_sort",
    "algorithms.adjacency_operator": "AdjacencyOperator",
    "algorithms.all_pairs": "all_pairs_shortest_path_length",
    "algorithms.belief_propagation": "BeliefResult belief_propagation",
    "algorithms.betweenness": "betweenness_centrality edge_betweenness_centrality",
    "algorithms.bfs": "BFSResult bfs",
    "algorithms.biconnected": "BiconnectedComponents articulation_points biconnected_components bridges",
    "algorithms.bipartite": "bipartite_sets is_bipartite",
    "algorithms.closeness": "closeness_centrality harmonic_centrality",
    "algorithms.clustering": "average_clustering clustering transitivity",
    "algorithms.coloring": "greedy_color",
    "algorithms.communities": "Communities",
    "algorithms.components": "ComponentsResult connected_components",
    "algorithms.condensation": "Condensation condensation",
    "algorithms.cores": "core_number degeneracy_ordering k_core k_shell",
    "algorithms.degree_centrality": "degree_centrality in_degree_centrality out_degree_centrality",
    "algorithms.distance_histogram": "distance_histogram",
    "algorithms.eccentricity": "center diameter eccentricity periphery radius",
    "algorithms.ego": "EgoSample ego_graph k_hop_subgraph",
    "algorithms.eigenvector": "eigenvector_centrality",
    "algorithms.heat_kernel": "heat_kernel",
    "algorithms.hits": "HITSResult hits",
    "algorithms.independent_set": "maximal_independent_set",
    "algorithms.katz": "katz_centrality",
    "algorithms.label_communities": "cdlp label_propagation_communities",
    "algorithms.label_spreading": "LabelResult label_propagation label_spreading",
    "algorithms.landmarks": "Landmarks landmarks",
    "algorithms.leiden": "leiden",
    "algorithms.louvain": "louvain",
    "algorithms.matching": "maximal_matching",
    "algorithms.maximum_flow": "MaximumFlow maximum_flow",
    "algorithms.modularity": "modularity normalized_mutual_information partition_quality",
    "algorithms.neighbor_loader": "NeighborLoader",
    "algorithms.neighbor_sampling": "NeighborSample sample_neighbors",
    "algorithms.pagerank": "PageRankResult pagerank",
    "algorithms.pagerank_lanes": "PageRankLanesResult",
    "algorithms.power_iteration": "CentralityResult",
    "algorithms.random_walks": "node2vec_walk random_walk",
    "algorithms.reach": "k_hop reach",
    "algorithms.shortest_path": "shortest_path shortest_path_length",
    "algorithms.similar_pairs": "SimilarPairs",
    "algorithms.similarity": (
        "adamic_adar adamic_adar_index common_neighbors cosine jaccard jaccard_coefficient overlap "
        "resource_allocation resource_allocation_index sorensen"
    ),
    "algorithms.spanning_forest": "SpanningForest minimum_spanning_forest",
    "algorithms.spectral_clustering": "spectral_clustering",
    "algorithms.square_clustering": "square_clustering",
    "algorithms.sssp": "SSSPLanesResult SSSPResult sssp",
    "algorithms.triangles": "triangle_count triangles",
    "algorithms.truss": "k_truss truss_number",
    "containers.divided_array": "DividedArray",
    "containers.divided_graph": "DividedGraph",
    "containers.graph": "Graph as_graph",
    "containers.streamed_graph": "StreamedGraph",
    "containers.vertices": "id",
    "core.config": "config",
    "core.errors": (
        "BudgetError CompileError ConvergenceWarning DamagedPageError DeviceError DeviceMemoryError "
        "DuplicateEdgesWarning FileFormatError HpgraphError MissingExtraError NegativeCycleError NoPathError "
        "OutOfBoundsError SparseIdsWarning StreamingError"
    ),
    "core.versions": "show_versions",
    "engine.definition": "Parameter Property",
    "engine.direction": "Direction",
    "engine.edge_definition": "EdgeProperty",
    "engine.edge_program": "EdgeVertexProgram",
    "engine.phases": "Phases",
    "engine.program": "VertexProgram",
    "engine.result": "RunResult",
    "engine.run": "run",
    "engine.trace": "Trace",
    "interop.given_edges": "from_edges",
    "interop.networkx": "from_networkx to_networkx",
    "io": "convert load open read write",
    "kernels.runtime.techniques": "techniques",
    "scipy_api.blocks": "block_array block_diag bmat hstack vstack",
    "scipy_api.construct": "diag diags eye",
    "scipy_api.divided_matrix": "DividedMatrix",
    "scipy_api.matrix": "Matrix hyb_array",
    "scipy_api.matrix_power": "matrix_power",
    "scipy_api.random_matrix": "random",
    "scipy_api.triangle": "tril triu",
    "scipy_api.vector": "Vector",
    "semiring.counter_random": "random_bits uniform uniform32",
}
_MODULE_OF = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}
_SUBPACKAGES = (
    "algebra", "algorithms", "cluster", "csgraph", "datasets", "formats", "interop", "io", "layout", "semiring", "viz",
)  # fmt: skip

if not TYPE_CHECKING:
    # Not `id` and `open`, which a star import would put in the place of Python's own, nor `cluster`, which needs Dask.
    __all__ = sorted({*_MODULE_OF, *_SUBPACKAGES} - {"id", "open", "cluster"})

    # Type checkers see the imports above, and refuse what is not among them.
    def __getattr__(name: str) -> object:
        if name in _MODULE_OF:
            value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        elif name in _SUBPACKAGES:
            value = importlib.import_module(f"{__name__}.{name}")
        else:
            # Loaded for the message alone: what it needs would make a third of the time of `import hpgraph`.
            from hpgraph.core.suggestions import did_you_mean

            meant = "" if name.startswith("_") else did_you_mean(name, [*_MODULE_OF, *_SUBPACKAGES])
            raise AttributeError(f"module 'hpgraph' has no attribute {name!r}{meant}")
        globals()[name] = value
        return value

    register_loader(__getattr__)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
