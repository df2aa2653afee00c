"""Quality functions of communities: the weight within them, minus a resolution times the null model's weight."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.communities import as_labels, checked, quality_terms
from hpgraph.algorithms.vertex_values import as_array, vertex_values
from hpgraph.containers.graph import Graph, naming_arguments, whole
from hpgraph.core.device import anywhere, array_module, to_device
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level, in_units

# For each objective: the variable to which the expected weight between two vertices is proportional, and whether the
# quality is a share of the total weight.
_NULLS = {
    "modularity": ("strength", True),
    "rbconfiguration": ("strength", False),
    "cpm": ("nodes", False),
    "rber": ("density", False),
}
# Bound of the resolution of searches: sums of weights in units are below 2⁵², so that no vertices join long before.
_MAX = 1e200


class Objective(NamedTuple):
    """The objective of a search.

    ``level``: the graph with the null model of the objective; ``resolution``: that of the search, in its units;
    ``factor, penalty, unit, offset``: leidenalg's quality is ``factor · within - penalty · unit · shares + offset`` of
    the terms from `quality_terms`; ``strengths``: whether ``within - shares`` is a modularity.
    """

    level: Level
    resolution: float
    factor: float
    penalty: float
    unit: float
    offset: float
    strengths: bool

    def quality(self, label: Any, count: int) -> float:
        """The quality of communities, from labels below `count`."""
        within, shares = quality_terms(self.level, label, count)
        return float(self.factor * within - self.penalty * (self.unit * shares) + self.offset)


def objective_of(graph: Graph, level: Level, objective: Any, resolution: float, node_weights: Any) -> Objective:
    """An objective by name; `level` has the strengths of the vertices as their null model."""
    if not isinstance(objective, str) or objective.lower() not in _NULLS:
        raise ValueError(f'objective must be "modularity", "RBConfiguration", "CPM" or "RBER", not {objective!r}')
    null, is_share = _NULLS[objective.lower()]
    weight = level.total * level.unit
    if null == "strength":
        if node_weights is not None:
            raise ValueError('node_weights are only for "CPM" and "RBER": modularity uses strengths')
        factor = 1.0 if is_share else weight
        return Objective(level, resolution, factor, resolution * factor, 1.0, 0.0, True)
    weights = vertex_values(graph, 1.0 if node_weights is None else node_weights, "node_weights", np.dtype(np.float64))
    nodes, node_unit = in_units(weights, "node_weights must be finite and not negative")
    strength = int(nodes.sum())
    all_nodes = strength * node_unit
    pairs = all_nodes * (all_nodes - 1)
    # In units of the graph's weights, and in weights.
    each, penalty, alone = resolution / level.unit, resolution, 1.0
    if null == "density":
        each = resolution * (level.total / pairs) if pairs > 0 else 0.0
        penalty = each * level.unit
    elif anywhere(graph.out_csr.indices == graph.out_csr.expand_rows()):
        # leidenalg counts pairs of a vertex with itself only if there are loops: once, or twice if undirected.
        alone = 0.0 if graph.directed else -1.0
    searched = level._replace(sent=nodes, received=nodes, strength=strength)
    sought = min(each * node_unit * node_unit * level.total, _MAX)
    unit = node_unit * level.total
    return Objective(searched, sought, weight, penalty, unit * unit, penalty * alone * all_nodes, False)


@naming_arguments
def community_quality(
    G: Graph | Any,
    communities: Any,
    objective: str = "modularity",
    weight: Any = "weight",
    resolution: float = 1,
    *,
    node_weights: Any = None,
) -> float:
    """The quality of communities by an objective of `hpgraph.leiden`, with leidenalg's definition.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    communities : Communities, integer array of length n, dict, or list of collections of vertices
        As for `hpgraph.modularity`.
    objective, resolution, node_weights
        As for `hpgraph.leiden`.
    weight : None, bool or str
        As for `hpgraph.louvain`.

    Returns
    -------
    float
        The value of leidenalg's ``quality``: modularity is a share of the total weight, the others are in weights, with
        undirected edges counted twice. NaN if there is no edge, or all weights are 0.

    Notes
    -----
    With w the total weight of the edges, weighted n_c vertices and the strength k_c of a community (k⁺ and k⁻ in
    directed graphs), and γ the resolution, "RBConfiguration" is the weight within communities less ``γ Σ k_c² / 2w``
    (or ``γ Σ k⁺_c k⁻_c / w``), "CPM" less ``γ Σ n_c (n_c - 1)``, and "RBER" the same times the density. igraph's CPM is
    ``(quality - γ Σ n_v) / 2w`` without loops: it counts the pair of a vertex with itself, and divides by the weight.

    References
    ----------
    J. Reichardt, S. Bornholdt, "Statistical mechanics of community detection", Physical Review E 74 (2006). V. A.
    Traag, P. Van Dooren, Y. Nesterov, "Narrow scope for resolution-limit-free community detection", Physical Review E
    84 (2011).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> round(hpg.community_quality(G, [0, 0, 0, 1, 1, 1], "CPM", resolution=0.5), 6)
    6.0
    """
    graph, level, resolution = checked(G, weight, resolution, positive=False)
    count, label = as_labels(graph, communities)
    made = objective_of(graph, level, objective, resolution, node_weights)
    return made.quality(label, count)


def start_of(graph: Graph, start: Any) -> Any:
    """Initial communities as labels by index, each below n; None for singletons."""
    if start is None:
        return array_module(graph.device).arange(graph.n_vertices, dtype=graph.id_dtype)
    label = as_labels(graph, start, "start")[1].astype(graph.id_dtype)
    return kernels(graph.device).represented(label)


def movable_of(graph: Graph, fixed: Any) -> Any:
    """Mask of the vertices that may leave their communities; None if all may."""
    if fixed is None:
        return None
    xp, n = array_module(graph.device), graph.n_vertices
    mask = as_array(fixed, "fixed")
    if mask.dtype == np.bool_:
        if mask.shape != (n,):
            raise ValueError(f"fixed must say so for each of the {n} vertices, or list vertices, not {mask.shape}")
        return ~to_device(mask, graph.device)
    movable = xp.ones(n, np.bool_)
    movable[to_device(graph.indices_of(fixed, "fixed"), graph.device)] = False
    return movable


def size_limit(max_size: Any, label: Any) -> int:
    """Maximum size of a community, 0 for no limit; `label`: the initial communities, which must satisfy it."""
    if max_size is None:
        return 0
    limit = whole(max_size, "max_size", "a whole number or None", least=1)
    largest = int(array_module(label).bincount(label).max()) if len(label) else 0
    if largest > limit:
        raise ValueError(f"start: a community has {largest} vertices, more than max_size={limit}")
    return min(limit, len(label))
