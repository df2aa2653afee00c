"""Reachability by paths that respect time, and components of vertices that reach each other."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.cliques import find_cliques
from hpgraph.algorithms.temporal_arcs import checked
from hpgraph.algorithms.temporal_paths import in_turn, unreached
from hpgraph.containers import adjacency
from hpgraph.containers.graph import Graph, naming_arguments, one_of
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.kernels.temporal import ARRIVAL, DURATION


@naming_arguments
def reachability_graph(
    T: TemporalGraph, *, mutual: bool = False, within: Any = None, start: Any = None, end: Any = None,
    strict: bool = True,
) -> Graph:  # fmt: skip
    """The temporal reachability graph: an arc for each pair of vertices joined by a time-respecting path.

    Its successors of a vertex are the vertex's out-component in time, its predecessors the in-component. Reach in time
    is not transitive: paths in this graph need not be paths in T.

    Parameters
    ----------
    T : TemporalGraph
        On the CPU.
    mutual : bool, default False
        Whether only pairs that reach each other are joined: the affine graph, undirected.
    within : number or timedelta, optional
        From the departure of a path to its arrival at most.
    start, end, strict
        As for `earliest_arrival`.

    Returns
    -------
    Graph
        On the vertices of T, without loops and weights.

    Notes
    -----
    O(n m) time, one pass over the arcs for up to 64 vertices. It has up to n (n - 1) arcs.

    References
    ----------
    V. Nicosia, J. Tang, M. Musolesi, G. Russo, C. Mascolo, V. Latora, "Components in time-varying graphs", Chaos 22
    (2012).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("eve", "ann", 3)])
    >>> hpg.reachability_graph(T).edges(names=True).target.tolist()
    ['bob', 'eve', 'ann', 'eve', 'ann']
    >>> hpg.reachability_graph(T, mutual=True).n_edges
    4
    """
    checked(T)
    limit = None if within is None else T._span(within, "within")
    sources, targets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    everywhere = np.arange(T.n_vertices)
    for batch, result in in_turn(T, everywhere, ARRIVAL if limit is None else DURATION, (start, end), strict):
        reachable = result < unreached(result.dtype) if limit is None else result <= limit
        reachable[np.arange(len(batch)), batch] = False
        row, column = np.nonzero(reachable)
        sources.append(batch[row])
        targets.append(column)
    arcs = np.concatenate(sources), np.concatenate(targets)
    reached = Graph._from_csr(adjacency.from_arcs(*arcs, None, T.n_vertices, both_ways=False), True, T._names)
    return Graph._from_csr(reached.intersection(reached.T).out_csr, False, T._names) if mutual else reached


@naming_arguments
def temporal_components(
    T: TemporalGraph, *, connection: Literal["strong", "weak"] = "strong", min_size: int = 1, within: Any = None,
    start: Any = None, end: Any = None, strict: bool = True,
) -> Iterator[np.ndarray]:  # fmt: skip
    """Temporal connected components: maximal sets of vertices that all reach each other.

    They are the maximal cliques of the affine graph, ``reachability_graph(T, mutual=True)``. As reach in time is not
    transitive, a vertex may be in several of them.

    Parameters
    ----------
    T : TemporalGraph
        On the CPU.
    connection : {"strong", "weak"}
        "weak" takes all arcs both ways, each at its time.
    min_size : int
        Minimum number of vertices of a component.
    within, start, end, strict
        As for `reachability_graph`.

    Yields
    ------
    array of shape (k,)
        The vertices of a component, names where T has names, else indices; as `find_cliques` yields them, of which
        there may be very many. ``maximum_clique(reachability_graph(T, mutual=True))`` is a largest one.

    References
    ----------
    V. Nicosia, J. Tang, M. Musolesi, G. Russo, C. Mascolo, V. Latora, "Components in time-varying graphs", Chaos 22
    (2012).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("eve", "ann", 3)])
    >>> sorted(sorted(part.tolist()) for part in hpg.temporal_components(T))
    [['ann', 'bob'], ['ann', 'eve']]
    >>> sorted(sorted(part.tolist()) for part in hpg.temporal_components(T, connection="weak"))
    [['ann', 'bob', 'eve']]
    """
    checked(T)
    one_of(connection, "connection", ("strong", "weak"))
    contacts = T.undirected if connection == "weak" else T
    affine = reachability_graph(contacts, mutual=True, within=within, start=start, end=end, strict=strict)
    return find_cliques(affine, min_size=min_size)
