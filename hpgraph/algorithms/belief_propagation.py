"""Loopy belief propagation: marginals of a pairwise Markov random field, by messages along the edges.

J. Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988), section 4; J. S. Yedidia, W. T. Freeman, Y. Weiss,
"Understanding belief propagation and its generalizations" (2001). A message lies beside the arc that it comes along,
arcs being ordered by target: those that reach a vertex lie in one piece, and their sum is a sparse product. All are
logarithms, so that vertices with many neighbours neither underflow nor overflow.
"""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.power_iteration import checked, ending, iterated, warn_unless
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.containers.graph import Graph, named, naming_arguments, one_of, real
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module, check_memory, everywhere, to_device
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.backend import kernels


@dataclass(frozen=True, eq=False)
class BeliefResult(ArrayResult, array="belief", columns=("state",), groups=True):
    """Result of `hpgraph.belief_propagation`. ``numpy.asarray`` converts it to the beliefs.

    Attributes
    ----------
    belief : float array of shape (n, c)
        By index, the marginal probability of each state of each vertex, on the graph's device; rows sum to 1. With
        "max", the max-marginals, scaled likewise.
    state : integer array of length n
        The state of largest belief; ties go to the first.
    iterations : int
    residual : float
        The largest change of a message's logarithm in the last iteration.
    converged : bool
    """

    belief: Array
    state: Array
    iterations: int
    residual: float
    converged: bool

    def __repr__(self) -> str:
        return f"<BeliefResult: {len(self)} vertices, {self.belief.shape[1]} states, {ending(self)}>"


@naming_arguments
def belief_propagation(
    G: Graph | Any,
    unary: Any,
    potential: Any,
    *,
    product: str = "sum",
    damping: float = 0.0,
    tol: float = 1e-6,
    max_iteration: int = 100,
    weight: str | bool | None = "weight",
    dtype: Any = np.float64,
) -> BeliefResult:
    """Marginal probabilities of the c states of every vertex in a pairwise Markov random field.

    The probability of all states together is proportional to the product of ``unary[v, x_v]`` over all vertices and
    ``potential[x_u, x_v]`` over all edges.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one each arc u -> v is an edge of its own, and the state of u selects the row.
        Messages go in both directions in either.
    unary : array of shape (n, c), or dict
        Weight of each state of each vertex (unary potential), not negative, on any scale; 0 excludes the state. A dict
        gives rows by vertex; others are ones.
    potential : array of shape (c, c)
        Weight of each pair of neighbours' states (pairwise potential), positive, on any scale; symmetric in an
        undirected graph.
    product : {"sum", "max"}
        Marginals (sum-product), or max-marginals, which are largest at the most probable joint state (max-product).
    damping : float
        Share of the old message's logarithm in the new one, from 0 to below 1; 0.5 may help convergence.
    tol : float
        Iterations stop when no message's logarithm changes by `tol`. 0 runs `max_iteration` iterations.
    max_iteration : int
        Maximum number of iterations.
    weight : None, bool or str
        Whether the weight of an edge, if there are any, is the exponent of its potential: 0 removes the edge's effect,
        a negative weight inverts it; as for `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of messages and beliefs.

    Returns
    -------
    BeliefResult
        Exact on forests, after one iteration more than the longest path has edges; otherwise an approximation.

    Notes
    -----
    All messages are updated together (flooding). A loop counts as ``potential[x_v, x_v]``. Memory: five numbers for
    each arc, in both directions, and state.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)
    >>> found = hpg.belief_propagation(G, {0: [9, 1]}, [[3, 1], [1, 3]])
    >>> found.belief.round(3).tolist()
    [[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]]
    >>> found
    <BeliefResult: 3 vertices, 2 states, converged after 3 iterations, residual 0>
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    tol, limit, dtype = checked(tol, max_iteration, dtype)
    damping = real(damping, "damping", least=0, below=1)
    one_of(product, "product", ("sum", "max"))
    likes = _potential(graph, potential, dtype)
    own = _unary(graph, unary, likes.shape[0], dtype)
    xp = array_module(graph.device)
    arcs, powers, loops = _powers(graph, weighted, dtype)
    own += loops[:, None] * likes.diagonal()
    # Messages, the next ones, what makes them, and two arrays of work.
    check_memory(5 * arcs.nnz * len(likes) * dtype.itemsize, "messages of belief propagation", graph.device)
    each = xp.arange(arcs.nnz, dtype=index_dtype(arcs.nnz))
    gathered = matrix_of_csr(CSR((len(own), arcs.nnz), arcs.indptr, each, validate=False))
    back = kernels(graph.device).positions_of(arcs, arcs.indices, arcs.expand_rows())
    send = _sender(likes, powers, product)

    def step(messages: Any, iterations: int) -> tuple[Any, float]:
        # The message to a neighbour combines all messages received except that neighbour's.
        incoming = (own + gathered @ messages).take(arcs.indices, axis=0)
        incoming -= messages.take(back, axis=0)
        outgoing = send(_highest_is_0(incoming))
        if damping:
            outgoing += damping * (messages - outgoing)
        return outgoing, float(abs(outgoing - messages).max()) if outgoing.size else 0.0

    messages = xp.zeros((arcs.nnz, len(likes)), dtype)
    messages, iterations, residual = iterated(step, messages, limit, lambda residual: residual < tol)
    belief = xp.exp(_highest_is_0(own + gathered @ messages))
    belief /= belief.sum(axis=1, keepdims=True)
    converged = residual < tol
    warn_unless(converged, tol, "belief propagation", iterations, residual)
    return named(BeliefResult(belief, belief.argmax(axis=1), iterations, residual, converged), graph)


def _highest_is_0(logs: Any) -> Any:
    """Subtract from each row of logarithms its maximum, in place."""
    logs -= _row_maxima(logs)[:, None]
    return logs


def _row_maxima(values: Any) -> Any:
    # By columns, of which there are few: reductions of short rows are slow.
    return functools.reduce(array_module(values).maximum, values.T)


def _sender(likes: Any, powers: list[tuple[Any, bool]] | None, product: str) -> Callable[[Any], Any]:
    """The messages of senders from their states: rows of logarithms, the largest being 0."""
    xp, c = array_module(likes), len(likes)
    floats = np.finfo(likes.dtype)
    if powers is None and product == "sum" and float(likes.min()) > math.log(floats.tiny) / 2:
        # In this range neither factors nor products underflow. BLAS may be many times slower for so few columns.
        factors = xp.exp(likes)
        return lambda incoming: _highest_is_0(xp.log(xp.einsum("as,st->at", xp.exp(incoming), factors)))

    largest = max((float(abs(power).max()) for power, _ in powers or () if power.size), default=1.0)
    if not -largest * float(likes.min()) < math.sqrt(floats.max):
        raise ValueError("weights must be smaller: a potential raised to such powers is beyond all floats")

    def send(incoming: Any) -> Any:
        messages = xp.empty_like(incoming)
        for state in range(c):
            if powers is None:
                terms = incoming + likes[:, state]
            else:
                terms = incoming.copy()
                for power, along in powers:
                    terms += power[:, None] * (likes[:, state] if along else likes[state])
            highest = _row_maxima(terms)
            messages[:, state] = highest
            if product == "sum":
                terms -= highest[:, None]
                messages[:, state] += xp.log(xp.exp(terms).sum(axis=1))
        return _highest_is_0(messages)

    return send


def _powers(graph: Graph, weighted: bool, dtype: np.dtype[Any]) -> tuple[CSR, list[tuple[Any, bool]] | None, Any]:
    """The arcs of messages, by target; powers of the potential on them, by rows or columns; powers on loops."""
    xp, n = array_module(graph.device), graph.n_vertices
    vertices = xp.arange(n)
    loops = _weights_at(graph.out_csr, vertices, vertices, weighted, dtype)
    arcs = graph.undirected.out_csr.with_data(None).without_diagonal()
    if not graph.directed and not (weighted and graph.weighted):
        return arcs, None, loops
    target, source = arcs.expand_rows(), arcs.indices
    powers = [(_weights_at(graph.out_csr, source, target, weighted, dtype), True)]
    if graph.directed:
        powers.append((_weights_at(graph.out_csr, target, source, weighted, dtype), False))
    return arcs, powers, loops


def _weights_at(csr: CSR, rows: Any, columns: Any, weighted: bool, dtype: np.dtype[Any]) -> Any:
    """The weight of each of these arcs, or 1; 0 for pairs without an arc."""
    xp = array_module(csr.indptr)
    at = kernels(csr.device).positions_of(csr, rows, columns)
    if csr.data is None or not weighted or not csr.nnz:
        return (at >= 0).astype(dtype)
    with np.errstate(over="ignore"):
        weights = xp.where(at >= 0, csr.data[xp.maximum(at, 0)].astype(dtype), 0)
    if not everywhere(xp.isfinite(weights)):
        raise ValueError(f"weights must be finite, in {dtype}; or weight=None leaves them out")
    return weights


def _potential(graph: Graph, given: Any, dtype: np.dtype[Any]) -> Any:
    """Logarithms of the potential, scaled so that the largest is 0."""
    likes = _numbers(given, "potential", graph)
    if likes.ndim != 2 or likes.shape[0] != likes.shape[1] or not likes.size:
        raise ValueError(f"potential must have a row and a column for each state, not shape {likes.shape}")
    xp = array_module(likes)
    if not everywhere((likes > 0) & (likes < np.inf)):
        raise ValueError("potential must be positive and finite; a small number makes a pair of states unlikely")
    if not graph.directed and not bool(xp.array_equal(likes, likes.T)):
        raise ValueError(
            "potential must be symmetric where edges have no direction; in a directed graph sources choose its rows"
        )
    likes = xp.log(likes)
    return (likes - likes.max()).astype(dtype)


def _unary(graph: Graph, given: Any, c: int, dtype: np.dtype[Any]) -> Any:
    """Logarithms of the unary factors, −inf for excluded states, scaled so that the largest of each row is 0."""
    n = graph.n_vertices
    if isinstance(given, Mapping):
        rows = np.ones((n, c))
        vertices = to_device(graph.indices_of(list(given), "unary"), "cpu")
        if np.unique(vertices).size < vertices.size:
            raise ValueError("unary must not give a vertex twice")
        for vertex, row in zip(vertices, given.values(), strict=True):
            values = to_device(_numbers(row, "unary", graph), "cpu")
            if values.shape != (c,):
                raise ValueError(f"unary must give {c} numbers a vertex, one a state, not shape {values.shape}")
            rows[vertex] = values
        given = rows
    values = _numbers(given, "unary", graph)
    if values.shape != (n, c):
        raise ValueError(
            f"unary must have shape {(n, c)}, a row a vertex and a column a state of potential, not {values.shape}"
        )
    xp = array_module(values)
    if not everywhere((values >= 0) & (values < np.inf)):
        raise ValueError("unary must be finite and not negative")
    if not everywhere(values.any(axis=1)):
        raise ValueError("unary must have a number above 0 in each row")
    # log(0) = −inf is intended.
    with np.errstate(divide="ignore"):
        return _highest_is_0(xp.log(values)).astype(dtype)


def _numbers(given: Any, name: str, graph: Graph) -> Any:
    """Float64 numbers on the graph's device."""
    values = as_array(given, name)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers, not {values.dtype}")
    return to_device(values, graph.device).astype(np.float64)
