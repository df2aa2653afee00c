"""Graphs to try things on: one real graph that comes with the library, and generators.

>>> import hpgraph as hpg
>>> G = hpg.datasets.debian()
>>> G.n_vertices, G.n_edges
(63436, 275492)
"""

from hpgraph.datasets.debian import debian
from hpgraph.datasets.generate import grid, kron, social, uniform

__all__ = ["debian", "grid", "kron", "social", "uniform"]
