"""Random walks: from many vertices at once, along arcs drawn alike, by weight, or by where the walk was before."""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.random_choice import running_weights, seed_of
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.core.device import Array, array_module, check_memory, to_device
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling import STEP_SHIFT, Bias


@naming_arguments
def random_walk(
    G: Graph | Any, starts: Any = None, length: int = 10, *, weight: Any = None, incoming: bool = False, seed: int = 0
) -> Array:
    """Walks along random arcs, one from each start.

    Parameters
    ----------
    starts : vertex, sequence or array of vertices, names or hpgraph.id, optional
        Start of each walk, with repetitions allowed. By default each vertex once.
    length : int
        Number of steps of a walk.
    weight : None, bool or str
        None draws the arcs of a vertex uniformly, True by weight; an arc of weight 0 is not taken. A string names the
        attribute of a NetworkX graph, and "weight" means True otherwise.
    incoming : bool
        Whether to follow arcs backwards.
    seed : int
        Another seed, other walks; the same seed gives the same, on every device.

    Returns
    -------
    integer array of shape (k, length + 1)
        Indices of the vertices, in the type of the graph's ids, on its device; -1 after the end of a walk that reached
        a vertex without arcs. ``G.names`` has the names by index.

    Notes
    -----
    For draws by weight, running sums of the weights are cached with the graph, 8 bytes an arc. The GPU sums in another
    order, so that rounding may rarely change a draw there.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> hpg.random_walk(G, [0, 2], length=3).tolist()
    [[0, 1, 2, 3], [2, 3, -1, -1]]
    """
    return _walks(G, starts, length, weight, incoming, seed, None)


@naming_arguments
def node2vec_walk(
    G: Graph | Any,
    starts: Any = None,
    length: int = 10,
    *,
    p: float = 1.0,
    q: float = 1.0,
    weight: Any = None,
    incoming: bool = False,
    seed: int = 0,
) -> Array:
    """Second-order random walks: the probability of an arc depends on the previous vertex (parameters p and q).

    The result is that of `random_walk`.

    Parameters
    ----------
    G, starts, length, weight, incoming, seed
        As for `random_walk`.
    p : float
        Return parameter: the probability of an arc back to the previous vertex is divided by it.
    q : float
        In-out parameter: the probability of an arc to a vertex that is no neighbour of the previous one is divided by
        it.

    Notes
    -----
    Rejection sampling: arcs are proposed by weight and accepted by p and q. After 64 rejections, the probabilities of
    all arcs of the vertex are summed.

    References
    ----------
    A. Grover, J. Leskovec, "node2vec: scalable feature learning for networks", KDD'16.

    Examples
    --------
    With a large `p` a walk does not turn back before the end of a path.

    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.node2vec_walk(G, [0], length=4, p=1e9).tolist()
    [[0, 1, 2, 3, 2]]
    """
    given = []
    for value, name in ((p, "p"), (q, "q")):
        number = real(value, name)
        if not 0 < number < math.inf or 1 / number == math.inf:
            raise ValueError(f"{name} must be positive and finite, not {value!r}")
        given.append(1 / number)
    return _walks(G, starts, length, weight, incoming, seed, Bias(given[0], 1.0, given[1]))


def _walks(G: Any, starts: Any, length: Any, weight: Any, incoming: bool, seed: Any, bias: Bias | None) -> Any:
    graph, weighted = with_weights(G, weight, parallel="keep")
    steps, counter = whole(length, "length", least=0, below=1 << 63 - STEP_SHIFT), seed_of(seed)
    xp = array_module(graph.device)
    begin = xp.arange(graph.n_vertices) if starts is None else graph.indices_of(starts, "starts")
    begin = xp.ascontiguousarray(to_device(begin, graph.device), dtype=np.int64)
    check_memory(len(begin) * (steps + 1) * graph.id_dtype.itemsize, f"{len(begin):,} walks", graph.device)
    arcs = graph.in_csr if incoming else graph.out_csr
    return sampling(graph.device).walks(arcs, running_weights(graph, arcs, weighted), begin, steps, counter, bias)
