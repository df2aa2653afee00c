"""How users point at vertices: by name where the graph has names, by index where it has none, by `id` everywhere."""

import operator
from typing import Any

import numpy as np

from hpgraph.core.device import is_cuda, native, unmasked


class id:
    """A vertex, or several, by index, in graphs whose vertices go by name.

    Parameters
    ----------
    index : int, or array or sequence of integers
        Counted from 0, as in the results of algorithms; an array may lie on the GPU. A TypeError where it is no such
        thing; whether the graph has such vertices is found out where it is used.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], names=[2, 1, 0])
    >>> hpg.bfs(G, 2).level.tolist(), hpg.bfs(G, hpg.id(2)).level.tolist()
    ([0, 1, 2], [-1, -1, 0])
    """

    __slots__ = ("index",)
    index: Any

    def __init__(self, index: Any) -> None:
        _set_index(self, index if type(index) is int else _whole(index))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an id is immutable: create another")

    def __repr__(self) -> str:
        if isinstance(self.index, int):
            return f"id({self.index})"
        return f"id({np.array2string(_on_cpu(self.index), separator=', ', threshold=6)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, id) and np.array_equal(_on_cpu(self.index), _on_cpu(other.index))

    def __hash__(self) -> int:
        return hash((id, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return id, (self.index,)


# The class's own slot, past __setattr__.
_set_index = id.__dict__["index"].__set__


def _on_cpu(index: Any) -> Any:
    return index.get() if is_cuda(index) else np.asarray(index)


def _whole(index: Any) -> Any:
    """An int, or an integer array, whose shape seeds that are links need."""
    if np.ndim(index) == 0:
        try:
            if isinstance(index, bool):
                raise TypeError
            return operator.index(index)
        except TypeError:
            raise TypeError(f"an id is a whole number or an array of them, not {index!r}") from None
    listed = native(unmasked(index, "index"))
    listed = listed if is_cuda(listed) else np.asarray(listed)
    if listed.size and listed.dtype.kind not in "iu":
        raise TypeError(f"an id is a whole number or an array of them, not {listed.dtype}")
    return listed.astype(np.int64) if listed.size == 0 else listed


def checked_index(vertex: Any, n: int, argument: str) -> int:
    """The index of a vertex of a graph without names."""
    if isinstance(vertex, str):
        raise ValueError(f"the graph's vertices have no names, only numbers 0..{n - 1}: give Graph(..., names=...)")
    try:
        if isinstance(vertex, bool):
            raise TypeError
        index = operator.index(vertex.index if isinstance(vertex, id) else vertex)
    except TypeError:
        text = repr(vertex) if isinstance(vertex, id) else f"{type(vertex).__name__} {vertex!r}"
        raise TypeError(f"{argument} must be a vertex id, a whole number, not {text}") from None
    if not 0 <= index < n:
        where = f"0..{n - 1}" if n else "the graph, which has no vertices"
        raise IndexError(f"{argument} {index} is not in {where}")
    return index


def checked_indices(vertices: Any, n: int, argument: str) -> Any:
    """The indices of vertices of a graph without names."""
    listed = native(unmasked(vertices.index if isinstance(vertices, id) else vertices, argument))
    listed = (listed if is_cuda(listed) else np.asarray(listed)).reshape(-1)
    if listed.dtype.kind in "OU":
        return np.array([checked_index(vertex, n, argument) for vertex in listed.tolist()], dtype=np.int64)
    if listed.size and listed.dtype.kind not in "iu":
        raise TypeError(f"{argument} must be whole vertex ids or a bool for every vertex, not {listed.dtype}")
    if not listed.dtype.isnative:
        listed = listed.astype(listed.dtype.newbyteorder("="))
    # Viewed as unsigned, negative integers are the largest: one comparison and one synchronization check both bounds.
    if listed.size and int(listed.view(f"u{listed.itemsize}").max()) >= n:
        range_text = f"0..{n - 1}, the vertices of the graph" if n else "the graph, which has no vertices"
        raise IndexError(f"{argument} must lie in {range_text}; it has {int(listed.min())}..{int(listed.max())}")
    return listed.astype(np.int64) if listed.size == 0 else listed


def as_collection(vertices: Any) -> Any:
    """Vertices as an array, list, tuple (no name here), range or `id`; one alone as a list."""
    if isinstance(vertices, list | tuple | range | id):
        return vertices
    vertices = native(vertices)
    if isinstance(vertices, np.ndarray | np.generic) or is_cuda(vertices):
        return vertices.reshape(-1)
    return [vertices] if isinstance(vertices, str | bytes) or not hasattr(vertices, "__iter__") else list(vertices)
