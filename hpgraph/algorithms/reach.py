"""Reachability and surroundings: the vertices reached from each of many sources, or from any, and their graphs."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.distance_blocks import blocks_from
from hpgraph.algorithms.distances import with_lengths
from hpgraph.algorithms.sources import sources_of
from hpgraph.containers.graph import Graph, as_simple, id, naming_arguments, one_of, real, vertex_names, whole
from hpgraph.core.device import Array, array_module, check_memory, count, to_device
from hpgraph.engine.multi_source_totals import Levels, LevelsBack, survey
from hpgraph.engine.run import run
from hpgraph.engine.state import ENDLESS
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels


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
        What an arc counts, as for `hpgraph.closeness_centrality`.
    form : {"counts", "bool", "bits"}
        What to return.
    seed : int or numpy.random.Generator, optional
        Random seed of the draw.

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
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> hpg.reach(G).tolist(), hpg.reach(G, [0, 3], within=2).tolist()
    ([4, 3, 2, 1], [3, 1])
    >>> hpg.reach(G, [3], within=1, incoming=True, form="bits")[0].to_indices().tolist()
    [2, 3]
    """
    one_of(form, "form", ("counts", "bool", "bits"))
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
        reached = block < np.inf if weighted else block >= 0
        if form == "counts":
            counts[part] = reached.sum(axis=1)
        elif form == "bool":
            flags[part] = reached
        else:
            bits += [Bitmask.from_bool(xp.ascontiguousarray(one)) for one in reached]
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
    """The neighbourhood of some vertices: all vertices within k arcs of one of them.

    Parameters
    ----------
    sources : vertex, name, hpgraph.id, or sequence or array of them
        The sources, which belong to their neighbourhood.
    k : int
        Maximum number of arcs; 1 gives the sources and their successors.
    incoming : bool
        Whether to follow arcs backwards. ``G.undirected`` follows them both ways.
    form : {"subgraph", "vertices", "count", "bool", "bits"}
        Form of the result.

    Returns
    -------
    subgraph : Graph
        These vertices, in ascending order, and all arcs among them, on the graph's device. Names are kept; in a graph
        without names the ids become names, so that every vertex can be addressed as before.
    vertices : array
        Names, in NumPy; or indices, on the graph's device, if the graph has no names. In ascending order of index.
    count : int
        Number of vertices.
    bool, bits : array of bool of shape (n,), or hpgraph.formats.Bitmask
        Mask of the vertices, on the graph's device.

    Notes
    -----
    One search from all sources at once, whatever their number; `reach` searches from each.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], names=["a", "b", "c", "d", "e"])
    >>> hpg.k_hop(G, "b", 2)
    Graph: 3 vertices, 2 arcs, directed, no weights, cpu, named 'b', 'c', 'd'
    >>> hpg.k_hop(G, ["a", "d"], 1, form="vertices").tolist()
    ['a', 'b', 'd', 'e']
    """
    one_of(form, "form", ("subgraph", "vertices", "count", "bool", "bits"))
    graph = as_simple(G)
    limit = _limit(k, False, "k")
    if limit is None:
        raise TypeError("k must be a whole number, not None: hpgraph.reach has no limit")
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
        return count(flags)
    if form == "subgraph":
        return graph.subgraph(flags)
    return vertex_names(graph, array_module(graph.device).flatnonzero(flags))


def _limit(value: Any, weighted: bool, argument: str) -> float | None:
    """How far to search, or None for as far as arcs lead."""
    if value is None:
        return None
    if not weighted and isinstance(value, float | np.floating) and value.is_integer():
        value = int(value)
    return (
        real(value, argument, "a number or None", least=0)
        if weighted
        else min(whole(value, argument, least=0), ENDLESS)
    )


@naming_arguments
def ego_graph(
    G: Graph | Any, n: Any, radius: float = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> Graph:
    """The graph of all vertices within some distance of one, as NetworkX's.

    Parameters
    ----------
    n : vertex, name or hpgraph.id
        The center.
    radius : number
        Vertices no farther than that; where arcs count 1, NetworkX takes a fraction for the next whole number.
    center : bool
        Whether the vertex itself belongs to it.
    undirected : bool
        Whether to search along arcs in both directions; the arcs of the result keep their direction.
    distance : None, bool or str
        What an arc counts, as for `hpgraph.closeness_centrality`.

    Returns
    -------
    Graph
        As of `Graph.subgraph`: vertices keep their names, and where there are none, their indices become names.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> hpg.ego_graph(G, 2)
    Graph: 3 vertices, 4 arcs, undirected, no weights, cpu, named 1, 2, 3
    """
    graph, weighted = with_lengths(G, distance)
    limit = real(radius, "radius", least=0)
    middle = graph.index_of(n, "n")
    searched = graph.undirected if undirected else graph
    bound = None if limit == np.inf else limit if weighted else int(limit)
    ((_, block),) = blocks_from(searched, np.array([middle]), weighted=weighted, limit=bound)
    near = block[0] < np.inf if weighted else block[0] >= 0
    if not center:
        near[middle] = False
    return graph.subgraph(near)


@dataclass(frozen=True, eq=False)
class EgoSample:
    """The surroundings of several vertices, one part after the other; arrays are int64, on the graph's device.

    Attributes
    ----------
    vertex : array of shape (n,)
        Index in the graph of each vertex, ascending within a part; a vertex may be in several parts.
    batch : array of shape (n,)
        The part of each vertex.
    edge_index : array of shape (2, m)
        Source and target of each arc within a part, as places in `vertex`.
    edge : array of shape (m,)
        The number of each arc in the order of ``G.edges(both_ways=True)``.
    centers : array of shape (k,)
        Position of each center in `vertex`.
    graph : Graph
        The graph they are taken from.
    """

    vertex: Array
    batch: Any
    edge_index: Array
    edge: Array
    centers: Any
    graph: Graph = field(repr=False)

    def __len__(self) -> int:
        return int(self.batch[-1]) + 1 if len(self.batch) else 0

    @property
    def weight(self) -> Any:
        """The weight of each edge, or None where the graph has none."""
        return None if self.graph.out_csr.data is None else self.graph.out_csr.data[self.edge]

    @property
    def names(self) -> Any:
        """Each vertex as the graph calls it."""
        return vertex_names(self.graph, self.vertex)

    def __repr__(self) -> str:
        parts = f"{len(self):,} {'part' if len(self) == 1 else 'parts'}"
        return f"<EgoSample: {parts}, {len(self.vertex):,} vertices, {self.edge_index.shape[1]:,} edges>"


@naming_arguments
def k_hop_subgraph(
    G: Graph | Any, vertices: Any, k: int, *, each: bool = False, incoming: bool = False, undirected: bool = False
) -> EgoSample:
    """The subgraph within k arcs of some vertices, as arrays: one for all of them, or one for each.

    Parameters
    ----------
    vertices : vertex, sequence or array of vertices, names or hpgraph.id
        The centers.
    k : int
        Arcs at the most.
    each : bool
        Whether each vertex gets a part of its own, in the order given; else there is one part around all of them.
    incoming : bool
        Whether to follow arcs backwards, as PyTorch Geometric's function of the name does by default.
    undirected : bool
        Whether to follow arcs in both directions.

    Returns
    -------
    EgoSample
        With all arcs among the vertices of a part, whichever way they point.

    Notes
    -----
    With `each`, 64 searches run together; otherwise there is one search from all centers. ``torch.from_dlpack`` takes
    the arrays without a copy; `hpgraph.k_hop` gives a graph, or numbers.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> parts = hpg.k_hop_subgraph(G, [0, 2], 1, each=True)
    >>> parts
    <EgoSample: 2 parts, 4 vertices, 2 edges>
    >>> parts.vertex.tolist(), parts.batch.tolist(), parts.edge_index.tolist()
    ([0, 1, 2, 3], [0, 0, 1, 1], [[0, 2], [1, 3]])
    """
    graph = as_simple(G)
    limit = min(whole(k, "k", least=0), ENDLESS)
    middles = to_device(graph.indices_of(vertices), "cpu").astype(np.int64)
    if len(middles) == 0:
        raise ValueError("vertices is empty: give a vertex at least")
    xp, searched = array_module(graph.device), graph.undirected if undirected else graph
    if each:
        blocks = blocks_from(searched, middles, incoming=incoming, limit=limit)
        masks = [Bitmask.from_bool(row) for _, block in blocks for row in block >= 0]
    else:
        masks = [k_hop(searched, id(middles), limit, incoming=incoming, form="bits")]
    arcs = graph.numbered_out_csr
    parts = [kernels(graph.device).induced(arcs, mask) for mask in masks]
    sizes = np.cumsum([0, *(len(members) for _, members in parts)]).tolist()
    ends = np.cumsum([0, *(part.nnz for part, _ in parts)]).tolist()
    vertex, batch = xp.empty(sizes[-1], np.int64), xp.empty(sizes[-1], np.int64)
    edge_index, edge = xp.empty((2, ends[-1]), np.int64), xp.empty(ends[-1], np.int64)
    starts, centers = to_device(middles, graph.device), []
    for i, (part, members) in enumerate(parts):
        own, between = slice(sizes[i], sizes[i + 1]), slice(ends[i], ends[i + 1])
        vertex[own], batch[own], edge[between] = members, i, part.data
        xp.add(part.expand_rows(), sizes[i], out=edge_index[0, between], casting="unsafe")
        xp.add(part.indices, sizes[i], out=edge_index[1, between], casting="unsafe")
        centers.append(xp.searchsorted(vertex[own], starts[i : i + 1] if each else starts) + sizes[i])
    return EgoSample(vertex, batch, edge_index, edge, xp.concatenate(centers).astype(np.int64, copy=False), graph)
