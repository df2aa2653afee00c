"""Samples hop by hop over several relations, as a tree for each seed, or of arcs up to each seed's time.

A hop draws entries from ranges of rows: whole rows, or where rows are in the order of time the part up to an instant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.random_choice import seed_of
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.core.device import anywhere, array_module, prefix_sum, to_device
from hpgraph.core.number import flag, one_of
from hpgraph.formats import CSR
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling import Sums
from hpgraph.semiring.counter_random import random_bits

_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True, eq=False)
class Drawable:
    """Arcs to draw from: row v has the neighbours, of kind `to`, that may be drawn for vertex v of kind `of`.

    ``entry``: the number that each arc has elsewhere. ``moments``: the distinct times of arcs, ascending;
    ``instant``: of each arc, its row times ``len(moments)`` plus the place of its time there, ascending.
    """

    of: Any
    to: Any
    rows: CSR
    entry: Any = None
    sums: Sums | None = None
    moments: Any = None
    instant: Any = None

    @classmethod
    def of_times(cls, of: Any, to: Any, rows: CSR, entry: Any, time: Any) -> "Drawable":
        """Arcs with a time each, in the order of `rows`, whose rows need not be sorted."""
        xp = array_module(rows.device)
        moments, number = xp.unique(time, return_inverse=True)
        instant = rows.expand_rows().astype(np.int64) * len(moments) + number.reshape(-1)
        order = xp.argsort(instant, kind="stable")
        entry = order if entry is None else entry[order]
        sorted_rows = CSR(rows.shape, rows.indptr, rows.indices[order], validate=False)
        return cls(of, to, sorted_rows, entry, None, moments, instant[order])

    def ranges(self, vertices: Any, limit: Any, window: Any) -> tuple[Any, Any]:
        """Where the arcs that may be drawn for each vertex begin and end: those of [limit - window, limit]."""
        begin, end = self.rows.indptr[vertices], self.rows.indptr[vertices + 1]
        if self.moments is None or limit is None:
            return begin, end
        xp, row = array_module(begin), vertices * len(self.moments)
        end = xp.searchsorted(self.instant, row + xp.searchsorted(self.moments, limit, side="right"))
        if window is not None and window <= _INT64.max:
            if limit.dtype.kind == "i" and isinstance(window, int):
                # Saturates where the difference is below int64.
                limit = xp.maximum(limit, _INT64.min + window)
            begin = xp.searchsorted(self.instant, row + xp.searchsorted(self.moments, limit - window))
        return begin, end

    def drawn(self, vertices: Any, ranges: tuple[Any, Any], fanout: int, draws: "Draws", seed: int) -> tuple[Any, Any]:
        """Entries drawn from ranges: of each the number of its range, ascending, and its position."""
        begin, end = ranges
        xp, count = array_module(begin), len(begin)
        if draws.last and fanout >= 0:
            counts = xp.minimum(end - begin, fanout)
            offsets = prefix_sum(counts)
            at = xp.arange(int(offsets[-1]))
            owner = xp.searchsorted(offsets, at, side="right") - 1
            return owner, end[owner] - 1 - (at - offsets[owner])
        # Ranges as every second row of another matrix over the same entries, which kernels draw from.
        bounds = xp.zeros(2 * count + 1, np.int64)
        bounds[:-1:2], bounds[1::2] = begin, end
        rows, sums = self.rows, self.sums
        if sums is not None:
            positive = xp.zeros(2 * count, np.int64)
            positive[::2] = sums.positive[vertices]
            sums = Sums(sums.running, positive)
        shape = max(2 * count, rows.shape[1]), rows.shape[1]
        table = CSR(shape, bounds, rows.indices, None if sums is None else rows.data, validate=False)
        return sampling(rows.device).draw(table, sums, 2 * xp.arange(count), fanout, draws.replace, seed)


class Draws(NamedTuple):
    """How to draw: a ``window`` of time, the ``last`` arcs, and ``ends``, how many seeds in a row share a tree."""

    replace: bool = False
    disjoint: bool = False
    window: Any = None
    last: bool = False
    ends: int = 1


class HopSample(NamedTuple):
    """Sampled vertices by kind and arcs by relation, as in `hpgraph.NeighborSample`."""

    vertex: dict[Any, Any]
    seeds: dict[Any, Any]
    batch: dict[Any, Any] | None
    edge_index: dict[Any, Any]
    edge: dict[Any, Any]
    vertices_of_hop: dict[Any, list[int]]
    edges_of_hop: dict[Any, list[int]]


class _SampledVertices:
    """Vertices of one kind found so far; of a disjoint sample, pairs of a tree and a vertex as one number."""

    def __init__(self, device: str, n: int, seeds: Any, tree: Any) -> None:
        self.n, self.disjoint = max(n, 1), tree is not None
        self._numbering, self.begin, self.of_hop = sampling(device).Numbering(), 0, [0]
        self.seeds = self.number(seeds, tree)
        self.of_hop = [len(self._numbering.vertices)]

    def number(self, vertices: Any, tree: Any) -> Any:
        return self._numbering.number(vertices if tree is None else tree * self.n + vertices)

    def split(self, begin: int = 0) -> tuple[Any, Any]:
        """Vertices from number `begin` on, and their trees in a disjoint sample."""
        keys = self._numbering.vertices[begin:]
        return (keys % self.n, keys // self.n) if self.disjoint else (keys, None)

    def close_hop(self) -> None:
        """Make the vertices found in this hop the seeds of the next."""
        self.begin += self.of_hop[-1]
        self.of_hop.append(len(self._numbering.vertices) - self.begin)


def sample_hops(
    relations: Mapping[Any, Drawable], counts: Mapping[Any, int], seeds: Mapping[Any, Any], time: Mapping[Any, Any],
    fanouts: Mapping[Any, Sequence[int]], draws: Draws, seed: int, device: str,
) -> HopSample:  # fmt: skip
    """Draw neighbours hop by hop: counts and seeds by kind, a time a tree or {}, of each relation its fanouts."""
    xp = array_module(device)
    limit = xp.concatenate([time[kind] for kind in seeds]) if time else None
    sampled, first = {}, 0
    none = xp.zeros(0, np.int64)
    for kind in [*seeds, *(kind for kind in counts if kind not in seeds)]:
        seed_vertices = seeds.get(kind, none)
        trees = first + xp.arange(len(seed_vertices)) // draws.ends if draws.disjoint else None
        sampled[kind], first = (
            _SampledVertices(device, counts[kind], seed_vertices, trees),
            first + len(seed_vertices) // draws.ends,
        )
    parts: dict[Any, list[Any]] = {relation: [] for relation in relations}
    for hop in range(max((len(one) for one in fanouts.values()), default=0)):
        frontiers = {kind: one.split(one.begin) for kind, one in sampled.items()}
        for number, (relation, arcs) in enumerate(relations.items()):
            (vertices, tree), to = frontiers[arcs.of], sampled[arcs.to]
            at = None if tree is None or limit is None else limit[tree]
            draw_seed = seed_of(int(random_bits(seed, hop, number)))
            ranges = arcs.ranges(vertices, at, draws.window)
            owner, place = arcs.drawn(vertices, ranges, fanouts[relation][hop], draws, draw_seed)
            neighbour = arcs.rows.indices[place].astype(np.int64)
            numbers = to.number(neighbour, None if tree is None else tree[owner])
            parts[relation].append((numbers, owner + sampled[arcs.of].begin, place))
        for one in sampled.values():
            one.close_hop()
    vertex = {kind: sampled[kind].split() for kind in counts}
    joined = {key: [xp.concatenate(column or [none]) for column in zip(*columns, strict=True)] or [none] * 3
              for key, columns in parts.items()}  # fmt: skip
    entries = {key: place if relations[key].entry is None else relations[key].entry[place]
               for key, (_, _, place) in joined.items()}  # fmt: skip
    return HopSample(
        {kind: one for kind, (one, _) in vertex.items()},
        {kind: sampled[kind].seeds for kind in seeds},
        {kind: tree for kind, (_, tree) in vertex.items()} if draws.disjoint else None,
        {key: xp.stack(ends[:2]) for key, ends in joined.items()},
        {key: place.astype(np.int64, copy=False) for key, place in entries.items()},
        {kind: sampled[kind].of_hop for kind in counts},
        {key: [len(place) for _, _, place in columns] for key, columns in parts.items()},
    )


def checked_draws(replace: Any, disjoint: Any, window: Any, strategy: Any, timed: bool, ends: int = 1) -> Draws:
    """`Draws` from checked arguments."""
    one_of(strategy, "strategy", ("uniform", "last"))
    flag(replace, "replace")
    flag(disjoint, "disjoint")
    if not timed and (window is not None or strategy == "last"):
        raise ValueError('window and strategy="last" are for arcs that have a time: give time=, and times of arcs')
    return Draws(bool(replace), bool(disjoint) or timed, window, strategy == "last", ends)


def checked_times(time: Any, count: int, device: str) -> Any:
    """The time of each seed, one number for each, or one for all, as int64 or float64."""
    xp = array_module(device)
    times = as_array(time, "time")
    if times.dtype.kind not in "iuf":
        raise TypeError(f"time must be numbers, not of type {times.dtype}")
    if times.dtype.kind == "u":
        # All times of arcs are below.
        times = times.astype(np.uint64).clip(max=np.uint64(_INT64.max))
    times = to_device(times.astype(np.float64 if times.dtype.kind == "f" else np.int64, copy=False), device)
    if times.ndim > 1 or (times.ndim == 1 and len(times) != count):
        raise ValueError(f"time must be one number, or one for each of {count} seeds, not of shape {times.shape}")
    if times.dtype.kind == "f" and anywhere(xp.isnan(times)):
        raise ValueError("time must not be NaN: for a seed without a limit use numpy.inf")
    return xp.broadcast_to(times, (count,))
