"""Vertex embeddings: float32 arrays of shape (n, dim) on the graph's device."""

from hpgraph.embed.fastrp import fastrp
from hpgraph.embed.hope import hope
from hpgraph.embed.spectral import spectral
from hpgraph.embed.walks import node2vec, strap

__all__ = ["fastrp", "hope", "node2vec", "spectral", "strap"]
