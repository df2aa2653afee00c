"""Distances between all vertices, a block of sources at a time: the array of all of them is never made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.algorithms.distance_blocks import block_size, distances_from
from hpgraph.algorithms.lengths import with_lengths
from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.vertex_names import vertex_names
from hpgraph.containers.graph import Graph
from hpgraph.core.device import check_memory
from hpgraph.core.number import real, whole
from hpgraph.core.suggestions import naming_arguments


@naming_arguments
def all_pairs_shortest_path_length(
    G: Graph | Any,
    cutoff: float | None = None,
    *,
    sources: Any = None,
    block: int | None = None,
    weight: Any = None,
    seed: int | None = None,
) -> Iterator[tuple[np.ndarray, Any]]:
    """Distances from every vertex to every vertex, or from some, a block of sources at a time.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    cutoff : float, optional
        Vertices farther than this count as not reached.
    sources : None, int, or sequence of vertices
        From which: None all, a number so many drawn, or a list.
    block : int, optional
        Sources of a block; ``block=G.n_vertices`` gives all at once. Default: as many as go together well, and fit.
    weight : None, bool or str
        What an arc counts: None 1, True its weight; a string names the attribute of a NetworkX graph's edges.
    seed : int, optional
        Of the draw.

    Yields
    ------
    sources : array of b vertices
        In NumPy: names where the graph has names, else indices.
    lengths : array of shape (b, n)
        On the graph's device: numbers of arcs, -1 where there is no path; or, with `weight`, sums of weights, inf where
        there is none. It is the caller's own.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2])
    >>> for sources, lengths in hpg.all_pairs_shortest_path_length(G, block=2):
    ...     print(sources, lengths.tolist())
    [0 1] [[0, 1, 2], [-1, 0, 1]]
    [2] [[-1, -1, 0]]
    """
    graph, weighted = with_lengths(G, weight)
    vertices = sources_of(graph, sources, seed)
    if cutoff is not None and not (cutoff := real(cutoff, "cutoff", "a number or None")) >= 0:
        raise ValueError(f"cutoff must be a number, not negative, not {cutoff!r}")
    limit = None if cutoff == np.inf else cutoff
    if block is None:
        size = block_size(graph)
    else:
        size = whole(block, "block", "a whole number or None")
        if size < 1:
            raise ValueError(f"block must be positive, not {block}")
        size = min(size, max(len(vertices), 1))
        what = f"distances from a block of {size} sources to {graph.n_vertices} vertices"
        check_memory(size * graph.n_vertices * 8, what, graph.device)

    def blocks() -> Iterator[tuple[np.ndarray, Any]]:
        for begin in range(0, len(vertices), size):
            part = vertices[begin : begin + size]
            yield vertex_names(graph, part), distances_from(graph, part, weighted=weighted, limit=limit)

    return blocks()
