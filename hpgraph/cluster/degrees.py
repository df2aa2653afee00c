"""Degrees in the whole graph of the vertices that a block owns."""

from __future__ import annotations

import numpy as np

from hpgraph.cluster.blocks import Block
from hpgraph.cluster.exchange import Content, Exchange
from hpgraph.cluster.mesh import Mesh


def degrees_of(block: Block, mesh: Mesh, backwards: bool, counted: bool) -> np.ndarray:
    """Degree of each own vertex over all blocks: counts folded along rows; cached with the block."""
    if not counted:
        number, arcs = block.numbering, block.graph.in_csr if backwards else block.graph.out_csr
        counts = np.diff(arcs.indptr)
        turned = Exchange(number, mesh, not backwards)
        outgoing = {peer: Content(None, [counts[number.range(peer)]]) for peer in turned.beside_targets}
        degree = counts[number.own].copy()
        for content in turned.fold(0, outgoing, counts.dtype).values():
            degree += content.values[0]
        block.degrees[backwards] = degree
    return block.degrees[backwards]
