"""Epidemics on a graph, step by step, in many runs at once: one product with the adjacency matrix a step.

Arcs from infected vertices act independently of each other, so their number at a vertex determines the probability of
its infection, and no arc draws a number of its own.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.out_strength import least_and_largest
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, anywhere, array_module, check_memory, to_device
from hpgraph.core.number import generator, real, whole
from hpgraph.core.suggestions import naming_arguments


class Epidemic(NamedTuple):
    """What `hpgraph.sir` and `hpgraph.sis` return: arrays on the graph's device, a column for each of several runs.

    ``susceptible``, ``infected``, ``recovered``: int64, how many vertices are so at the start and after each step;
    ``infected_at``: int32, the step in which each vertex was infected first, 0 for those at the start, -1 for never.
    """

    susceptible: Array
    infected: Array
    recovered: Array
    infected_at: Array


@naming_arguments
def sir(
    G: Any, initial: Any, beta: float, gamma: float, *, weight: Any = None, max_steps: int | None = None,
    runs: int | None = None, seed: int = 0,
) -> Epidemic:  # fmt: skip
    """The SIR epidemic model: susceptible vertices become infected, and then recovered and immune.

    In each step every arc from an infected vertex infects its susceptible target with probability `beta`; then vertices
    infected before the step recover with probability `gamma`. With `gamma` 1 it is the independent cascade.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; parallel arcs act independently.
    initial : sequence of vertices, names or hpgraph.id
        The initially infected vertices.
    beta, gamma : float
        Probabilities, 0 to 1.
    weight : None, bool or str
        Whether an arc of weight w counts as w arcs, w >= 0; as for `hpgraph.pagerank`.
    max_steps : int, optional
        Maximum number of steps; by default until no vertex is infected.
    runs : int, optional
        Number of independent runs: arrays have a column for each. By default one, without columns.
    seed : int, optional
        Random seed. The CPU and the GPU draw different numbers.

    Returns
    -------
    Epidemic
        ``susceptible``, ``infected`` and ``recovered`` of shape (steps + 1,), ``infected_at`` of shape (n,).

    Raises
    ------
    ValueError, TypeError, IndexError
        If a number is out of range, an argument is not a number, or a vertex does not exist; if `gamma` is 0 without
        `max_steps`.

    References
    ----------
    R. Pastor-Satorras, C. Castellano, P. Van Mieghem, A. Vespignani, "Epidemic processes in complex networks", Reviews
    of Modern Physics 87 (2015).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.sir(G, [0], 1, 1).infected_at.tolist()
    [0, 1, 2, 3]
    """
    return _epidemic(G, initial, beta, gamma, weight, max_steps, runs, seed, immune=True)


@naming_arguments
def sis(
    G: Any, initial: Any, beta: float, gamma: float, *, weight: Any = None, max_steps: int = 100,
    runs: int | None = None, seed: int = 0,
) -> Epidemic:  # fmt: skip
    """The SIS epidemic model: infected vertices become susceptible again.

    Parameters, result and errors are those of `sir`; ``recovered`` is 0. It ends after `max_steps`, or when no vertex
    is infected.

    References
    ----------
    R. Pastor-Satorras, A. Vespignani, "Epidemic spreading in scale-free networks", Physical Review Letters 86 (2001).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0], [1], directed=False)
    >>> hpg.sis(G, [0], 1, 1, max_steps=3).infected.tolist()
    [1, 1, 1, 1]
    """
    return _epidemic(G, initial, beta, gamma, weight, max_steps, runs, seed, immune=False)


def _epidemic(
    G: Any, initial: Any, beta: float, gamma: float, weight: Any, max_steps: int | None, runs: int | None, seed: int,
    *, immune: bool,
) -> Epidemic:  # fmt: skip
    graph, weighted = with_weights(G, weight, parallel="sum")
    arcs = graph.out_csr
    smallest, largest = least_and_largest(arcs) if weighted and arcs.nnz else (0.0, 0.0)
    if not 0 <= smallest <= largest < np.inf:
        raise ValueError("weight: weights are multiplicities of arcs and must not be negative, NaN or infinite")
    for name, value in (("beta", beta), ("gamma", gamma)):
        real(value, name, "a probability", least=0, most=1)
    if immune and max_steps is None and gamma == 0:
        raise ValueError("max_steps: with gamma=0 no vertex recovers; give the steps to take")
    limit = np.inf if max_steps is None else whole(max_steps, "max_steps", least=0)
    shape = (graph.n_vertices,) if runs is None else (graph.n_vertices, whole(runs, "runs", least=0))
    check_memory(40 * int(np.prod(shape)), "the runs of an epidemic", graph.device)
    xp = array_module(graph.device)
    rng = generator(whole(seed, "seed"), xp)
    inward = graph.in_csr
    matrix = matrix_of_csr(inward.astype(np.float64) if weighted else inward.pattern)
    infected, infected_at = xp.zeros(shape, np.bool_), xp.full(shape, -1, np.int32)
    infected[to_device(graph.indices_of(initial, "initial"), graph.device)] = True
    infected_at[infected] = 0
    recovered, step = xp.zeros(shape, np.bool_), 0
    rows = [[infected.sum(axis=0), recovered.sum(axis=0)]]
    while step < limit and anywhere(infected):
        step += 1
        reached = matrix @ infected.astype(np.float64)
        fresh = rng.random(shape) >= (1 - beta) ** reached
        fresh &= ~(infected | recovered)
        ended = infected & (rng.random(shape) < gamma)
        infected = infected & ~ended | fresh
        if immune:
            recovered |= ended
        infected_at[fresh & (infected_at < 0)] = step
        rows.append([infected.sum(axis=0), recovered.sum(axis=0)])
    many, immune_ones = (xp.stack([row[side] for row in rows]) for side in (0, 1))
    return Epidemic(graph.n_vertices - many - immune_ones, many, immune_ones, infected_at)
