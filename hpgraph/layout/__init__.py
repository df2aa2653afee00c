"""Positions of vertices for drawing: arrays of shape (n, 2), by index, on the graph's device."""

from hpgraph.layout.force_atlas2 import force_atlas2
from hpgraph.layout.geometry import circular
from hpgraph.layout.layered import layered
from hpgraph.layout.spectral import spectral
from hpgraph.layout.spring import sfdp, spring
from hpgraph.layout.stress import kamada_kawai
from hpgraph.layout.umap import umap

__all__ = ["circular", "force_atlas2", "kamada_kawai", "layered", "sfdp", "spectral", "spring", "umap"]
