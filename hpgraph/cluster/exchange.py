"""The messages between blocks in a superstep.

*Fold*: messages go to the blocks that own their targets, along columns. *Spread*: changed vertices, with the properties
read of sources, go along rows. *Control*: counts and sums, added up along rows, then along columns, with the properties
read of targets. (For a program that gathers over out-arcs the grid is transposed.)
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from hpgraph.cluster.blocks import Block
from hpgraph.cluster.grid import Numbering
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.messages import ALL, BITS, CONTROL, FOLD, LISTED, SPREAD, Header, check, packed
from hpgraph.formats import Bitmask, Frontier

NO_VERTEX = np.empty(0, np.uint32)


class Content(NamedTuple):
    """Vertices of a range (None: all) as received, values, more arrays; the next message reuses their memory."""

    vertices: Frontier | None
    values: list[np.ndarray]
    beside: Sequence[np.ndarray] = ()

    @property
    def ids(self) -> np.ndarray | None:
        """The vertices, counted from the first of the range, as an ascending uint32 array; None for all."""
        return None if self.vertices is None else as_listed(self.vertices.ids)


def some_of(ids: np.ndarray, size: int) -> Frontier:
    """A frontier of a range's vertices, from their numbers, a uint32 array."""
    return Frontier(size, ids=ids.view(np.int32) if size < 1 << 31 else ids.astype(np.int64))


def as_listed(ids: np.ndarray) -> np.ndarray:
    """Numbers of a range's vertices in the type of messages, uint32."""
    return ids.view(np.uint32) if ids.itemsize == 4 else ids.astype(np.uint32)


class Exchange:
    """The exchanges of one block in one run; each returns the other blocks' contents, in the order of the blocks."""

    def __init__(self, numbering: Numbering, mesh: Mesh, backwards: bool) -> None:
        self.numbering, self.mesh = numbering, mesh
        grid, block = numbering.grid, numbering.block
        row, column = grid.row_of(block), grid.column_of(block)
        #: The other blocks that share this one's sources, and those that share its targets.
        self.beside_sources = [b for b in (column if backwards else row) if b != block]
        self.beside_targets = [b for b in (row if backwards else column) if b != block]
        self._room: dict[tuple[int, int, np.dtype], np.ndarray] = {}

    def fold(self, step: int, outgoing: dict[int, Content], message: np.dtype) -> dict[int, Content]:
        """Send messages to the owners of their targets; return those to this block's own vertices."""
        own = self.numbering.grid.size(self.numbering.block)
        return self._exchange(FOLD, step, outgoing, dict.fromkeys(outgoing, own), (message,))

    def spread(self, step: int, content: Content, state: Sequence[np.ndarray] = ()) -> dict[int, Content]:
        """Send changed vertices to the blocks with the same sources; values that they send are written to the state."""
        return self._publish(SPREAD, step, content, state, self.beside_sources)

    def control(self, step: int, content: Content, state: Sequence[np.ndarray] = ()) -> dict[int, Content]:
        """`spread` to the blocks with the same targets."""
        return self._publish(CONTROL, step, content, state, self.beside_targets)

    def total(self, step: int, arrays: Sequence[np.ndarray], add: np.ufunc = np.add) -> list[np.ndarray]:
        """Sums of arrays over all blocks: along one side of the grid, then along the other."""
        empty = some_of(NO_VERTEX, self.numbering.grid.size(self.numbering.block))
        for publish in (self.spread, self.control):
            arrays = self.added(arrays, publish(step, Content(empty, [], arrays)), add)
        return list(arrays)

    def added(
        self, arrays: Sequence[np.ndarray], received: dict[int, Content], add: np.ufunc = np.add
    ) -> list[np.ndarray]:
        """Arrays plus those sent with messages, always in the order of the blocks."""
        parts = {self.numbering.block: arrays, **{peer: content.beside for peer, content in received.items()}}
        return [reduce(add, (parts[peer][k] for peer in sorted(parts))) for k in range(len(arrays))]

    def _publish(
        self, kind: int, step: int, content: Content, state: Sequence[np.ndarray], peers: list[int]
    ) -> dict[int, Content]:
        grid, number = self.numbering.grid, self.numbering
        # A complete range is received in place.
        places = {peer: [values[number.range(peer)] for values in state] for peer in peers}
        # All blocks send arrays of the same lengths with their values.
        incoming = self._exchange(
            kind, step, dict.fromkeys(peers, content), {peer: grid.size(peer) for peer in peers},
            tuple(values.dtype for values in state), tuple((one.dtype, len(one)) for one in content.beside), places,
        )  # fmt: skip
        for peer, theirs in incoming.items():
            if theirs.vertices is not None:
                for place, values in zip(places[peer], theirs.values, strict=True):
                    place[theirs.ids] = values
        return incoming

    def _exchange(
        self, kind: int, step: int, outgoing: dict[int, Content], most: dict[int, int], dtypes: tuple[Any, ...],
        beside: tuple[Any, ...] = (), places: dict[int, list[np.ndarray]] | None = None,
    ) -> dict[int, Content]:  # fmt: skip
        if not outgoing:
            return {}
        grid, own = self.numbering.grid, self.numbering.block
        made: dict[int, list[Any]] = {}
        buffers = {}
        for peer, content in outgoing.items():
            if id(content) not in made:
                size = grid.size(peer if kind == FOLD else own)
                made[id(content)] = _message(kind, step, content, size)
            buffers[peer] = made[id(content)]
        taken: dict[int, tuple[Header, list[np.ndarray]]] = {}

        def receiver(peer: int) -> Any:
            def take(header: Header) -> list[np.ndarray]:
                check(header, kind, step, most[peer], dtypes, beside)
                taken[peer] = header, self._rooms(peer, header, len(dtypes), None if places is None else places[peer])
                return taken[peer][1]

            return take

        self.mesh.exchange(buffers, {peer: receiver(peer) for peer in outgoing})
        return {peer: _content(*taken[peer], most[peer], len(dtypes)) for peer in sorted(outgoing)}

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


def degrees_of(block: Block, mesh: Mesh, backwards: bool, counted: bool) -> np.ndarray:
    """Degree of each own vertex over all blocks: counts folded along rows; cached with the block."""
    if not counted:
        number, arcs = block.numbering, block.graph.in_csr if backwards else block.graph.out_csr
        counts = np.diff(arcs.indptr)
        transposed_exchange = Exchange(number, mesh, not backwards)
        outgoing = {peer: Content(None, [counts[number.range(peer)]]) for peer in transposed_exchange.beside_targets}
        degree = counts[number.own].copy()
        for content in transposed_exchange.fold(0, outgoing, counts.dtype).values():
            degree += content.values[0]
        block.degrees[backwards] = degree
    return block.degrees[backwards]


def _message(kind: int, step: int, content: Content, size: int) -> list[Any]:
    """The message in its smallest form: all, bits or a list."""
    vertices, arrays = content.vertices, [*map(np.ascontiguousarray, content.values), *content.beside]
    if vertices is None:
        return packed(kind, ALL, step, size, arrays)
    if 4 * vertices.size <= -(-size // 64) * 8:
        return packed(kind, LISTED, step, vertices.size, [as_listed(vertices.ids), *arrays])
    return packed(kind, BITS, step, vertices.size, [vertices.bits.words, *arrays])


def _content(header: Header, arrays: list[np.ndarray], size: int, values: int) -> Content:
    """The content of a message, checked: its vertices are in the range, each once."""
    if header.form == ALL:
        return Content(None, arrays[:values], arrays[values:])
    if header.form == BITS:
        # Refuses bits past the last vertex.
        bits = Bitmask(size, arrays[0])
        count = bits.count()
        if count != header.vertices:
            raise ValueError(f"{count} bits where {header.vertices} vertices were announced")
        vertices = Frontier(size, bits=bits, size=count)
    else:
        ids = arrays[0]
        if len(ids) and (int(ids[-1]) >= size or (len(ids) > 1 and bool((ids[1:] <= ids[:-1]).any()))):
            raise ValueError(f"numbers of vertices that do not ascend, or reach beyond the {size} of the range")
        vertices = some_of(ids, size)
    return Content(vertices, arrays[1 : 1 + values], arrays[1 + values :])
