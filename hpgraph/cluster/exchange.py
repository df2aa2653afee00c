"""The messages between blocks in a superstep.

*Fold*: messages go to the blocks that own their targets, along columns. *Spread*: changed vertices, with the properties
that are read of a source, go to the blocks that have them as sources, along rows. *Control*: the number of active
vertices, and sums, added up along rows, then along columns, together with the properties that are read of a target. (A
program that gathers over out-arcs has its sources in columns and its targets in rows.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.cluster.grid import Numbering
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.messages import ALL, BITS, CONTROL, FOLD, LISTED, SPREAD, Header, check, packed
from hpgraph.formats import Bitmask, Frontier


class Told(NamedTuple):
    """Content of a message: vertices, counted from the first of a range (None for all); values; additional arrays.

    Attributes
    ----------
    who : Frontier or None
        In the form in which it was received. The next message of the same block reuses its memory.
    values : list of arrays
    beside : list of arrays
    """

    who: Frontier | None
    values: list[np.ndarray]
    beside: list[np.ndarray]

    @property
    def ids(self) -> np.ndarray | None:
        """The vertices, as an ascending uint32 array; None for all."""
        return None if self.who is None else as_listed(self.who.ids)


def some_of(ids: np.ndarray, size: int) -> Frontier:
    """A frontier of a range's vertices, from their numbers, a uint32 array."""
    return Frontier(size, ids=ids.view(np.int32) if size < 1 << 31 else ids.astype(np.int64))


def as_listed(ids: np.ndarray) -> np.ndarray:
    """Numbers of a range's vertices in the type of messages, uint32."""
    return ids.view(np.uint32) if ids.itemsize == 4 else ids.astype(np.uint32)


class Exchange:
    """The exchanges of one block in one run."""

    def __init__(self, numbering: Numbering, mesh: Mesh, backwards: bool) -> None:
        self.numbering, self.mesh = numbering, mesh
        grid, block = numbering.grid, numbering.block
        row, column = grid.row_of(block), grid.column_of(block)
        #: The other blocks that share this one's sources, and those that share its targets.
        self.beside_sources = [b for b in (column if backwards else row) if b != block]
        self.beside_targets = [b for b in (row if backwards else column) if b != block]
        self._room: dict[tuple[int, int, np.dtype], np.ndarray] = {}

    @property
    def peers(self) -> list[int]:
        """All blocks that this one exchanges messages with."""
        return sorted({*self.beside_sources, *self.beside_targets})

    def fold(self, step: int, outgoing: dict[int, Told], message: np.dtype) -> dict[int, Told]:
        """Send messages to the owners of their targets; return those to this block's own vertices.

        Returns dict: for each of these blocks, in order.
        """
        own = self.numbering.grid.size(self.numbering.block)
        return self._exchange(FOLD, step, outgoing, dict.fromkeys(outgoing, own), (message,), ())

    def spread(self, step: int, told: Told, state: list[np.ndarray], beside: tuple[Any, ...] = ()) -> dict[int, Told]:
        """Send changed vertices to the blocks with the same sources; values they send are written to the state.

        Returns dict: for each of these blocks, in order.
        """
        return self._publish(SPREAD, step, told, state, beside, self.beside_sources)

    def control(self, step: int, told: Told, state: list[np.ndarray], beside: tuple[Any, ...] = ()) -> dict[int, Told]:
        """The same with the blocks that have the same targets."""
        return self._publish(CONTROL, step, told, state, beside, self.beside_targets)

    def _publish(
        self, kind: int, step: int, told: Told, state: list[np.ndarray], beside: tuple[Any, ...], peers: list[int]
    ) -> dict[int, Told]:
        grid, number = self.numbering.grid, self.numbering
        # A complete range is received in place.
        places = {peer: [values[number.range(peer)] for values in state] for peer in peers}
        incoming = self._exchange(
            kind, step, dict.fromkeys(peers, told), {peer: grid.size(peer) for peer in peers},
            tuple(values.dtype for values in state), beside, places,
        )  # fmt: skip
        for peer, said in incoming.items():
            if said.who is not None:
                for place, values in zip(places[peer], said.values, strict=True):
                    place[said.ids] = values
        return incoming

    def _exchange(
        self, kind: int, step: int, outgoing: dict[int, Told], most: dict[int, int], dtypes: tuple[Any, ...],
        beside: tuple[Any, ...], places: dict[int, list[np.ndarray]] | None = None,
    ) -> dict[int, Told]:  # fmt: skip
        if not outgoing:
            return {}
        grid, own = self.numbering.grid, self.numbering.block
        made: dict[int, list[Any]] = {}
        buffers = {}
        for peer, told in outgoing.items():
            if id(told) not in made:
                size = grid.size(peer if kind == FOLD else own)
                made[id(told)] = _message(kind, step, told, size)
            buffers[peer] = made[id(told)]
        came: dict[int, tuple[Header, list[np.ndarray]]] = {}

        def receiver(peer: int) -> Any:
            def take(header: Header) -> list[np.ndarray]:
                check(header, kind, step, most[peer], dtypes, beside)
                came[peer] = header, self._rooms(peer, header, len(dtypes), None if places is None else places[peer])
                return came[peer][1]

            return take

        self.mesh.exchange(buffers, {peer: receiver(peer) for peer in outgoing})
        return {peer: _told(*came[peer], most[peer], len(dtypes)) for peer in sorted(outgoing)}

    def _rooms(self, peer: int, header: Header, values: int, places: list[np.ndarray] | None) -> list[np.ndarray]:
        rooms = []
        for k, (dtype, count) in enumerate(header.arrays):
            if header.form == ALL and places is not None and k < values:
                rooms.append(places[k])
                continue
            # Reused in all supersteps: page faults of new memory cost more than the writes.
            room = self._room.get((peer, k, dtype))
            if room is None or len(room) < count:
                room = self._room[peer, k, dtype] = np.empty(max(count, 64), dtype)
            rooms.append(room[:count])
        return rooms


def _message(kind: int, step: int, told: Told, size: int) -> list[Any]:
    """The message in its smallest form: all, bits or a list."""
    values = [np.ascontiguousarray(array) for array in told.values]
    if told.who is None:
        return packed(kind, ALL, step, size, [*values, *told.beside])
    count = told.who.size
    if 4 * count <= -(-size // 64) * 8:
        return packed(kind, LISTED, step, count, [as_listed(told.who.ids), *values, *told.beside])
    return packed(kind, BITS, step, count, [told.who.bits.words, *values, *told.beside])


def _told(header: Header, arrays: list[np.ndarray], size: int, values: int) -> Told:
    """The content of a message, checked: its vertices are in the range, each once."""
    if header.form == ALL:
        return Told(None, arrays[:values], arrays[values:])
    if header.form == BITS:
        # Refuses bits past the last vertex.
        bits = Bitmask(size, arrays[0])
        count = bits.count()
        if count != header.vertices:
            raise ValueError(f"{count} bits where {header.vertices} vertices were announced")
        who = Frontier(size, bits=bits, size=count)
    else:
        ids = arrays[0]
        if len(ids) and (int(ids[-1]) >= size or (len(ids) > 1 and bool((ids[1:] <= ids[:-1]).any()))):
            raise ValueError(f"numbers of vertices that do not ascend, or reach beyond the {size} of the range")
        who = some_of(ids, size)
    return Told(who, arrays[1 : 1 + values], arrays[1 + values :])
