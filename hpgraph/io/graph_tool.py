"""graph-tool's binary files, ``.gt``: https://graph-tool.skewed.de/static/doc/gt_format.html.

Magic, version, byte order and a comment; whether directed, the number of vertices, and for each the number of its edges
and their targets, in as many bytes as that number needs; then property maps of the graph, of vertices and of edges. An
edge of an undirected graph is there once. Property maps are read by their types, so that what follows is found; those
of Python objects are pickles, and are passed over.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array, plain_names
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing
from hpgraph.io.stream import content_of

_MAGIC, _VERSION = "⛾ gt".encode(), 1
_COMMENT = b"written by hpgraph"
# Types of values by number: plain ones by their characters in NumPy, long doubles by their bytes; then text, vectors of
# the same, and Python objects, which are stored as text is.
_PLAIN = {0: "u1", 1: "i2", 2: "i4", 3: "i8", 4: "f8", 5: "V16"}
_TEXT, _FIRST_VECTOR, _TEXTS, _OBJECT = 6, 7, 13, 14
_OF_DTYPE = {"bool": 0, "int16": 1, "int32": 2, "int64": 3, "float64": 4}
_LITTLE = {name: f"<{np.dtype(name).str[1:]}" for name in _OF_DTYPE}
# Bytes of memory for one of a file.
_BYTES = 8
_OF_VERTICES, _OF_EDGES = 1, 2


class _Bytes:
    """The content of a file, read from the front."""

    def __init__(self, path: Path, content: bytes) -> None:
        self._path, self._content, self._at, self.order = path, content, 0, "<"

    @property
    def left(self) -> int:
        return len(self._content) - self._at

    def taken(self, count: int) -> bytes:
        if count > self.left:
            raise FileFormatError(self._path, f"the file ends early: {count} bytes expected, {self.left} left")
        self._at += count
        return self._content[self._at - count : self._at]

    def array(self, code: str, count: int) -> Array:
        dtype = np.dtype(self.order + code)
        found: Array = np.frombuffer(self.taken(dtype.itemsize * count), dtype)
        return found if code == "V16" else found.astype(dtype.newbyteorder("="), copy=False)

    def number(self, code: str = "u8") -> int:
        return int(self.array(code, 1)[0])

    def texts(self, count: int) -> list[str]:
        return [self.taken(self.number()).decode(errors="replace") for _ in range(count)]

    def flag(self, what: str) -> bool:
        value = self.number("u1")
        if value > 1:
            raise FileFormatError(self._path, f"{what} must be 0 or 1, and is {value}")
        return bool(value)

    def rows(self, n: int, width: int) -> tuple[Array, Array]:
        """The number of edges of each vertex, and the targets of all."""
        at, content = self._at, self._content
        if n > (len(content) - at) // 8:
            raise FileFormatError(self._path, f"the file ends early: there are no {n} vertices in it")
        counts, begins = np.empty(n, np.int64), np.empty(n, np.int64)
        byte_order: Any = "little" if self.order == "<" else "big"
        for vertex in range(n):
            count = int.from_bytes(content[at : at + 8], byte_order)
            begins[vertex] = at = at + 8
            at += count * width
            if at > len(content):
                raise FileFormatError(self._path, f"the file ends early, at the edges of vertex {vertex} of {n}")
            counts[vertex] = count
        self._at = at
        places = np.repeat(begins - width * (np.cumsum(counts) - counts), counts) + width * np.arange(counts.sum())
        raw = np.frombuffer(content, np.uint8)[places[:, None] + np.arange(width)]
        return counts, raw.reshape(-1).view(f"{self.order}u{width}").astype(np.int64)


class _Property(NamedTuple):
    """Values of a property map, if they are numbers or text."""

    of: int
    title: str
    values: Any


def read_graph_tool(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`: weights by the edges' property weight, names by the vertices' name or label if all differ."""
    found = _Bytes(path, content_of(path, progress, Taken(budget, path), _BYTES))
    if found.taken(len(_MAGIC)) != _MAGIC or found.number("u1") != _VERSION:
        raise FileFormatError(path, "no file of graph-tool, of version 1: its first bytes do not fit")
    found.order = ">" if found.flag("the byte order") else "<"
    found.texts(1)
    directed, n = found.flag("whether it is directed"), found.number()
    budget.check(16 * n, f"a graph of {n} vertices, as {path} says,")
    counts, target = found.rows(n, _width(n))
    if target.size and target.max() >= n:
        raise FileFormatError(path, f"there are targets beyond 0..{n - 1}")
    source = np.repeat(np.arange(n), counts)
    if (several := found.number()) > 1 << 16:
        raise FileFormatError(path, f"it says that there are {several} property maps")
    maps = [_property(path, found, n, len(target)) for _ in range(several)]
    if found.left:
        raise FileFormatError(path, f"{found.left} bytes follow the last property map")
    weight = next((one.values for one in maps if (one.of, one.title) == (_OF_EDGES, "weight")), None)
    weight = weight if isinstance(weight, np.ndarray) and weight.dtype.kind in "uif" else None
    titled = {one.title: one.values for one in maps if one.of == _OF_VERTICES and one.values is not None}
    names = next((_names(titled[title]) for title in ("name", "label") if title in titled), None)
    return Arcs(source, target, weight, n, directed, names)


def _width(n: int) -> int:
    """Bytes of the number of a vertex."""
    return next(width for width in (1, 2, 4, 8) if n < 1 << 8 * width)


def _property(path: Path, found: _Bytes, n: int, m: int) -> _Property:
    of, title, kind = found.number("u1"), found.texts(1)[0], found.number("u1")
    if of > _OF_EDGES or kind > _OBJECT:
        raise FileFormatError(path, f"property map {title!r} is of an unknown kind or type")
    count = (1, n, m)[of]
    if kind in _PLAIN:
        return _Property(of, title, found.array(_PLAIN[kind], count))
    if kind in (_TEXT, _OBJECT):
        values = found.texts(count)
        return _Property(of, title, values if kind == _TEXT else None)
    for _ in range(count):
        length = found.number()
        if kind == _TEXTS:
            found.texts(length)
        else:
            found.taken(length * np.dtype(_PLAIN[kind - _FIRST_VECTOR]).itemsize)
    return _Property(of, title, None)


def _names(values: Any) -> Any:
    listed = values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind == "i" else values
    return listed if isinstance(listed, list) and len(set(listed)) == len(listed) else None


def write_graph_tool(graph: Graph, path: Path) -> None:
    """A `Writer`: names as the vertices' property name, weights as the edges' property weight."""
    arcs = Arcs.of(graph).each_edge_once()
    n, m = arcs.n_vertices, len(arcs.source)
    maps = []
    if (known := plain_names(arcs.names, path)) is not None:
        names = known.tolist()
        plain = all(isinstance(name, int) for name in names)
        content = np.array(names, "<i8").tobytes() if plain else b"".join(_text(name) for name in names)
        maps.append((_OF_VERTICES, "name", 3 if plain else _TEXT, content))
    if arcs.weight is not None:
        given = arcs.weight
        kind = given.dtype.name if given.dtype.name in _OF_DTYPE else "float64" if given.dtype.kind == "f" else "int64"
        if given.dtype.kind == "c" or (given.dtype == np.uint64 and (given >= 1 << 63).any()):
            raise ValueError(f"{path}: weights of {given.dtype} do not fit the types of graph-tool; .npz holds any")
        maps.append((_OF_EDGES, "weight", _OF_DTYPE[kind], given.astype(_LITTLE[kind]).tobytes()))
    width = _width(n)
    rows = np.zeros(8 * n + width * m, np.uint8)
    counts = np.bincount(arcs.source, minlength=n)
    before = np.cumsum(counts) - counts
    rows[(8 * np.arange(n) + width * before)[:, None] + np.arange(8)] = counts.astype("<u8").view("u1").reshape(n, 8)
    places = 8 * (arcs.source.astype(np.int64) + 1) + width * np.arange(m)
    rows[places[:, None] + np.arange(width)] = arcs.target.astype(f"<u{width}").view("u1").reshape(m, width)
    with replacing(path) as file:
        file.write(_MAGIC + bytes((_VERSION, 0)) + _size(len(_COMMENT)) + _COMMENT + bytes((bool(arcs.directed),)))
        file.write(_size(n) + rows.tobytes() + _size(len(maps)))
        for of, title, kind_, content in maps:
            file.write(bytes((of,)) + _text(title) + bytes((kind_,)) + content)


def _size(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _text(text: str) -> bytes:
    content = text.encode()
    return _size(len(content)) + content
