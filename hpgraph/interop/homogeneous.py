"""All kinds of vertices and edges of a `HeteroGraph` as one graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hpgraph.containers.columns import NO_COLUMNS, Columns, stacked, taken, values_of
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, prefix_sum
from hpgraph.formats import CSR

Relation = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class HomogeneousGraph:
    """The vertices and edges of all kinds as one graph, on which every algorithm runs: `HeteroGraph.homogeneous`.

    Attributes
    ----------
    graph : Graph
        Directed; vertices of one kind have successive indices. A multigraph where several relations join two vertices.
    kinds, relations : tuple
        What the numbers in `kind` and `relation` mean.
    offsets : tuple of int
        Where the vertices of each kind begin, and at the end how many there are.
    kind : integer array of shape (n,)
        Of each vertex.
    relation : integer array of shape (n_edges,)
        Of each arc, in the order of ``graph.edges(both_ways=True)``.
    """

    graph: Graph
    kinds: tuple[str, ...]
    relations: tuple[Relation, ...]
    offsets: tuple[int, ...]
    kind: Any
    relation: Any

    def split(self, values: Any) -> dict[str, Any]:
        """Values of all vertices, whose last axis has length n, by kind.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> H = hpg.HeteroGraph({("author", "writes", "paper"): [("ann", "p1"), ("ann", "p2")]})
        >>> both = H.homogeneous()
        >>> {kind: some.tolist() for kind, some in both.split(both.graph.in_degree).items()}
        {'author': [0], 'paper': [1, 1]}
        """
        values = values if hasattr(values, "shape") else np.asarray(values)
        if values.shape[-1] != self.offsets[-1]:
            raise ValueError(f"values must be of {self.offsets[-1]} vertices, not of shape {values.shape}")
        ends = pairwise(self.offsets)
        return {kind: values[..., begin:end] for kind, (begin, end) in zip(self.kinds, ends, strict=True)}


def graph_columns(edges: Mapping[str, Any], vertices: Mapping[str, Any]) -> Columns:
    """Columns as a Graph has them: one number, text or date for each."""
    made = Columns(_flat(edges), _flat(vertices))
    return made if made.edges or made.vertices else NO_COLUMNS


def _flat(held: Mapping[str, Any]) -> dict[str, Any]:
    return {title: column for title, column in held.items() if values_of(column).ndim == 1}


def homogeneous_of(H: Any, chosen: tuple[Relation, ...]) -> HomogeneousGraph:
    """The graph of all vertices and of the edges of some relations."""
    counts = [H.n_vertices(kind) for kind in H.kinds]
    xp = array_module(H.device)
    offsets = prefix_sum(np.asarray(counts))
    begin = dict(zip(H.kinds, offsets.tolist(), strict=False))
    parts = [H[relation].csr for relation in chosen]
    typed = [csr.dtype for csr in parts if csr.dtype is not None]
    dtype = np.result_type(*typed) if typed else None
    none = xp.zeros(0, np.int64)
    source: Any = [csr.expand_rows() + begin[of] for csr, (of, _, _) in zip(parts, chosen, strict=True)]
    target: Any = [csr.indices + begin[to] for csr, (_, _, to) in zip(parts, chosen, strict=True)]
    codes = xp.repeat(xp.arange(len(parts)), xp.asarray([csr.nnz for csr in parts], np.int64)) if parts else none
    n = int(offsets[-1])
    # Parallel edges, of different relations, keep this order; edge numbers in place of weights identify them.
    source, target = (xp.concatenate(ends or [none]) for ends in (source, target))
    numbered = CSR.from_coo(source, target, xp.arange(len(codes)), (n, n), duplicates="keep", copy=False)
    weights = None
    if dtype is not None:
        weights = xp.concatenate([csr.astype(dtype).data for csr in parts])[numbered.data]
    graph = Graph._from_csr(numbered.with_data(weights, copy=False), True, None, not numbered.is_canonical())
    edges = stacked((_flat(H.columns(relation)), csr.nnz) for relation, csr in zip(chosen, parts, strict=True))
    vertices = stacked((_flat(H.columns(kind)), count) for kind, count in zip(H.kinds, counts, strict=True))
    graph._columns_held = graph_columns(
        {title: taken(column, numbered.data) for title, column in edges.items()}, vertices
    )
    kind = xp.repeat(xp.arange(len(H.kinds)), xp.asarray(np.diff(offsets)))
    return HomogeneousGraph(graph, H.kinds, chosen, tuple(offsets.tolist()), kind, codes[numbered.data])
