"""Layer-wise samples: a number of neighbours for all vertices of a layer together, drawn by importance.

LADIES (D. Zou et al., NeurIPS'19) uses the layer's rows of the adjacency matrix, FastGCN (J. Chen et al., ICLR'18) all.
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.random_choice import drawn_by
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, attached, occurrences
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling import Drawn


def draw_layers(
    arcs: CSR, weighted: bool, seeds: Any, sizes: list[int], of_layer: bool, seed: int
) -> tuple[Drawn, Any]:  # fmt: skip
    """As `Sampling.sample`, with the factor of each edge that makes sums means over neighbours; size -1 takes all."""
    xp = array_module(arcs.device)
    numbering = sampling(arcs.device).Numbering()
    numbers = numbering.number(seeds)
    vertices_of_hop, hops = [len(numbering.vertices)], []
    for hop, size in enumerate(sizes):
        rows = numbering.vertices
        owner, place = sampling(arcs.device).draw(arcs, None, rows, -1, False, 0)
        share = _shares(arcs, weighted, owner, place, len(rows))
        column = arcs.indices[place].astype(np.int64)
        if size >= 0:
            probability, at = _of_layer(xp, column, share) if of_layer else (_of_all(arcs, weighted), column)
            factor = _times(xp, probability, size, [seed % 2**64, hop])[at] * share
            drawn_edges = factor > 0
            owner, place, column, share = (
                owner[drawn_edges],
                place[drawn_edges],
                column[drawn_edges],
                factor[drawn_edges],
            )
        hops.append((numbering.number(column), owner, place, share))
        vertices_of_hop.append(len(numbering.vertices) - len(rows))
    none = xp.zeros(0, np.int64)
    joined, owner, place, factor = (xp.concatenate(part) for part in zip(*hops, strict=True)) if hops else [none] * 4
    edges_of_hop = [len(part) for part, *_ in hops]
    drawn = Drawn(numbering.vertices, numbers, xp.stack((joined, owner)), place, vertices_of_hop, edges_of_hop)
    return drawn, factor


def _shares(arcs: CSR, weighted: bool, owner: Any, place: Any, rows: int) -> Any:
    """The entries of the adjacency whose rows sum to 1."""
    xp = array_module(owner)
    weight = arcs.data[place].astype(np.float64) if weighted else xp.ones(len(place))
    total = occurrences(owner, rows, weight)
    total[total == 0] = 1
    return weight / total[owner]


def _of_layer(xp: Any, column: Any, share: Any) -> tuple[Any, Any]:
    """The probability of each vertex that the rows reach, and the index of each entry's column among them."""
    reached, at = xp.unique(column, return_inverse=True)
    at = at.reshape(-1)
    return occurrences(at, len(reached), share * share), at


@attached
def _of_all(arcs: CSR, weighted: bool) -> Any:
    xp, rows = array_module(arcs.device), arcs.expand_rows()
    share = _shares(arcs, weighted, rows, xp.arange(arcs.nnz), arcs.shape[0])
    return occurrences(arcs.indices, arcs.shape[1], share * share)


def _times(xp: Any, probability: Any, size: int, seed: list[int]) -> Any:
    """Number of draws of each vertex over its expectation."""
    upto = xp.cumsum(probability)
    if not size or not len(upto) or not float(upto[-1]):
        return xp.zeros(len(probability))
    chosen = drawn_by(upto, np.random.default_rng(seed).random(size))
    expected = size * probability / upto[-1]
    expected[expected == 0] = 1
    return occurrences(chosen, len(probability)) / expected
