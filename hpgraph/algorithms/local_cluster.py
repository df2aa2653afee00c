"""Clusters around given vertices: the set of least conductance among those that hold most of what starts there."""

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import checked
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.heat_kernel import heat_kernel
from hpgraph.algorithms.out_strength import out_strength_of, scaled
from hpgraph.algorithms.pagerank_delta import ONE, Changes, in_proportion
from hpgraph.containers.graph import Graph, id, naming_arguments, one_of, real, vertex_names
from hpgraph.core.device import Array, array_module, device_of, to_device
from hpgraph.engine.definition import Parameter
from hpgraph.engine.run import run
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level, summed_by


class Push(Changes):
    """A vertex pushes its residual if that exceeds a share of the weight of its out-arcs."""

    enough = Parameter("float64")

    def update(vertex, message, world):  # noqa: D102
        waiting = vertex.waiting + message
        if waiting <= world.enough * vertex.leaving:
            return 0.0, vertex.rank, waiting, vertex.leaving
        return world.damping * waiting / vertex.leaving, vertex.rank + waiting, 0, vertex.leaving


WeightedPush = in_proportion(Push)


@naming_arguments
def local_cluster(
    G: Graph | Any,
    seeds: Any,
    *,
    method: str = "pagerank",
    damping: float = 0.85,
    t: float = 5.0,
    tol: float = 1e-6,
    weight: Any = "weight",
) -> tuple[Array, float]:
    """A cluster of small conductance around some vertices, by a sweep over the values of a local diffusion.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph.
    seeds : vertex, or array or sequence of vertices
        Start of the diffusion, uniform over the seeds.
    method : {"pagerank", "heat_kernel"}
        The diffusion: personalized PageRank, by pushes of residuals above `tol` times the degree (PageRank-Nibble), or
        heat.
    damping : float, in (0, 1)
        For PageRank: values closer to 1 reach further.
    t : float
        For heat: larger values reach further.
    tol : float
        Vertices with less than this share of their degree, or of their strength over the mean weight, are left out.
        PageRank visits at most about 1 / (tol (1 - damping)) arcs.
    weight : None, bool or str
        As for `hpgraph.louvain`.

    Returns
    -------
    vertices : array
        In descending order of value over strength; names if the graph has names, else indices.
    conductance : float
        As by `hpgraph.conductance`; NaN if no arc leaves the seeds.

    Notes
    -----
    The sweep selects the best prefix of this order. Heat spreads through the whole graph. Memory beside the graph: 60
    bytes a vertex.

    References
    ----------
    R. Andersen, F. Chung, K. Lang, "Local graph partitioning using PageRank vectors", FOCS'06. F. Chung, "A local graph
    partitioning algorithm using heat kernel pagerank", Internet Mathematics 6 (2009).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> vertices, conductance = hpg.local_cluster(G, 4)
    >>> sorted(vertices.tolist()), round(conductance, 4)
    ([3, 4, 5], 0.1429)
    """
    damping, tol = real(damping, "damping", above=0, below=1), real(tol, "tol", above=0, below=1)
    one_of(method, "method", ("pagerank", "heat_kernel"))
    original, weighted = with_weights(G, weight, parallel="sum")
    graph, level, _ = checked(scaled(original) if weighted else original, weighted, 1.0, positive=False)
    if graph.directed:
        raise ValueError("G must be undirected for local clusters, see G.undirected")
    xp, at = array_module(graph.device), to_device(original.indices_of(seeds, "seeds"), graph.device)
    if len(at) == 0:
        raise ValueError("seeds must have at least one vertex")
    seed = xp.zeros(graph.n_vertices)
    seed[at] = 1.0
    seed /= seed.sum()
    strength = level.sent * level.unit
    # In units of the mean weight of arcs, 1 without weights.
    enough = tol / (level.total * level.unit / max(graph.out_csr.nnz, 1)) if level.total else 0.0
    if method == "pagerank":
        score = _pushed(graph, seed, damping, enough, weighted)
    else:
        score = heat_kernel(graph, seed, t, laplacian="random-walk", tol=tol, weight=weighted)
        score[score < enough * strength] = 0
    score = xp.where(strength > 0, score, 0) / xp.where(strength > 0, strength, 1)
    reached = xp.flatnonzero(score > 0)
    if len(reached) == 0:
        return vertex_names(original, xp.unique(at)), float("nan")
    order = reached[xp.argsort(-score[reached], kind="stable")]
    cut = _sweep(level, order)
    best = int(cut.argmin())
    min_conductance = float(cut[best])
    return vertex_names(original, order[: best + 1]), min_conductance if min_conductance < np.inf else float("nan")


def _pushed(graph: Graph, seed: Any, damping: float, enough: float, weighted: bool) -> Any:
    """PageRank around the seeds, up to a factor; every residual is below this share of the vertex's strength."""
    xp, leaving = array_module(graph.device), out_strength_of(graph, weighted, np.dtype(np.float64))
    begin = seed * (1 - damping)
    share = xp.where(leaving > 0, damping * ONE * begin / leaving, 0.0)
    result = run(
        WeightedPush if weighted else Push, graph, active=id(xp.flatnonzero(seed)), share=share,
        rank=(begin * ONE).astype(np.int64), leaving=leaving, damping=damping, enough=enough * (1 - damping) * ONE,
    )  # fmt: skip
    return result.rank


def _sweep(level: Level, order: Any) -> Any:
    """The conductance of each prefix of an order of the vertices; infinite if the other vertices have no arcs."""
    xp, n = array_module(order), len(level.sent)
    place = xp.full(n, len(order), np.int64)
    place[order] = xp.arange(len(order))
    rows = kernels(device_of(order)).rows_of(level.arcs, order, 0, n)
    row, other = rows.expand_rows(), place[rows.indices]
    weight = xp.ones(len(row), np.int64) if rows.data is None else rows.data
    around = summed_by(row, weight * (row != other), len(order))
    # An arc is inside a prefix from the later of its two ends on.
    within = summed_by(xp.maximum(row, other), weight * (row != other), len(order) + 1)[:-1]
    cut, volume = xp.cumsum(around - within), xp.cumsum(level.sent[order])
    smaller_volume = xp.minimum(volume, level.total - volume)
    return xp.where(smaller_volume > 0, cut / xp.maximum(smaller_volume, 1), np.inf)
