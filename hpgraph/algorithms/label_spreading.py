"""Labels of some vertices spread to the others along arcs: semi-supervised learning on a graph.

D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schölkopf, "Learning with local and global consistency", NIPS 2003, and
X. Zhu, Z. Ghahramani, "Learning from labeled and unlabeled data with label propagation", CMU-CALD-02-107 (2002). An
iteration multiplies the sparse matrix of the arcs by the dense one of distributions, a column a label.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.adjacency_operator import arc_sums, inverse
from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.power_iteration import checked, ending, iterated, warn_unless
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.containers.graph import Graph, named, naming_arguments, real
from hpgraph.core.device import Array, array_module, check_memory, to_device, total


@dataclass(frozen=True, eq=False)
class LabelResult(ArrayResult, array="label", groups=True):
    """Labels of all vertices by an iteration. ``numpy.asarray`` converts it to the labels.

    Attributes
    ----------
    label : array of length n
        By index, the label of largest share. Integer labels are on the graph's device, with −1 for vertices that no
        label reached; others are in a NumPy array of objects, with None for such vertices.
    classes : array of length c
        The labels, in the order of the columns: integers ascending, others by first occurrence.
    distribution : float array of shape (n, c)
        Share of each label at each vertex, on the graph's device; rows sum to 1, or to 0 if no label reached a vertex.
    iterations : int
    residual : float
        The last iteration's change, summed over all of the distribution.
    converged : bool
    """

    label: Any
    classes: Any
    distribution: Array
    iterations: int
    residual: float
    converged: bool

    def __repr__(self) -> str:
        return f"<LabelResult: {len(self)} vertices, {len(self.classes)} labels, {ending(self)}>"


@naming_arguments
def label_spreading(
    G: Graph | Any,
    labels: Any,
    *,
    alpha: float = 0.2,
    tol: float = 1e-3,
    max_iteration: int = 30,
    weight: str | bool | None = "weight",
    dtype: Any = np.float64,
) -> LabelResult:
    """Labels of all vertices from labels of some, which may change.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one labels propagate along arcs to their targets. Loops have no effect.
    labels : integer array of length n, or dict
        An integer for each vertex, −1 for unknown labels, as in scikit-learn; or a dict of hashable labels by vertex,
        with None, or −1 among integers, for unknown ones.
    alpha : float
        Share that a vertex takes from its neighbours, between 0 and 1; the rest is its own label.
    tol : float
        Iterations stop when the changes of all vertices and labels sum to less. 0 runs `max_iteration` iterations.
    max_iteration : int
        Maximum number of iterations.
    weight : None, bool or str
        Whether weights, if there are any, multiply the values sent along arcs, as for `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of the distributions.

    Notes
    -----
    An iteration is ``F ← α S F + (1 − α) Y``, where Y has the given labels and S is the adjacency matrix divided by the
    square roots of out-degrees and in-degrees, or of sums of weights. Names, defaults and the stopping rule are those
    of scikit-learn's LabelSpreading. Memory: four numbers for each vertex and label.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], directed=False)
    >>> found = hpg.label_spreading(G, {0: "left", 5: "right"})
    >>> found
    <LabelResult: 6 vertices, 2 labels, converged after 5 iterations, residual 0.00099>
    >>> found.label.tolist()
    ['left', 'left', 'left', 'right', 'right', 'right']
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    tol, limit, dtype = checked(tol, max_iteration, dtype)
    alpha = real(alpha, "alpha", above=0, below=1)
    _, classes, labelled = _initial_amounts(graph, labels, dtype)
    arcs = arc_sums(graph, weighted=weighted, loops=False, dtype=dtype)
    xp = array_module(graph.device)
    leaving, arriving = (xp.sqrt(inverse(total))[:, None] for total in (arcs.sent, arcs.received))
    arriving *= dtype.type(alpha)
    own = dtype.type(1 - alpha) * labelled

    def step(held: Any) -> Any:
        received = arcs.matrix @ (leaving * held)
        received *= arriving
        received += own
        return received

    result = _iterated(step, labelled, classes, tol, limit)
    warn_unless(result.converged, tol, "label spreading", result.iterations, result.residual)
    return named(result, graph)


@naming_arguments
def label_propagation(
    G: Graph | Any,
    labels: Any,
    *,
    tol: float = 1e-3,
    max_iteration: int = 1000,
    weight: str | bool | None = "weight",
    dtype: Any = np.float64,
) -> LabelResult:
    """Labels of all vertices from labels of some, which do not change.

    Parameters
    ----------
    G, labels, tol, weight, dtype
        As for `label_spreading`.
    max_iteration : int
        Maximum number of iterations.

    Returns
    -------
    LabelResult
        A vertex without a label has, for each label, the mean over its neighbours: the probability that a random walk
        from it, against the arcs, reaches that label first.

    Notes
    -----
    In each iteration a vertex takes the weighted mean of its in-neighbours, scaled to sum 1, and labelled vertices are
    reset. Names, defaults and the stopping rule are those of scikit-learn's LabelPropagation. The community search of
    the same name is `hpgraph.cdlp`. Memory: four numbers for each vertex and label.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.label_propagation(G, [0, -1, -1, 7], tol=1e-9).distribution.round(2).tolist()
    [[1.0, 0.0], [0.67, 0.33], [0.33, 0.67], [0.0, 1.0]]
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    tol, limit, dtype = checked(tol, max_iteration, dtype)
    known, classes, labelled = _initial_amounts(graph, labels, dtype)
    arcs = arc_sums(graph, weighted=weighted, loops=False, dtype=dtype)
    share = inverse(arcs.received)[:, None]
    clamped = (known >= 0)[:, None]
    xp = array_module(graph.device)

    def step(held: Any) -> Any:
        received = arcs.matrix @ held
        received *= share
        return xp.where(clamped, labelled, _scaled(received))

    result = _iterated(step, labelled, classes, tol, limit)
    warn_unless(result.converged, tol, "label propagation", result.iterations, result.residual)
    return named(result, graph)


def _iterated(step: Callable[[Any], Any], given: Any, classes: Any, tol: float, limit: int) -> LabelResult:
    """Iterate until convergence; the result with the labels of largest amounts."""

    def moved(before: Any, iterations: int) -> tuple[Any, float]:
        amounts = step(before)
        return amounts, float(total(abs(amounts - before), np.float64))

    amounts, iterations, residual = iterated(moved, given, limit, lambda residual: residual < tol)
    xp, distribution = array_module(amounts), _scaled(amounts)
    place = distribution.argmax(axis=1)
    reached = distribution.any(axis=1)
    if classes.dtype == object:
        label = np.where(to_device(reached, "cpu"), classes[to_device(place, "cpu")], None)
    else:
        label = xp.where(reached, classes[place], -1)
    return LabelResult(label, classes, distribution, iterations, residual, residual < tol)


def _scaled(amounts: Any) -> Any:
    """Rows scaled to sum 1, but for those that are 0."""
    total = amounts.sum(axis=1, keepdims=True)
    return amounts / array_module(amounts).where(total > 0, total, 1)


def _initial_amounts(graph: Graph, labels: Any, dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    """`_label_codes`, and the distributions: one-hot for labelled vertices, 0 for others."""
    codes, classes = _label_codes(graph, labels)
    xp, shape = array_module(codes), (len(codes), len(classes))
    # Distributions given, current, previous, and sent.
    check_memory(4 * math.prod(shape) * dtype.itemsize, "distributions of labels", graph.device)
    one_hot = xp.zeros(shape, dtype)
    vertices = xp.flatnonzero(codes >= 0)
    one_hot[vertices, codes[vertices]] = 1
    return codes, classes, one_hot


def _label_codes(graph: Graph, labels: Any) -> tuple[Any, Any]:
    """For each vertex the index of its label in the sorted labels, −1 without one; and the labels."""
    xp, n = array_module(graph.device), graph.n_vertices
    if isinstance(labels, Mapping):
        codes, classes = _by_vertex(graph, labels)
    else:
        by_vertex = to_device(as_array(labels, "labels"), graph.device)
        if by_vertex.shape != (n,):
            raise ValueError(
                f"labels must have one value for each of the {n} vertices, not shape {by_vertex.shape}; "
                "a dict gives them by vertex"
            )
        if n and (by_vertex.dtype.kind not in "iu" or not np.can_cast(by_vertex.dtype, np.int64)):
            raise TypeError(
                "labels must be whole numbers that int64 can hold, -1 where there is none, not "
                f"{by_vertex.dtype}; a dict gives others by vertex"
            )
        by_vertex = by_vertex.astype(np.int64)
        has = by_vertex != -1
        classes = xp.unique(by_vertex[has])
        codes = xp.where(has, xp.searchsorted(classes, by_vertex), -1) if len(classes) else by_vertex
    if not len(classes):
        raise ValueError("labels must give at least one vertex a label; all are -1, or there are none")
    return codes, classes


def _by_vertex(graph: Graph, labels: Mapping[Any, Any]) -> tuple[Any, Any]:
    vertices = to_device(graph.indices_of(list(labels), "labels"), "cpu")
    if np.unique(vertices).size < vertices.size:
        raise ValueError("labels must not give a vertex twice")
    try:
        different = list(dict.fromkeys(labels.values()))
    except TypeError:
        raise TypeError("labels must be values that a dict takes for keys, such as numbers, text or tuples") from None
    whole = all(_fits(label) for label in different)
    different = sorted(set(different) - {-1}) if whole else [label for label in different if label is not None]
    place = {label: i for i, label in enumerate(different)}
    codes = np.full(graph.n_vertices, -1)
    codes[vertices] = [place.get(label, -1) for label in labels.values()]
    if whole:
        classes: Any = to_device(np.array(different, np.int64), graph.device)
    else:
        classes = np.fromiter(different, object, len(different))
    return to_device(codes, graph.device), classes


def _fits(label: Any) -> bool:
    """Whether int64 represents the label exactly."""
    return isinstance(label, int | np.integer) and not isinstance(label, bool) and -(2**63) <= int(label) < 2**63
