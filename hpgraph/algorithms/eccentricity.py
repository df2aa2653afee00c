"""Eccentricities, and values derived from them: diameter, radius, center and periphery, exactly.

Instead of n searches, bounds rule out most vertices (`hpgraph.algorithms.eccentricity_bounds`).
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import begin_levels
from hpgraph.algorithms.components import connected_components
from hpgraph.algorithms.distance_blocks import distance_sums
from hpgraph.algorithms.distances import in_double_precision, with_lengths
from hpgraph.algorithms.eccentricity_bounds import EccentricityBounds, NotConnected
from hpgraph.algorithms.sources import sources_of
from hpgraph.containers.graph import Graph, by_vertex, id, naming_arguments, vertex_names
from hpgraph.core.device import Array, anywhere, array_module, to_device
from hpgraph.formats import occurrences


@naming_arguments
def eccentricity(
    G: Graph | Any, sources: Any = None, *, weight: Any = None, largest_component: bool = False, seed: Any = None
) -> Array:
    """The distance from each vertex to the vertex farthest from it.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph, in which every vertex must reach every other.
    sources : None, int, or sequence of vertices, names or hpgraph.id
        Vertices to compute it for: None for all; a number for that many distinct random ones.
    weight : None, bool or str
        Length of an arc, as for `hpgraph.closeness_centrality`.
    largest_component : bool
        Whether to use only the largest (strongly) connected component, instead of refusing a graph that is not
        connected.
    seed : int or numpy.random.Generator, optional
        Random seed of the draw.

    Returns
    -------
    int32 array (float64 for weights) of shape (n,), or (k,) where `sources` is given
        On the graph's device, by vertex, or in the order of `sources`; random ones are in ascending order. -1 (NaN for
        weights) for vertices outside the component.

    Raises
    ------
    ValueError
        If some vertex does not reach another, the graph has no vertices, or a weight is negative.

    Notes
    -----
    Eccentricities of all vertices are found by bounds, those of a list by a search each. Bounds take 8 bytes a vertex,
    16 with weights, and the distances of up to 64 searches at once.

    References
    ----------
    F. Takes, W. Kosters, "Computing the eccentricity distribution of large graphs", Algorithms 6 (2013).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], directed=False)
    >>> hpg.eccentricity(G, largest_component=True).tolist()
    [3, 2, 2, 3, -1, -1]
    """
    graph, weighted = with_lengths(G, weight)
    part, members = _component(graph, largest_component)
    part = in_double_precision(part) if weighted else part
    vertices = sources_of(graph, sources, seed)
    k, inside = len(vertices), np.arange(len(vertices))
    if members is not None:
        component = to_device(members, "cpu")
        place = np.minimum(np.searchsorted(component, vertices), len(component) - 1)
        inside = np.flatnonzero(component[place] == vertices)
        vertices = place[inside]
    # If all vertices are requested, those inside are all vertices of the part, in its order.
    eccentricities = _of_all(part, weighted) if sources is None else _of(part, vertices, weighted)
    values = array_module(graph.device).full(k, np.nan if weighted else -1, eccentricities.dtype)
    values[to_device(inside, graph.device)] = eccentricities
    return by_vertex(values, graph) if sources is None else values


@naming_arguments
def diameter(G: Graph | Any, *, weight: Any = None, largest_component: bool = False) -> int | float:
    """The largest distance between two vertices: the largest eccentricity.

    Parameters and errors are those of `eccentricity`.

    Returns
    -------
    int, or float for weights

    References
    ----------
    F. Takes, W. Kosters, "Determining the diameter of small world networks", CIKM'11.

    Examples
    --------
    >>> hpg.diameter(hpg.datasets.grid(20, removed=0))
    38
    """
    bounds = _narrowed(G, weight, largest_component, _may_lie_farther)[0]
    return _number(bounds.lower[bounds.known].max() if not bounds.exact else bounds.lower.max())


@naming_arguments
def radius(G: Graph | Any, *, weight: Any = None, largest_component: bool = False) -> int | float:
    """The radius: the least eccentricity.

    Parameters and errors are those of `eccentricity`.

    Returns
    -------
    int, or float for weights

    Examples
    --------
    >>> hpg.radius(hpg.datasets.grid(20, removed=0))
    20
    """
    bounds = _narrowed(G, weight, largest_component, lambda b: b.lower < b.upper.min() * b.slack)[0]
    return _number(bounds.upper.min() if bounds.exact else bounds.upper[bounds.known].min())


@naming_arguments
def center(G: Graph | Any, *, weight: Any = None, largest_component: bool = False) -> Array:
    """The vertices of least eccentricity.

    Parameters and errors are those of `eccentricity`.

    Returns
    -------
    array
        Names, in NumPy; or indices, on the graph's device, if the graph has no names. In ascending order of index.

    References
    ----------
    F. Takes, W. Kosters, "Computing the eccentricity distribution of large graphs", Algorithms 6 (2013).

    Examples
    --------
    >>> hpg.center(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, names=["a", "b", "c", "d"])).tolist()
    ['b', 'c']
    """
    bounds, listed = _narrowed(G, weight, largest_component, lambda b: b.lower <= b.upper.min() * b.slack)
    return listed(bounds.known & (bounds.upper == bounds.upper[bounds.known].min()))


@naming_arguments
def periphery(G: Graph | Any, *, weight: Any = None, largest_component: bool = False) -> Array:
    """The vertices of largest eccentricity.

    Parameters and errors are those of `eccentricity`.

    The result has the form of `center`'s.

    Examples
    --------
    >>> hpg.periphery(hpg.datasets.grid(20, removed=0)).tolist()
    [0, 19, 380, 399]
    """
    bounds, listed = _narrowed(G, weight, largest_component, lambda b: b.upper * b.slack >= b.lower.max())
    return listed(bounds.known & (bounds.lower == bounds.lower[bounds.known].max()))


def _component(graph: Graph, largest: bool) -> tuple[Graph, Any]:
    """The graph, or its largest component with the indices of its vertices."""
    if not isinstance(largest, bool | np.bool_):
        raise TypeError(f"largest_component must be True or False, not {largest!r}")
    if graph.n_vertices == 0:
        raise ValueError("a graph without vertices has no eccentricities: give one with a vertex at least")
    if not largest:
        return graph, None
    xp = array_module(graph.device)
    components = connected_components(graph, connection="strong" if graph.directed else "weak")
    if components.count == 1:
        return graph, None
    inside = components.label == occurrences(components.label, components.count).argmax()
    return graph.subgraph(inside, names=False), xp.flatnonzero(inside)


def _refusal(graph: Graph) -> ValueError:
    kind, also = ("strongly connected", " or take G.undirected") if graph.directed else ("connected", "")
    return ValueError(
        f"some distances are infinite, as the graph is not {kind}: give largest_component=True for its largest "
        f"component alone,{also or ' or that part of the graph'}"
    )


def _bounds(graph: Graph, weighted: bool) -> EccentricityBounds:
    try:
        return EccentricityBounds(graph, weighted)
    except NotConnected:
        raise _refusal(graph) from None


def _narrowed(G: Any, weight: Any, largest: bool, open_: Any) -> tuple[EccentricityBounds, Any]:
    """Bounds narrowed until no vertex is open, and a function from indices to names."""
    whole, weighted = with_lengths(G, weight)
    if not weighted:
        begin_levels(whole, 2)
    graph, members = _component(whole, largest)
    bounds = _bounds(in_double_precision(graph) if weighted else graph, weighted)
    bounds.narrow(open_)

    def listed(flags: Any) -> Any:
        chosen = array_module(whole.device).flatnonzero(flags)
        return vertex_names(whole, chosen if members is None else members[chosen])

    return bounds, listed


def _may_lie_farther(bounds: EccentricityBounds) -> Any:
    """Vertices that may lie farther apart than the largest lower bound ("winnowing" of F-Diam)."""
    largest = bounds.lower.max()
    high = bounds.upper * bounds.slack > largest
    if bounds.graph.directed:
        return high
    return high & (2 * bounds.slack * bounds.middle.astype(bounds.upper.dtype) > largest)


def _of_all(graph: Graph, weighted: bool) -> Any:
    bounds = _bounds(graph, weighted)
    bounds.narrow(lambda b: array_module(graph.device).ones(graph.n_vertices, bool))
    return bounds.lower


def _of(graph: Graph, vertices: np.ndarray, weighted: bool) -> Any:
    sums = distance_sums(graph, id(vertices), weighted=weighted)
    if anywhere(sums.reached < graph.n_vertices):
        raise _refusal(graph)
    return sums.farthest.astype(np.float64 if weighted else np.int32)


def _number(value: Any) -> int | float:
    return value.item()
