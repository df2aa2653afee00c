"""Random graphs with the degrees of a given one."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_simple, whole
from hpgraph.core.number import generator
from hpgraph.datasets.drawing import of_edges


def double_edge_swap(G: Graph | Any, nswap: int = 1, max_tries: int = 100, *, seed: int = 0) -> Graph:
    """The graph after pairs of edges, drawn at random, have exchanged ends: every vertex keeps its degree.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph of two or more edges; it does not change. Loops and weights are left out.
    nswap : int, optional
        Exchanges: edges u-x and v-y become u-y and v-x. Some ten for each edge make a graph that is as good as drawn
        from all of these degrees.
    max_tries : int, optional
        Pairs of edges to draw at most. Those are passed over that share a vertex, or would join vertices again.
    seed : int, optional
        Of the random numbers; the same seed gives the same graph on every machine.

    Returns
    -------
    Graph
        Undirected, without weights, with the names of `G`, on its device.

    Raises
    ------
    ValueError, TypeError
        If the graph is directed or has fewer than two edges, a number is out of range or no integer, or so many tries
        do not suffice.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it.

    References
    ----------
    R. Milo et al., "On the uniform generation of random graphs with prescribed degree sequences" (2003),
    arXiv:cond-mat/0312028.

    Examples
    --------
    >>> G = hpg.datasets.gnm_random_graph(1000, 5000)
    >>> H = hpg.datasets.double_edge_swap(G, 50_000, 100_000)
    >>> bool((H.out_degree == G.out_degree).all())
    True
    """
    from hpgraph.kernels.sampling.cpu_swaps import swap_ends

    graph = as_simple(G)
    if graph.directed:
        raise ValueError("double_edge_swap: the graph is directed; G.undirected has its arcs in both directions")
    nswap, tries = whole(nswap, "nswap", least=0, most=1 << 62), whole(max_tries, "max_tries", least=0, most=1 << 62)
    arcs, n = graph.out_csr.to("cpu"), graph.n_vertices
    row, column = arcs.expand_rows().astype(np.int64), arcs.indices.astype(np.int64)
    source, target = row[row < column], column[row < column]
    if len(source) < 2:
        raise ValueError("double_edge_swap: a graph of fewer than two edges has none to exchange")
    done = swap_ends(source, target, n, nswap, tries, seed=int(generator(seed).integers(1 << 62)))
    if done < nswap:
        raise ValueError(f"max_tries: after {tries} tries {done} of {nswap} pairs have exchanged ends; raise it")
    return Graph._from_csr(of_edges(n, source, target).out_csr, False, graph._names).to(graph.device)
