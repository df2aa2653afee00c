"""Communities that hold a random walk: those by which it is described in the fewest bits."""

from dataclasses import replace
from typing import Any

from hpgraph.algorithms.communities import Communities, by_smallest, found, least_gain
from hpgraph.algorithms.community_measures import code_length, visit_entropy, walk_of
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.louvain import Search, iterations_of
from hpgraph.algorithms.objectives import start_of
from hpgraph.algorithms.random_choice import scattered
from hpgraph.containers.graph import Graph, naming_arguments
from hpgraph.core.device import to_device
from hpgraph.kernels.backend import kernels


@naming_arguments
def infomap(
    G: Graph | Any,
    weight: Any = "weight",
    seed: int = 0,
    *,
    damping: float = 0.85,
    threshold: float = 1e-6,
    n_iterations: int = 2,
    start: Any = None,
) -> Communities:
    """Infomap: connected communities that minimize the two-level map equation.

    Parameters
    ----------
    G, weight, damping
        As for `hpgraph.map_equation`.
    seed : int
        Random seed; the same seed gives the same bits for any number of threads.
    threshold : float
        The search stops after an iteration that saves at most so many bits a step.
    n_iterations, start
        As for `hpgraph.leiden`.

    Returns
    -------
    Communities
        Its `quality` is less than 0: minus the map equation. Its `hierarchy` is that of `hpgraph.leiden`.

    Notes
    -----
    The Leiden method with another objective: moves of vertices and of whole communities, as in Infomap, with a
    refinement between them. A disconnected community never costs less than its parts, which replace it. Runs on the
    CPU; a graph on the GPU is copied to it. Memory: that of `louvain` plus 25 bytes a vertex, and 20 an arc if
    directed.

    References
    ----------
    M. Rosvall, C. T. Bergstrom, "Maps of random walks on complex networks reveal community structure", PNAS 105 (2008).
    V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
    Scientific Reports 9, 5233 (2019).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> found = hpg.infomap(G)
    >>> found.communities(), round(found.quality, 4)
    ([{0, 1, 2}, {3, 4, 5}], -2.3207)
    """
    threshold, key, times = least_gain(threshold), scattered(seed), iterations_of(n_iterations)
    given, weighted = with_weights(G, weight, parallel="sum")
    graph, level, walk = walk_of(given.to("cpu"), weighted, damping)
    label, hierarchy, entropy = start_of(graph, start), [], float("nan")
    if walk.total:
        search = Search(graph, walk, 1.0, threshold, float("inf"), 0)
        hierarchy, entropy = search.run(label, key, times, given=start is not None), visit_entropy(walk)
        # Without community structure, one community a component takes the fewest bits.
        whole = by_smallest("cpu", kernels("cpu").components(walk.arcs.pattern, True)[1].astype(graph.id_dtype))
        if search.quality(walk, whole) > search.quality(walk, hierarchy[-1]):
            hierarchy = [whole]
    by_bits = (lambda label, _: -entropy - code_length(walk, label)) if walk.total else None
    result = found(graph, level, hierarchy, 1.0, by_bits)
    if given.device == "cpu":
        return result
    levels = [to_device(each, given.device) for each in result.hierarchy]
    return replace(result, label=levels[-1], hierarchy=levels)
