"""Arcs on several devices, each of which updates a range of vertices of its own.

Every device holds all properties that messages depend on (strategy P of GTS: M.-S. Kim et al., SIGMOD'16). Where arcs
are in memory, messages are only to a device's own vertices, so none is transferred: after the updates devices exchange
the active vertices, and the new values of those that were updated.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.shards import Shard
from hpgraph.core.device import array_module
from hpgraph.core.devices import Devices, copy_between, move_array
from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.out_of_core import Resident
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement import Arcs, End, Share, reading_of
from hpgraph.placement.in_memory import InMemory
from hpgraph.semiring.reads import reads

# Share of a range of vertices above which all of it is copied: contiguous copies are several times as fast as copies of
# selected elements with their ids.
WHOLE_RANGE = 0.25


class OnDevices(Arcs):
    """Arcs of a graph in ranges (`graph.shards`), one a device: the exchange between them."""

    graph: Any
    # Numbers of the properties that other devices read.
    exchanged: tuple[int, ...]

    def arcs_of_shards(self) -> Sequence[Any]:
        """The data of each share, its `arcs`."""
        raise NotImplementedError

    def shares(
        self, state: tuple[Any, ...], frontier: Frontier, settled: Bitmask | None, work_space: Callable[..., Any]
    ) -> list[Share]:
        """One share a device; the first one's state is the run's own arrays, without a copy."""
        graph, n = self.graph, frontier.n
        if graph.place is not None:
            if not frontier.all_active:
                frontier = Frontier(n, ids=_sorted(graph.place[frontier.ids]))
            if settled is not None:
                settled = Bitmask.from_indices(graph.place[settled.to_indices()], n)
        own = tuple(graph.in_order_of_shards(values) for values in state)
        parts = []
        for i, (shard, arcs) in enumerate(zip(graph.shards, self.arcs_of_shards(), strict=True)):
            local_state = copies(own, shard.device, i)
            with shard.device.here:
                bits = array_module(shard.device.kind).zeros(n, np.bool_)
                bits[shard.first : shard.last] = True
                closed = None if settled is None else Bitmask(n, move_array(settled.words, shard.device).copy())
                parts.append(Share(
                    shard.device, shard.first, shard.last, local_state, work_space(local_state, closed), frontier,
                    Bitmask.from_bool(bits), arcs,
                ))  # fmt: skip
        _set_frontiers(parts, None if frontier.all_active else [frontier.ids], n)
        return parts

    def each(self, shares: Sequence[Share], work: Callable[[Share], Any]) -> list[Any]:
        """The results of `work` for each share, in turn; the kernels that it launches overlap."""
        results = []
        for share in shares:
            with share.device.here:
                results.append(work(share))
        return results

    def exchange_values(self, shares: Sequence[Share], ends: Sequence[End], all_active: bool) -> Any:
        """Copy the values of updated vertices to every device: whole ranges, or ids and values."""
        for giver, end in zip(shares, ends, strict=True):
            for taker in shares:
                if taker is not giver:
                    _copy_values(giver, taker, end.updated, self.exchanged)
        changed = [end.changed.ids for end in ends]
        _set_frontiers(shares, None if all_active and any(map(len, changed)) else changed, shares[0].frontier.n)
        return np.sum([end.sums for end in ends], axis=0)

    def finish(self, shares: Sequence[Share], run: Any) -> Any:
        """The vertices that are still active, or None; the properties are on the first device then, or in pieces."""
        gather_states(run, self.graph, [share.state for share in shares])
        left = shares[0].frontier
        if not left.size:
            return None
        with shares[0].device.here:
            ids, order = left.ids.copy(), self.graph.order
            return ids if order is None else _sorted(order[ids])


class InShards(OnDevices):
    """The arcs of a graph in shards: of each the in-arcs of its own vertices, where messages are combined."""

    in_shards = True

    def __init__(self, graph: DividedGraph, edges: str, weighted: bool, code: ProgramCode) -> None:
        graph = graph.undirected if edges == "all" else graph
        self.graph = graph.by_own_ids if graph.order is not None and reads_ids(code) else graph
        self.exchanged = reading_of(code).of_source
        self._undivided = graph
        self._reversed = edges == "out"
        self._weighted = weighted

    @property
    def sending(self) -> Resident:
        """Offsets, types and number of the arcs by sending vertex, on the first device."""
        n = self.graph.n_vertices
        key = "leaving, turned round" if self._reversed else "leaving"
        indptr = self.graph.once(key, self._leaving)
        return Resident((n, n), indptr, self.graph.n_edges, self.graph.dtype if self._weighted else None)

    def _leaving(self) -> Any:
        first = self.graph.shards[0].device
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

    def on_one_device(self, code: ProgramCode) -> InMemory:
        """The same arcs on the first device alone."""
        return InMemory(self._undivided.whole, "out" if self._reversed else "in", self._weighted, code)

    def leaving(self, shard: Shard) -> CSR:
        """Arcs by sending vertex: rows of the shard, as `Shard` has them."""
        return self._layout(shard.in_csr if self._reversed else shard.out_csr)

    def gathering(self, shard: Shard) -> CSR:
        """Arcs by gathering vertex: rows of the shard, as `Shard` has them."""
        return self._layout(shard.out_csr if self._reversed else shard.in_csr)

    def _layout(self, csr: CSR) -> CSR:
        return csr if self._weighted else csr.pattern

    def parts(self, share: Share, push: bool) -> Iterator[tuple[Any, Frontier]]:
        """The arcs that reach the share's vertices."""
        if not push or share.arcs.gathering.nnz:
            yield share.arcs, share.frontier

    def arcs_of_shards(self) -> "list[ShardArcs]":
        """The arcs of each shard, as the supersteps of one device take them."""
        return [
            ShardArcs(
                self._kept(f"arcs of shard {i} by target, {self.side}", shard, self._by_target),
                lambda i=i, shard=shard: self._kept(  # type: ignore[misc]
                    f"arcs of shard {i} by source, {self.side}", shard, self._by_source
                ),
            )
            for i, shard in enumerate(self.graph.shards)
        ]

    def _kept(self, name: str, shard: Shard, build: Callable[[Shard], CSR]) -> CSR:
        return self.graph.once(name, lambda: build(shard))

    def _by_target(self, shard: Shard) -> CSR:
        with shard.device.here:
            return among_all(self.gathering(shard), shard.first)

    def _by_source(self, shard: Shard) -> CSR:
        with shard.device.here:
            return kernels(shard.device.kind).transpose(among_all(self.gathering(shard), shard.first))


class ShardArcs:
    """The arcs that reach one shard's vertices, numbered as in the whole graph: a `hpgraph.kernels.superstep.Part`."""

    def __init__(self, gathering: CSR, sending: Callable[[], CSR]) -> None:
        self.gathering, self._sending = gathering, sending

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
    """Whether a program's functions read vertices' ids, or use a vertex other than by its attributes."""
    functions = code.gather, code.update, code.cond, code.edge_cond, code.aggregate, code.sends
    return any(
        attributes is None or "id" in attributes
        for function in functions
        if function is not None
        for name, attributes in reads(function).items()
        if name not in ("weight", "message", "world", "key", "payload")
    )


def _sorted(ids: Any) -> Any:
    """Ids in ascending order."""
    return array_module(ids).sort(ids)


def copies(state: tuple[Any, ...], device: Devices, number: int) -> tuple[Any, ...]:
    """Properties on the device of a shard: the same arrays for the first shard, copies for others."""
    if number == 0:
        return state
    with device.here:
        replicas = tuple(move_array(values, device) for values in state)
        return tuple(there.copy() if there is values else there for there, values in zip(replicas, state, strict=True))


def _set_frontiers(shares: Sequence[Share], ids: list[Any] | None, n: int) -> None:
    """Set each share's frontier to the concatenation of the ascending lists `ids`, or to all vertices."""
    for share in shares:
        if ids is None:
            share.frontier = Frontier(n, device=share.device.kind)
            continue
        with share.device.here:
            lists = [move_array(list_of_part, share.device) for list_of_part in ids]
            share.frontier = Frontier(n, ids=lists[0] if len(lists) == 1 else array_module(lists[0]).concatenate(lists))


def _copy_values(giver: Share, taker: Share, ids: Any, properties: tuple[int, ...]) -> None:
    """Copy values of a share's vertices, or of all if `ids` is None, to another."""
    first, last = giver.first, giver.last
    whole = ids is None or len(ids) > WHOLE_RANGE * (last - first)
    if first == last or (not whole and not len(ids)):
        return
    ids_on_taker = None if whole else move_array(ids, taker.device)
    for number in properties:
        source, target = giver.state[number], taker.state[number]
        if ids_on_taker is None:
            copy_between(source[first:last], target[first:last])
            continue
        with giver.device.here:
            values = source[ids]
        with taker.device.here:
            target[ids_on_taker] = move_array(values, taker.device)


def gather_states(run: Any, graph: Any, states: Sequence[tuple[Any, ...]]) -> None:
    """Copy every shard's own values to the run's properties, or into pieces that stay on their devices."""
    if run.apart:
        pieces = []
        for shard, state in zip(graph.shards, states, strict=True):
            with shard.device.here:
                pieces.append([values[shard.first : shard.last].copy() for values in state])
        run.pieces = tuple(graph.in_pieces(of) for of in zip(*pieces, strict=True))
        return
    for shard, state in zip(graph.shards[1:], states[1:], strict=True):
        if shard.first < shard.last:
            for source, target in zip(state, states[0], strict=True):
                copy_between(source[shard.first : shard.last], target[shard.first : shard.last])
    with graph.shards[0].device.here:
        for values, gathered in zip(run.state, states[0], strict=True):
            if gathered is not values:
                values[...] = graph.in_own_order(gathered)
