"""Batches that are induced subgraphs: of some communities (Cluster-GCN), or of what is drawn (GraphSAINT)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.batch_loader import BatchLoader
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.neighbor_sampling import NeighborSample
from hpgraph.algorithms.random_choice import drawn_by
from hpgraph.algorithms.random_walks import random_walk
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.containers.graph import Graph, id, whole
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR, Bitmask, occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.semiring.counter_random import random_bits

# Epochs that inclusion probabilities are estimated from, apart from those that are iterated.
_BEFORE = 1 << 40


class _Inclusion(NamedTuple):
    """How likely a batch has each vertex, and both ends of each arc, by its number."""

    vertex: Any
    edge: Any


class SubgraphLoader(BatchLoader):
    """Batches of vertices with all edges among them; iterating prefetches the next batches.

    Parameters
    ----------
    by : {"vertices", "edges", "walks"}, Communities, or integer array of shape (n,)
        Sampling of a batch: vertices, by their number of arcs plus one; edges, by the sum of the inverse degrees of
        their ends; walks of `length` steps from uniform vertices. An array has the community of each vertex, for
        example from `hpgraph.leiden`; each epoch shuffles the communities.
    batch_size : int
        Draws of a batch, with replacement; or communities of a batch.
    batches : int, optional
        Batches of an epoch; by default as many as draw n vertices. With communities, as many as they fill.
    length : int
        Number of steps of a walk.
    coverage : int
        For walks: number of epochs drawn beforehand, from which factors are estimated; 0 for no factors. Those of
        vertices and edges are exact.
    incoming : bool
        Whether messages flow along arcs rather than against them, as for `hpgraph.sample_neighbors`.
    prefetch : int
        Batches made ahead by a background thread; 0 makes each on request.
    seed : int
        Seed of order and draws. Same seed, same sequence; each epoch differs.

    Notes
    -----
    Batches are `NeighborSample`, whose seeds are all of their vertices. ``vertex_factor`` is the inverse of the
    probability that a batch contains the vertex: the sum of losses times it is an unbiased estimate of the sum over all
    vertices. ``edge_factor`` makes a vertex's sum over its edges an unbiased estimate of that over all neighbours.
    Sampling runs on the CPU, all else on the graph's device.

    References
    ----------
    W.-L. Chiang et al., "Cluster-GCN", KDD'19; H. Zeng et al., "GraphSAINT: graph sampling based inductive learning
    method", ICLR'20.

    Examples
    --------
    >>> G = hpg.datasets.grid(30)
    >>> loader = hpg.SubgraphLoader(G, hpg.leiden(G), batch_size=2)
    >>> sum(len(batch) for batch in loader) == G.n_vertices
    True
    """

    def __init__(
        self,
        G: Graph | Any,
        by: Any,
        *,
        batch_size: int = 1024,
        batches: int | None = None,
        length: int = 2,
        coverage: int = 0,
        incoming: bool = False,
        prefetch: int = 2,
        seed: int = 0,
    ) -> None:
        super().__init__(batch_size, prefetch, incoming, seed)
        graph = self.graph = with_weights(G, None, parallel="keep")[0]
        self.length, coverage = whole(length, "length", least=0), whole(coverage, "coverage", least=0)
        self._arcs = graph.numbered_in_csr if self.incoming and graph.directed else graph.numbered_out_csr
        self._inclusion: _Inclusion | None = None
        if not isinstance(by, str):
            if batches is not None:
                raise ValueError("batches: each community is one batch: omit batches")
            self.by = "communities"
            self._count = self._order_members(by)
            return
        vertices_of_draw = {"vertices": 1, "edges": 2, "walks": self.length + 1}
        if by not in vertices_of_draw:
            raise ValueError(f"by must be 'vertices', 'edges', 'walks' or the community of each vertex, not {by!r}")
        self.by, drawn = by, self.batch_size * vertices_of_draw[by]
        self._count = -(-graph.n_vertices // drawn) if batches is None else whole(batches, "batches", least=0)
        if by != "walks":
            self._upto, self._inclusion = _exact(self._arcs, by == "edges", graph.directed, self.batch_size)
        elif coverage:
            self._inclusion = self._estimated(coverage)

    def _order_members(self, by: Any) -> int:
        """Sorts the vertices by community; how many batches these make."""
        n, device = self.graph.n_vertices, self.graph.device
        label = to_device(as_array(getattr(by, "label", by), "by"), device)
        if label.shape != (n,) or label.dtype.kind not in "biu":
            described = f"{label.dtype} of shape {label.shape}"
            raise ValueError(f"by must have the community, a whole number, of each of {n} vertices, not {described}")
        xp = array_module(device)
        self._members = xp.argsort(label, kind="stable")
        first = xp.unique(label[self._members], return_index=True)[1]
        self._bounds = np.append(to_device(first, "cpu"), n)
        return -(-(len(self._bounds) - 1) // self.batch_size)

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<SubgraphLoader: {len(self):,} batches by {self.by}, {self.batch_size:,} each, {self.graph.device}>"

    def _batches(self, epoch: int) -> Iterator[NeighborSample]:
        order = None
        if self.by == "communities":
            order = np.random.default_rng([self.seed % 2**64, epoch]).permutation(len(self._bounds) - 1)
        for batch in range(len(self)):
            yield self._induced(self._drawn(epoch, batch, order))

    def _drawn(self, epoch: int, batch: int, order: Any) -> Any:
        """The vertices of a batch, some more than once."""
        xp, n = array_module(self.graph.device), self.graph.n_vertices
        if order is not None:
            batch_order = order[batch * self.batch_size : (batch + 1) * self.batch_size]
            return xp.concatenate([self._members[self._bounds[k] : self._bounds[k + 1]] for k in batch_order])
        rng = np.random.default_rng([self.seed % 2**64, epoch, batch])
        if self.by == "walks":
            roots = rng.integers(0, n, self.batch_size if n else 0)
            seed = int(random_bits(self.seed, epoch, batch))
            walks = random_walk(self.graph, id(roots), self.length, incoming=self.incoming, seed=seed)
            return walks[walks >= 0]
        if not len(self._upto) or not float(self._upto[-1]):
            return xp.zeros(0, np.int64)
        chosen = drawn_by(self._upto, rng.random(self.batch_size))
        if self.by == "vertices":
            return chosen
        row = xp.searchsorted(self._arcs.indptr, chosen, side="right") - 1
        return xp.concatenate((row, self._arcs.indices[chosen].astype(np.int64)))

    def _induced(self, vertices: Any) -> NeighborSample:
        graph, n = self.graph, self.graph.n_vertices
        xp = array_module(graph.device)
        flags = xp.zeros(n, bool)
        flags[vertices] = True
        part, vertex = kernels(graph.device).induced(self._arcs, Bitmask.from_bool(flags))
        vertex, number = vertex.astype(np.int64), part.data.astype(np.int64)
        ends = xp.stack((part.indices.astype(np.int64), part.expand_rows().astype(np.int64)))
        factors: dict[str, Any] = {}
        if self._inclusion is not None:
            own, both = self._inclusion.vertex[vertex], self._inclusion.edge[number]
            factors = {"vertex_factor": 1 / own, "edge_factor": own[ends[1]] / both}
        return NeighborSample(
            vertex, ends, number, xp.arange(len(vertex)), [len(vertex)], [ends.shape[1]], graph, **factors
        )

    def _estimated(self, coverage: int) -> _Inclusion:
        """Chances by counts over epochs that come before the first."""
        xp, runs = array_module(self.graph.device), max(coverage * len(self), 1)
        vertex, edge = xp.zeros(self.graph.n_vertices), xp.zeros(self._arcs.nnz)
        for run in range(coverage * len(self)):
            induced = self._induced(self._drawn(_BEFORE + run // len(self), run % len(self), None))
            vertex[induced.vertex] += 1
            edge[induced.edge] += 1
        # A vertex or arc that was never drawn is drawn about once in this many runs.
        return _Inclusion(xp.maximum(vertex, 1) / runs, xp.maximum(edge, 1) / runs)


def _exact(arcs: CSR, edges: bool, directed: bool, draws: int) -> tuple[Any, _Inclusion]:
    """Running sums of the weights of draws, and the probabilities that follow."""
    xp, n = array_module(arcs.device), arcs.shape[0]
    row, column = arcs.expand_rows(), arcs.indices
    degree = arcs.degrees + (occurrences(column, n) if directed else 0)
    loop = row == column
    if edges:
        weight = 1 / degree[row] + 1 / degree[column]
        share = weight / max(float(weight.sum()), 1e-300)
        # All arcs between the same two vertices, either way.
        pair = xp.unique(xp.minimum(row, column).astype(np.int64) * n + xp.maximum(row, column), return_inverse=True)[1]
        together = xp.bincount(pair.reshape(-1), share)[pair.reshape(-1)] if arcs.nnz else share
        of_draw = occurrences(row, n, share) + occurrences(column, n, xp.where(loop, 0, share))
    else:
        weight = degree + 1.0
        of_draw, together = weight / max(float(weight.sum()), 1e-300), 0.0

    def inclusion(each: Any) -> Any:
        """Probability of at least one in all draws."""
        return -xp.expm1(draws * xp.log1p(-xp.minimum(each, 1 - 1e-16)))

    own = inclusion(of_draw)
    both = own[row] + own[column] - inclusion(of_draw[row] + of_draw[column] - together)
    by_number = xp.empty(arcs.nnz)
    by_number[arcs.data] = xp.where(loop, own[row], both)
    return xp.cumsum(weight), _Inclusion(own, by_number)
