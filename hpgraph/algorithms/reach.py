"""Reachability: the vertices reached from each of many sources, or from any of them."""

from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.distance_blocks import blocks_from
from hpgraph.algorithms.lengths import with_lengths
from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.vertex_values import vertex_names
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, check_memory, to_device
from hpgraph.core.number import real, whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.engine.multi_source_totals import Levels, LevelsBack, survey
from hpgraph.engine.run import run
from hpgraph.formats import Bitmask


@naming_arguments
def reach(
    G: Graph | Any,
    sources: Any = None,
    *,
    within: float | None = None,
    incoming: bool = False,
    weight: Any = None,
    form: Literal["counts", "bool", "bits"] = "counts",
    seed: Any = None,
) -> Any:
    """How many vertices, or which, each source reaches.

    Parameters
    ----------
    sources : None, int, or sequence of vertices, names or hpgraph.id
        None for all vertices; a number draws that many distinct ones with `seed`. A vertex reaches itself.
    within : int, or number for weights, optional
        Largest distance: in arcs, or in sums of weights.
    incoming : bool
        Whether to follow arcs backwards: the vertices that reach the source.
    weight : None, bool or str
        What an arc counts: None 1, True the weight that the graph holds. A string names the attribute where `G` is a
        NetworkX graph, and "weight" means True elsewhere.
    form : {"counts", "bool", "bits"}
        What to return.
    seed : int or numpy.random.Generator, optional
        Of the draw.

    Returns
    -------
    counts : int64 array of shape (k,)
        How many vertices each source reaches; in the order of `sources`. Nothing else is kept.
    bool : array of bool of shape (k, n)
        Whether the source reaches the vertex.
    bits : list of k hpgraph.formats.Bitmask
        The same in an eighth of the memory. All lie on the graph's device.

    References
    ----------
    H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD'16.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> hpg.reach(G).tolist(), hpg.reach(G, [0, 3], within=2).tolist()
    ([4, 3, 2, 1], [3, 1])
    >>> hpg.reach(G, [3], within=1, incoming=True, form="bits")[0].to_indices().tolist()
    [2, 3]
    """
    if form not in ("counts", "bool", "bits"):
        raise ValueError(f'form must be "counts", "bool" or "bits", not {form!r}')
    graph, weighted = with_lengths(G, weight)
    limit = _limit(within, weighted, "within")
    vertices = sources_of(graph, sources, seed)
    k, n, xp = len(vertices), graph.n_vertices, array_module(graph.device)
    if form == "counts" and not weighted:
        depth = None if limit is None else int(limit)
        return to_device(survey(graph, vertices, incoming=incoming, max_depth=depth).reached, graph.device)
    size = {"counts": 8, "bool": n, "bits": (n + 63) // 64 * 8}[form]
    check_memory(k * size, f"reach from {k:,} sources, as {form},", graph.device)
    counts, flags, bits = xp.zeros(k, np.int64), xp.empty((k if form == "bool" else 0, n), bool), []
    for part, block in blocks_from(graph, vertices, incoming=incoming, weighted=weighted, limit=limit):
        there = block < np.inf if weighted else block >= 0
        if form == "counts":
            counts[part] = there.sum(axis=1)
        elif form == "bool":
            flags[part] = there
        else:
            bits += [Bitmask.from_bool(xp.ascontiguousarray(one)) for one in there]
    return {"counts": counts, "bool": flags, "bits": bits}[form]


@naming_arguments
def k_hop(
    G: Graph | Any,
    sources: Any,
    k: int,
    *,
    incoming: bool = False,
    form: Literal["subgraph", "vertices", "count", "bool", "bits"] = "subgraph",
) -> Any:
    """The neighbourhood of some vertices: all that one of them reaches within k arcs.

    Parameters
    ----------
    sources : vertex, name, hpgraph.id, or sequence or array of them
        Where it is; they belong to it.
    k : int
        Arcs at the most; 1 gives the sources and their successors.
    incoming : bool
        Whether to follow arcs backwards. ``G.undirected`` follows them both ways.
    form : {"subgraph", "vertices", "count", "bool", "bits"}
        What to return.

    Returns
    -------
    subgraph : Graph
        These vertices, in ascending order, and all arcs among them, on the graph's device. Names are kept; in a graph
        without names the ids become names, so that a vertex goes by what it went by before.
    vertices : array
        Names, in NumPy; or indices, on the graph's device, if the graph has no names. In ascending order of index.
    count : int
        How many there are.
    bool, bits : array of bool of shape (n,), or hpgraph.formats.Bitmask
        Whether a vertex is one of them; on the graph's device.

    Notes
    -----
    One search from all sources at once, whatever their number; `reach` searches from each.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], names=["a", "b", "c", "d", "e"])
    >>> hpg.k_hop(G, "b", 2)
    Graph: 3 vertices, 2 arcs, directed, no weights, cpu, named 'b', 'c', 'd'
    >>> hpg.k_hop(G, ["a", "d"], 1, form="vertices").tolist()
    ['a', 'b', 'd', 'e']
    """
    forms = ("subgraph", "vertices", "count", "bool", "bits")
    if form not in forms:
        raise ValueError(f"form must be one of {', '.join(forms)}, not {form!r}")
    graph = as_graph(G)
    limit = _limit(k, False, "k")
    if limit is None:
        raise TypeError("k must be a whole number, not None: hpgraph.reach goes as far as arcs lead")
    starts = graph.indices_of(sources, "sources")
    if len(starts) == 0:
        raise ValueError("sources is empty: give a vertex at least")
    program = LevelsBack if incoming else Levels
    flags = run(program, graph, active=id(starts), max_iteration=int(limit)).level >= 0
    if form == "bool":
        return flags
    if form == "bits":
        return Bitmask.from_bool(flags)
    if form == "count":
        return int(flags.sum())
    if form == "subgraph":
        return graph.subgraph(flags)
    return vertex_names(graph, array_module(graph.device).flatnonzero(flags))


def _limit(value: Any, weighted: bool, argument: str) -> float | None:
    """How far to search, or None for as far as arcs lead."""
    if value is None:
        return None
    if not weighted and isinstance(value, float | np.floating) and value.is_integer():
        value = int(value)
    limit = real(value, argument, "a number or None") if weighted else whole(value, argument)
    if not limit >= 0:
        raise ValueError(f"{argument} must not be negative, not {value!r}")
    return limit
