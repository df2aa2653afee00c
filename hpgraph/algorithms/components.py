"""Connected components, weak and strong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hpgraph.device import array_module, kernels, to_device
from hpgraph.engine.program import Property, VertexProgram
from hpgraph.engine.run import run
from hpgraph.graph import Graph, as_graph


@dataclass(frozen=True)
class ComponentsResult:
    """The connected components of a graph.

    Attributes
    ----------
    count : int
        How many there are.
    label : int32 or int64 array of length n
        The component of each vertex; components are numbered by their smallest vertex.
    """

    count: int
    label: Any

    def __repr__(self) -> str:
        return f"<ComponentsResult: {self.count:,} of {len(self.label):,} vertices>"


class Descendants(VertexProgram):
    """Who is reached from the active vertices along arcs inside a part of the graph."""

    weighted = False
    reduce = "any"
    parent = Property("int64", initial=-1, start="id")
    steps = Property("int32", initial=-1, start=0)
    part = Property("int64")

    def edge_cond(source, weight, target):  # noqa: D102
        return source.part == target.part

    def gather(source, weight, target):  # noqa: D102
        return source.id  # type: ignore[attr-defined]

    def update(vertex, message, world):  # noqa: D102
        return message, world.superstep, vertex.part


class Ancestors(Descendants):
    """The same against the arcs."""

    edges = "out"


def connected_components(G: Graph | Any, *, connection: Literal["weak", "strong"] = "weak") -> ComponentsResult:
    """The component of every vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    connection : {"weak", "strong"}
        Whether two vertices belong together when arcs connect them, taken in either direction, or only when each
        reaches the other along arcs. In an undirected graph that is the same.

    Returns
    -------
    ComponentsResult
        On the graph's device.

    Raises
    ------
    ValueError
        If `connection` is neither.

    References
    ----------
    M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
    IPDPS'18. L. Fleischer, B. Hendrickson, A. Pınar, "On identifying strongly connected components in parallel", 2000.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1, 3], [1, 0, 1], n_vertices=5)
    >>> hpg.connected_components(G).label.tolist()
    [0, 0, 1, 0, 2]
    >>> hpg.connected_components(G, connection="strong").label.tolist()
    [0, 0, 1, 2, 3]
    """
    if connection not in ("weak", "strong"):
        raise ValueError(f'connection must be "weak" or "strong", not {connection!r}')
    graph = as_graph(G)
    if connection == "strong" and graph.directed:
        return _numbered(_strong(graph))
    # Whether the graph is directed is asked only where it is known: finding out costs as much as the components.
    return _numbered(kernels(graph.device).components(graph.out_csr, graph.known_undirected))


def _numbered(smallest: Any) -> ComponentsResult:
    """Components by number, from the smallest vertex of each vertex's component."""
    xp = array_module(smallest)
    is_smallest = smallest == xp.arange(len(smallest), dtype=smallest.dtype)
    number = xp.cumsum(is_smallest, dtype=smallest.dtype) - 1
    count = int(number[-1]) + 1 if len(number) else 0
    return ComponentsResult(count, number[smallest])


def _strong(graph: Graph) -> Any:
    """The smallest vertex of each vertex's strong component.

    One vertex of each part is a pivot; those that it reaches and that reach it are its component, and the rest falls
    into parts that no component straddles. With pivots drawn at random some log n rounds remain.
    """
    n, xp = graph.n_vertices, array_module(graph.device)
    ids = graph.out_csr.indices.dtype
    smallest = xp.arange(n, dtype=ids)
    part = xp.zeros(n, dtype=np.int64)
    # In the first round a vertex of many arcs is likely to lie in a component that is most of the graph.
    pivots = (graph.out_degree * graph.in_degree).argmax().reshape(1) if n else smallest
    rng = np.random.default_rng(0)
    while len(pivots):
        reached = run(Descendants, graph, active=pivots, part=part).steps >= 0
        reaching = run(Ancestors, graph, active=pivots, part=part).steps >= 0
        found = xp.flatnonzero(reached & reaching)
        least = xp.full(n, n, dtype=np.int64)
        kernels(graph.device).minimum_at(least, part[found], found)
        smallest[found] = least[part[found]]
        # Three parts come of each; a component that was found is a part of its own, whose vertices start nothing.
        part = xp.where(part < 0, -1, part * 3 + reached + 2 * reaching)
        part[found] = -1
        left = xp.flatnonzero(part >= 0)
        left = left[to_device(rng.permutation(len(left)), graph.device)]
        _, first, part[left] = xp.unique(part[left], return_index=True, return_inverse=True)
        pivots = left[first]
    return smallest
