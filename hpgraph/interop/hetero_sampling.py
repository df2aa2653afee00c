"""Multi-hop neighbour sampling in heterogeneous graphs."""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hpgraph.algorithms.hop_sampling import Drawable, checked_draws, sample_hops
from hpgraph.algorithms.neighbor_sampling import fanouts_of
from hpgraph.algorithms.random_choice import seed_of
from hpgraph.core.device import array_module, to_device, unmasked
from hpgraph.interop.homogeneous import Relation
from hpgraph.kernels.backend import kernels


@dataclass(frozen=True, eq=False)
class HeteroSample:
    """A sampled neighbourhood in a heterogeneous graph: `hpgraph.NeighborSample` by kind and by relation.

    Arrays are int64, on the graph's device.

    Attributes
    ----------
    vertex : dict of arrays
        By kind, the index in the graph of each vertex of the sample, in order of discovery, seeds first.
    edge_index : dict of arrays of shape (2, m)
        By relation, the sampled neighbour and the vertex that it was sampled for, each numbered within its kind.
    edge : dict of arrays
        By relation, the position of each edge among the entries of the relation's matrix, in order of rows.
    seeds : dict of arrays
        By kind, the number in the sample of each seed.
    batch : dict of arrays, or None
        In a disjoint sample, the number of the seed whose tree contains each vertex, over all kinds.
    vertices_of_hop, edges_of_hop : dict of lists
        Numbers of new vertices at each hop, by kind, seeds first; numbers of sampled edges, by relation.
    graph : HeteroGraph
    """

    vertex: dict[str, Any]
    seeds: dict[str, Any]
    batch: dict[str, Any] | None
    edge_index: dict[Relation, Any]
    edge: dict[Relation, Any]
    vertices_of_hop: dict[str, list[int]]
    edges_of_hop: dict[Relation, list[int]]
    graph: Any = field(repr=False)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{len(found):,} {kind}" for kind, found in self.vertex.items())
        edges = sum(ends.shape[1] for ends in self.edge_index.values())
        return f"<HeteroSample: {kinds}; {edges:,} edges of {len(self.edge_index)} relations>"


def sample_hetero(
    H: Any, seeds: Mapping[str, Any], fanouts: Any, replace: bool, incoming: bool, disjoint: bool, seed: int
) -> HeteroSample:
    """`hpgraph.HeteroGraph.sample_neighbors`."""
    if not isinstance(seeds, Mapping) or not seeds:
        raise TypeError('seeds must be a dict of vertices by kind, {"paper": [0, 5]}')
    starts = {kind: to_device(_indices(H, kind, chosen), H.device) for kind, chosen in seeds.items()}
    hops = hops_by_relation(H.relations, fanouts, H._meant)
    relations = {relation: _drawable(H, relation, incoming) for relation in hops}
    counts = {kind: H.n_vertices(kind) for kind in H.kinds}
    draws = checked_draws(replace, disjoint, None, "uniform", False)
    return HeteroSample(*sample_hops(relations, counts, starts, {}, hops, draws, seed_of(seed), H.device), H)


_MADE: weakref.WeakKeyDictionary[Any, dict[Any, Drawable]] = weakref.WeakKeyDictionary()


def _drawable(H: Any, relation: Relation, incoming: bool) -> Drawable:
    """The arcs of a relation by source, or by target with their numbers; cached."""
    made = _MADE.setdefault(H, {})
    if (relation, incoming) not in made:
        (source, _, target), csr = relation, H[relation].csr.pattern
        if incoming:
            numbers = array_module(H.device).arange(csr.nnz)
            transposed = kernels(H.device).transpose(csr.with_data(numbers, copy=False))
            made[relation, incoming] = Drawable(target, source, transposed.pattern, transposed.data)
        else:
            made[relation, incoming] = Drawable(source, target, csr)
    return made[relation, incoming]


def hops_by_relation(relations: Any, fanouts: Any, meant: Any) -> dict[Relation, list[int]]:
    """The fanouts of each relation to follow."""
    if not isinstance(fanouts, Mapping):
        return dict.fromkeys(relations, fanouts_of(fanouts))
    hops = {meant(relation): fanouts_of(given) for relation, given in fanouts.items()}
    if len({len(given) for given in hops.values()}) > 1:
        raise ValueError(f"fanouts must have as many hops for each relation, not {fanouts!r}")
    return hops


def _indices(H: Any, kind: str, chosen: Any) -> Any:
    """Indices of vertices of a kind, given by name or by index."""
    chosen = unmasked(chosen, "seeds")
    if hasattr(chosen, "dtype") and chosen.dtype.kind in "iu" and H.names(kind) is None:
        found, n = chosen.reshape(-1).astype(np.int64), H.n_vertices(kind)
        if len(found) and not (int(found.min()) >= 0 and int(found.max()) < n):
            raise IndexError(f"seeds must lie in 0..{n - 1} for {kind}")
        return found
    listed = [chosen] if isinstance(chosen, str) or not hasattr(chosen, "__iter__") else chosen
    return np.array([H.index_of(kind, one) for one in listed], np.int64)
