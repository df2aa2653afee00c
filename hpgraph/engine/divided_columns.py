"""A shard's arcs among its own vertices and some of the others', a piece of the columns at a time.

In a piece vertices have numbers of their own: others' before the shard's range, the range, others' behind it, each
ascending as in the whole graph, so that messages are joined in the same order. What is fetched of a device is a range
where a piece needs a good part of it, else a list.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.devices import bring
from hpgraph.engine.divided_arcs import among_all
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hpgraph.containers.shards import Shard

# Share of a range of vertices above which all of it travels: copies in order go several times as fast as copies of
# chosen elements, which take their ids along.
WHOLE_RANGE = 0.25


class Fetched(NamedTuple):
    """What a piece needs of one other device.

    Attributes
    ----------
    giver : int
        Number of the shard.
    chosen : slice or array of ids
        Which of its vertices, counted from its first one; an array lies on its device.
    place : slice
        Their numbers in the piece.
    """

    giver: int
    chosen: Any
    place: slice


class Piece(NamedTuple):
    """Arcs to a shard's vertices from some vertices: a `hpgraph.kernels.superstep.Part` that is pulled alone.

    Attributes
    ----------
    gathering : CSR
        By who gathers, square.
    fetched : tuple of Fetched
    """

    gathering: CSR
    fetched: tuple[Fetched, ...]


class Columns(NamedTuple):
    """The arcs of a shard, in pieces.

    Attributes
    ----------
    first : int
        The number that the shard's first vertex has in every piece.
    n : int
        How many vertices pieces have.
    pieces : list of Piece
    """

    first: int
    n: int
    pieces: list[Piece]


def columns_of(rows: CSR, shards: Sequence[Shard], number: int, room: int) -> Columns:
    """A shard's arcs in as few pieces as there is room for.

    Parameters
    ----------
    rows : CSR
        The shard's, by who gathers; on its device.
    shards : sequence of Shard
    number : int
        Which of them it is.
    room : int
        Others' vertices in a piece at the most.

    Returns
    -------
    Columns
    """
    own = shards[number]
    size, n, ids = own.last - own.first, rows.shape[1], rows.indices.dtype
    with own.device.here:
        xp = array_module(own.device.kind)
        needed = _needed(rows, shards, number)
        count = max(1, -(-len(needed) // max(room, 1)))
        cuts = [len(needed) * i // count for i in range(count + 1)]
        parts = [needed[begin:end] for begin, end in itertools.pairwise(cuts)]
        before = [int(part.searchsorted(own.first)) for part in parts]
        first = max(before)
        behind = max(len(part) - some for part, some in zip(parts, before, strict=True))
        renamed = xp.zeros(n, ids)
        pieces: list[Piece] = []
        for part, some in zip(parts, before, strict=True):
            renamed[part[:some]] = xp.arange(first - some, first, dtype=ids)
            renamed[part[some:]] = xp.arange(first + size, first + size + len(part) - some, dtype=ids)
            kept = rows
            if count > 1:
                flags = xp.zeros(n, np.bool_)
                flags[part] = True
                if not pieces:
                    flags[own.first : own.last] = True
                kept = kernels(own.device.kind).keep_entries(rows, flags[rows.indices])
            if not pieces:
                renamed[own.first : own.last] = xp.arange(first, first + size, dtype=ids)
            shape = (size, first + size + behind)
            local = CSR(shape, kept.indptr, renamed[kept.indices], kept.data, validate=False)
            pieces.append(Piece(among_all(local, first), _fetched(part, some, first, size, shards)))
    return Columns(first, first + size + behind, pieces)


def _needed(rows: CSR, shards: Sequence[Shard], number: int) -> Any:
    """Others' vertices that rows have columns of, and all of a range of which they have many; ascending."""
    flags = array_module(rows.indices).zeros(rows.shape[1], np.bool_)
    flags[rows.indices] = True
    for i, shard in enumerate(shards):
        range_ = flags[shard.first : shard.last]
        if i == number:
            range_[...] = False
        elif int(range_.sum()) > WHOLE_RANGE * len(range_):
            range_[...] = True
    return flags.nonzero()[0]


def _fetched(part: Any, some: int, first: int, size: int, shards: Sequence[Shard]) -> tuple[Fetched, ...]:
    """Where the vertices of a part come from; `some` of them have numbers before the shard's own."""
    found = []
    for giver, shard in enumerate(shards):
        begin, end = (int(part.searchsorted(bound)) for bound in (shard.first, shard.last))
        if begin == end:
            continue
        chosen: Any = part[begin:end] - shard.first
        low, high = int(chosen[0]), int(chosen[-1]) + 1
        shift = first - some if end <= some else first + size - some
        with shard.device.here:
            chosen = slice(low, high) if high - low == end - begin else bring(chosen, shard.device)
        found.append(Fetched(giver, chosen, slice(begin + shift, end + shift)))
    return tuple(found)
