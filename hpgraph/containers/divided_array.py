"""A value for each vertex, or each row, in pieces on several devices."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from hpgraph.containers.shards import joined
from hpgraph.core.device import array_module, check_memory
from hpgraph.core.devices import Devices, move_array, place_of, reach_each_other


class DividedArray:
    """Values that stay on the devices that computed them: a piece each.

    ``hpgraph.run(..., gather=False)`` and ``hpgraph.pagerank(..., gather=False)`` on a graph on several GPUs return
    them, and accept them as properties, personalizations, starts and operands of a `DividedMatrix`. ``numpy.asarray``
    gathers them in main memory. `shape`, `ndim`, `dtype`, `size` and `nbytes` are as of an array.

    Parameters
    ----------
    pieces : sequence of arrays of shape (some,) or (some, d)
        In the order of the places that `order` numbers.
    order, place : arrays of ids, optional
        The index of the value at each place, and the place of each index, on the first device; by default places are
        indices.

    Attributes
    ----------
    pieces : tuple of arrays
    devices : tuple of Devices
        One a piece.
    bounds : tuple of int
        Where pieces begin, and the length.

    Examples
    --------
    >>> from hpgraph.containers.divided_graph import divide
    >>> G = divide(hpg.datasets.grid(16), ["cpu", "cpu"])
    >>> rank = hpg.pagerank(G, gather=False).rank
    >>> rank
    DividedArray of 256 float64: 128 on cpu, 128 on cpu
    >>> round(float(sum(piece.sum() for piece in rank.pieces)), 9)
    1.0
    >>> rank.vertices(1).tolist()[:3], rank.gather().shape
    ([128, 129, 130], (256,))
    """

    def __init__(self, pieces: Any, order: Any = None, place: Any = None) -> None:
        self.pieces: tuple[Any, ...] = tuple(pieces)
        self.devices = tuple(place_of(piece) for piece in self.pieces)
        self.bounds = (0, *np.cumsum([len(piece) for piece in self.pieces]).tolist())
        self._order, self._place = order, place
        self.dtype, self.nbytes = self.pieces[0].dtype, sum(piece.nbytes for piece in self.pieces)
        self.shape = (self.bounds[-1], *self.pieces[0].shape[1:])
        self.ndim, self.size = len(self.shape), int(np.prod(self.shape))

    @classmethod
    def of(cls, array: Any, bounds: Any, devices: Any, order: Any = None, place: Any = None) -> Self:
        """An array of length n, divided at `bounds` between devices."""
        with place_of(array).here:
            if order is not None:
                array = array[move_array(order, place_of(array))]
        pieces = []
        for device, first, last in zip(devices, bounds[:-1], bounds[1:], strict=True):
            with device.here:
                piece = move_array(array[first:last], device)
                # A copy: a view would keep all of the array.
                pieces.append(piece.copy() if piece.base is not None else piece)
        return cls(pieces, order, place)

    def __len__(self) -> int:
        return int(self.bounds[-1])

    def vertices(self, number: int) -> Any:
        """The vertices, by index, of the values of the piece of that number, on its device."""
        first, last = self.bounds[number], self.bounds[number + 1]
        device = self.devices[number]
        with device.here:
            if self._order is None:
                return array_module(device.kind).arange(first, last)
            return move_array(self._order[first:last], device)

    def gather(self, device: Devices | None = None) -> Any:
        """All values by index on one device, by default the first, if they fit there."""
        target = self.devices[0] if device is None else device
        with target.here:
            check_memory(self.nbytes, f"values in pieces, brought together on {target},", target.kind)
            values = joined(self.pieces, target)
            return values if self._place is None else values[move_array(self._place, target)]

    def map(self, function: Callable[..., Any], *others: Any) -> "DividedArray":
        """Apply a function to each piece, and to the same range of other arrays, on its device.

        Examples
        --------
        >>> DividedArray([np.arange(2), np.arange(3)]).map(lambda piece: 2 * piece).gather().tolist()
        [0, 2, 0, 2, 4]
        """
        beside = [self.likewise(other) for other in others]
        pieces = []
        for number, (device, piece) in enumerate(zip(self.devices, self.pieces, strict=True)):
            with device.here:
                pieces.append(function(piece, *(other.pieces[number] for other in beside)))
        return DividedArray(pieces, self._order, self._place)

    def likewise(self, values: Any) -> "DividedArray":
        """Values of the same length divided as these are; they themselves, if they are so."""
        if len(values) != len(self):
            raise ValueError(f"there must be {len(self)} values, not {len(values)}")
        if isinstance(values, DividedArray):
            same = values.bounds == self.bounds and values.devices == self.devices
            if same and values._order is self._order:
                return values
            values = values.gather()
        return DividedArray.of(values, self.bounds, self.devices, self._order, self._place)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("copy=False: values in pieces cannot be joined without a copy")
        host = Devices("cpu")
        pieces = [move_array(piece, host) for piece in self.pieces]
        values = DividedArray(pieces, place=move_array(self._place, host)).gather()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        of = "x".join(map(str, self.shape))
        where = ", ".join(
            f"{len(piece):,} on {device}" for piece, device in zip(self.pieces, self.devices, strict=True)
        )
        return f"DividedArray of {of} {self.dtype}: {where}"


def gathered(values: Any) -> Any:
    """Values in pieces gathered on the first device; anything else unchanged."""
    return values.gather() if isinstance(values, DividedArray) else values


class DividedVertices:
    """Vertices of a graph in ranges, one a device, which may number them anew: `order` and its inverse `place`."""

    places: list[Devices]
    bounds: tuple[int, ...]
    order: Any = None
    place: Any = None

    def _divide(self, places: list[Devices], bounds: Any) -> None:
        """One range a place, between two of the bounds; the devices get access to each other's memory."""
        self.places, self.bounds = places, tuple(bounds)
        distinct = Devices(places[0].kind, tuple(dict.fromkeys(self.devices.indices)))
        if len(distinct.indices) > 1:
            reach_each_other(distinct)

    @property
    def devices(self) -> Devices:
        """The devices, in the order of the ranges."""
        return Devices(self.places[0].kind, tuple(index for one in self.places for index in one.indices))

    def in_own_order(self, values: Any) -> Any:
        """Values in the shards' numbering, on the first device, reordered by the graph's ids."""
        return values if self.place is None else values[self.place]

    def in_order_of_shards(self, values: Any) -> Any:
        """Values by the graph's ids, on the first device, reordered by the shards' numbering."""
        return values if self.order is None else values[self.order]

    def apart(self, values: Any) -> DividedArray:
        """Values by the graph's ids, an array of length n, each copied to the device of its vertex."""
        return DividedArray.of(values, self.bounds, self.places, self.order, self.place)

    def in_pieces(self, pieces: Sequence[Any]) -> DividedArray:
        """Arrays of the values of each shard's vertices, on their devices, as one."""
        return DividedArray(pieces, self.order, self.place)
