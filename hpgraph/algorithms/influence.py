"""Influence maximization: vertices from which independent cascades reach most others, by reverse reachable sets."""

from math import ceil, exp, inf, lgamma, log, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.distances import weight_facts, with_weights
from hpgraph.algorithms.random_choice import seed_of
from hpgraph.algorithms.vertex_values import vertex_names
from hpgraph.core.device import Array
from hpgraph.core.number import real, whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.sampling.cpu_cascades import ReverseSets

_STREAM = 0x1F83D9ABFB41BD6B


class Influence(NamedTuple):
    """Result of `hpgraph.influence_maximization`: vertices in the order of choice, and the size of their cascades.

    ``spread[i]`` is the expected number of vertices that the first i + 1 reach, themselves among them.
    """

    vertices: Array
    spread: np.ndarray


@naming_arguments
def influence_maximization(
    G: Any, k: int, probability: float | None = None, *, weight: Any = None, epsilon: float = 0.3, seed: int = 0
) -> Influence:
    """Influence maximization: k vertices whose independent cascades reach approximately the most vertices.

    A vertex that is reached activates the target of each of its arcs once, with a probability.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    k : int
        Number of vertices to choose, 1 to n.
    probability : float, optional
        Probability of each arc, by default 0.1.
    weight : None, bool or str
        Whether probabilities are weights instead, from 0 to 1; as for `hpgraph.pagerank`.
    epsilon : float
        With probability at least 1 - 1/n the result reaches a share 1 - 1/e - `epsilon` of the optimum; usually far
        more. The time is proportional to 1/epsilon².
    seed : int
        Random seed; the same seed gives the same result on every machine.

    Returns
    -------
    Influence
        ``vertices``: names if the graph has names, else indices, in NumPy; ``spread``: float64 of shape (k,).

    Raises
    ------
    ValueError, TypeError
        If a number is out of range, or an argument is not a number.

    Notes
    -----
    Runs on the CPU; a graph on the GPU is copied to it. Random reverse reachable sets are drawn, as many as the bounds
    of IMM require, and vertices that cover most of them are chosen greedily; the sets determine the memory.

    References
    ----------
    Y. Tang, Y. Shi, X. Xiao, "Influence maximization in near-linear time: a martingale approach", SIGMOD'15, with the
    correction of W. Chen, "An issue in the martingale analysis of the influence maximization algorithm IMM" (2018).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 0, 4], [1, 2, 3, 5])
    >>> hpg.influence_maximization(G, 2, 1.0).vertices.tolist()
    [0, 4]
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    arcs, n = graph.out_csr, graph.n_vertices
    uniform = 0.1 if probability is None else real(probability, "probability")
    if weighted and probability is not None:
        raise ValueError("give probability or weight, not both")
    facts = weight_facts(arcs) if weighted else None
    largest = uniform if facts is None else float(arcs.data.max()) if arcs.nnz else 0.0
    if (facts is not None and facts.has_nan) or not 0 <= (uniform if facts is None else facts.least) <= largest <= 1:
        raise ValueError(f"{'weight' if weighted else 'probability'}: probabilities of arcs must be from 0 to 1")
    whole(k, "k", least=1, most=n)
    real(epsilon, "epsilon", above=0, below=1)
    inward = graph.in_csr.to("cpu")
    sets = ReverseSets(inward if weighted else inward.pattern, uniform, seed_of(seed, _STREAM))
    n_sets = _sample_size(sets, n, k, epsilon)
    # The sets so far determined the sample size, so the choice uses independent new sets.
    sets.forget()
    sets.extend(n_sets)
    chosen, covered = sets.choose(k)
    return Influence(vertex_names(graph, chosen.astype(graph.id_dtype)), n * covered / sets.count)


def _sample_size(sets: Any, n: int, k: int, epsilon: float) -> int:
    """How many sets suffice: algorithm 2 of Tang, Shi and Xiao, with failures of probability 1/n."""
    if n < 3:
        return 1000
    power = 1 + log(2) / log(n)
    choices = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    alpha = sqrt(power * log(n) + log(2))
    beta = sqrt((1 - exp(-1)) * (choices + power * log(n) + log(2)))
    upper_bound = 2 * n * ((1 - exp(-1)) * alpha + beta) ** 2 / epsilon**2
    coarse = sqrt(2) * epsilon
    factor = (2 + 2 * coarse / 3) * (choices + power * log(n) + log(max(log2(n), 1))) * n / coarse**2
    reached, lower_bound = inf, float(k)
    while reached > 2 * lower_bound:
        reached = min(reached, float(n)) / 2
        sets.extend(ceil(factor / reached))
        spread = n * float(sets.choose(k)[1][-1]) / sets.count
        if spread >= (1 + coarse) * reached:
            lower_bound = max(lower_bound, spread / (1 + coarse))
            break
    return ceil(upper_bound / lower_bound)
