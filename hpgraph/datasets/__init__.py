"""Graphs to try things on: one real graph that comes with the library, and generators.

>>> G = hpg.datasets.debian()
>>> G.n_vertices, G.n_edges
(63436, 275492)
"""

from hpgraph.datasets.contacts import contacts
from hpgraph.datasets.debian import debian
from hpgraph.datasets.degree_graphs import (
    barabasi_albert_graph,
    configuration_model,
    random_regular_graph,
    watts_strogatz_graph,
)
from hpgraph.datasets.generate import grid, kron, rmat, social, uniform
from hpgraph.datasets.lfr import LFR_benchmark_graph
from hpgraph.datasets.random_graphs import (
    expected_degree_graph,
    gnm_random_graph,
    gnp_random_graph,
    random_geometric_graph,
    stochastic_block_model,
)
from hpgraph.datasets.swaps import double_edge_swap

__all__ = [
    "LFR_benchmark_graph",
    "barabasi_albert_graph",
    "configuration_model",
    "contacts",
    "debian",
    "double_edge_swap",
    "expected_degree_graph",
    "gnm_random_graph",
    "gnp_random_graph",
    "grid",
    "kron",
    "random_geometric_graph",
    "random_regular_graph",
    "rmat",
    "social",
    "stochastic_block_model",
    "uniform",
    "watts_strogatz_graph",
]
