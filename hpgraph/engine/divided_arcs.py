"""The arcs of a divided graph: of each shard the in-arcs of its vertices, by source and by target."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.engine.arcs import Arcs
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.out_of_core import Resident
from hpgraph.kernels.spmv.origin import without_values
from hpgraph.semiring.reads import reads

if TYPE_CHECKING:
    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.containers.shards import Shard
    from hpgraph.engine.direction import Direction
    from hpgraph.formats import Frontier
    from hpgraph.kernels.runtime.program import ProgramCode


class DividedArcs:
    """`hpgraph.engine.arcs.Arcs` of a graph in shards.

    Each shard has the in-arcs of its own vertices, so messages are combined where they are received, and shards
    exchange only properties that changed.
    """

    in_one_part, in_windows, in_shards = False, False, True

    def __init__(self, graph: DividedGraph, edges: str, weighted: bool, code: ProgramCode) -> None:
        graph = graph.undirected if edges == "all" else graph
        self.graph = graph.by_own_ids if graph.order is not None and reads_ids(code) else graph
        self._undivided = graph
        self._reversed = edges == "out"
        self._weighted = weighted

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The shards, by the numbers of which arcs go."""
        return self.graph.shards

    @property
    def sending(self) -> Resident:
        """Offsets of the arcs by the vertex that sends, on the first device, types, and how many there are."""
        n = self.graph.n_vertices
        key = "leaving, turned round" if self._reversed else "leaving"
        indptr = self.graph.once(key, self._leaving)
        return Resident((n, n), indptr, self.graph.n_edges, self.graph.dtype if self._weighted else None)

    def _leaving(self) -> Any:
        first = self.shards[0].device
        with first.here:
            xp = array_module(first.kind)
            indptr = xp.zeros(self.graph.n_vertices + 1, np.int64)
            xp.cumsum(self.graph.degrees_of_shards("in_csr" if self._reversed else "out_csr"), out=indptr[1:])
        return indptr

    @property
    def side(self) -> str:
        """Name of these arcs, for the names of cached layouts."""
        weights = "weights" if self._weighted and self.graph.weighted else "no weights"
        return f"{'out' if self._reversed else 'in'}, {weights}"

    def on_one_device(self, size: int) -> Arcs:
        """The same arcs on the first device alone, for messages of `size` bytes."""
        return Arcs(self._undivided.whole, "out" if self._reversed else "in", self._weighted, size)

    def leaving(self, shard: Shard) -> CSR:
        """Arcs by sending vertex: rows of the shard, as `Shard` has them."""
        csr = shard.in_csr if self._reversed else shard.out_csr
        return csr if self._weighted or csr.data is None else without_values(csr)

    def gathering(self, shard: Shard) -> CSR:
        """Arcs by gathering vertex: rows of the shard, as `Shard` has them."""
        csr = shard.out_csr if self._reversed else shard.in_csr
        return csr if self._weighted or csr.data is None else without_values(csr)

    def direction(self, frontiers: list[Frontier], policy: Direction, may_push: bool, shards: Any) -> tuple[bool, int]:
        """Whether a superstep of the general loop pushes, and how many arcs it visits."""
        return policy.of_superstep(frontiers[0], self.sending) if may_push else (False, self.sending.nnz)

    def each(self, work: Callable[[int], Any]) -> None:
        """Call `work` for each shard in turn; the kernels that it launches overlap."""
        for number in range(len(self.shards)):
            work(number)

    def parts(self) -> list[ShardArcs]:
        """The arcs of each shard, as the supersteps of one device take them."""
        return [
            ShardArcs(
                shard,
                self._kept(f"arcs of shard {i} by target, {self.side}", shard, self._by_target),
                lambda i=i, shard=shard: self._kept(  # type: ignore[misc]
                    f"arcs of shard {i} by source, {self.side}", shard, self._by_source
                ),
            )
            for i, shard in enumerate(self.shards)
        ]

    def _kept(self, name: str, shard: Shard, build: Callable[[Shard], CSR]) -> CSR:
        csr: CSR = self.graph.once(name, lambda: build(shard))
        return csr

    def _by_target(self, shard: Shard) -> CSR:
        with shard.device.here:
            return among_all(self.gathering(shard), shard.first)

    def _by_source(self, shard: Shard) -> CSR:
        with shard.device.here:
            return kernels(shard.device.kind).transpose(among_all(self.gathering(shard), shard.first))


class ShardArcs:
    """The arcs that reach one shard's vertices, numbered as in the whole graph: a `hpgraph.kernels.superstep.Part`."""

    def __init__(self, shard: Shard, gathering: CSR, sending: Callable[[], CSR]) -> None:
        self.shard, self.gathering, self._sending = shard, gathering, sending

    @property
    def sending(self) -> CSR:
        """By the vertex that sends; made when a superstep first pushes."""
        return self._sending()


def among_all(rows: CSR, first: int) -> CSR:
    """The rows of a shard as rows of a square matrix whose other rows are empty."""
    n, xp = rows.shape[1], array_module(rows.indptr)
    indptr = xp.empty(n + 1, np.int64)
    indptr[:first] = 0
    indptr[first : first + rows.shape[0] + 1] = rows.indptr
    indptr[first + rows.shape[0] + 1 :] = rows.nnz
    return CSR((n, n), indptr, rows.indices, rows.data, validate=False)


def reads_ids(code: ProgramCode) -> bool:
    """Whether a program's functions read vertices' ids, or do more with a vertex than to read its attributes."""
    functions = code.gather, code.update, code.cond, code.edge_cond, code.aggregate, code.sends
    return any(
        attributes is None or "id" in attributes
        for function in functions
        if function is not None
        for name, attributes in reads(function).items()
        if name not in ("weight", "message", "world", "key", "payload")
    )


def told_by_senders(code: ProgramCode) -> tuple[int, ...]:
    """Numbers of the source properties that messages depend on: those that shards exchange."""
    read: set[str] = set()
    for function in (code.gather, code.edge_cond):
        if function is None:
            continue
        attributes = next(iter(reads(function).values()))
        if attributes is None:
            return tuple(range(len(code.properties)))
        read |= attributes
    return tuple(i for i, (name, _) in enumerate(code.properties) if name in read)
