"""GraphML, as NetworkX, igraph, Gephi and yEd write it: nodes, edges, weights of edges, and columns.

U. Brandes et al., "GraphML progress report: structural layer proposal", GD'01. Of data the weight is read, the key of
edges whose ``attr.name`` is "weight", and as columns the keys that `write_graphml` wrote as such or that are asked for.
"""

import re
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

import numpy as np

from hpgraph.containers.columns import Categories
from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import as_array
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, attributes, plain_names
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import LONGEST_LINE, open_bytes
from hpgraph.io.text_columns import TYPES, TextColumn, plain_values, type_of, value_text
from hpgraph.io.text_rows import text_rows

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
# Bytes of a node, beside its id, of an edge, weight included, and of a value of a column, beside its text.
_NODE_BYTES, _EDGE_BYTES, _VALUE_BYTES = 200, 150, 100
_PIECE = 1 << 16
# Characters that XML cannot hold or normalizes.
_UNFIT = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
# Limits of nested elements and of characters of a weight, which no program exceeds.
_DEEPEST, _LONGEST_WEIGHT = 1000, 5000
# Nodes and edges of no more than their ids and a weight, and the rest after the first other element.
_ID = '([^"&<\\x00-\\x1f]+)'
_PLAIN = re.compile(
    f'\\s*<(?:node\\s+id="{_ID}"\\s*(?:/>|>\\s*</node>)|edge\\s+source="{_ID}"\\s+target="{_ID}"\\s*'
    f'(?:/>|>\\s*(?:<data\\s+key="{_ID}">([^<&]{{0,100}})</data>\\s*)?</edge>))|(.+)', re.ASCII | re.DOTALL
)  # fmt: skip
_FIRST, _PLAIN_PIECE = re.compile(rb"<(?:node|edge)\b"), 1 << 18
# What ids are, "number" or "text": data of the graph, which others pass over or keep as an attribute.
_IDS = "hpgraph-ids"
# What ids of keys begin with that are columns.
_COLUMN = "hpgraph-column-"


def read_graphml(path: Path, progress: bool | None, budget: Budget, *, columns: Any = None) -> Arcs:
    """A `Reader` of one graph without hyperedges, which builds no tree: ids, weights and columns alone are kept."""
    with open_bytes(path, progress) as file:
        return _Elements(path, budget, columns).read(file)


class _Elements:
    """Handler of expat's events: collects the elements of a file."""

    def __init__(self, path: Path, budget: Budget, columns: Any = None) -> None:
        self._path, self._depth, self._wanted = path, 0, columns
        self._keys: dict[str | None, TextColumn] = {}
        self._into: TextColumn | None = None
        self._take = Taken(budget, path).add
        # Ids of nodes and of ends of edges, numbered as they come; the numbers of nodes, and of both ends of each edge.
        self._number: defaultdict[str, int] = defaultdict(count().__next__)
        self._nodes, self._ends = array("q"), array("q")
        self._weights: list[str | None] = []
        self._key: tuple[str | None, str, str | None] | None = None  # id, type, default
        self._key_open = self._edge_open = self._ids_open = False
        self._ids: str | None = None
        # Text of the weight or default that is open.
        self._text: list[str] | None = None
        self._directed: bool | None = None
        self._default = True

    def read(self, file: BinaryIO) -> Arcs:
        """Parse the whole file."""
        # Kept by reading alone: the parser's handlers refer to this object, and it to the parser.
        self._parser = parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._characters, self._doctype
        given = 0
        try:
            for piece in self._other(file):
                parser.Parse(piece)
                given += len(piece)
                # The parser keeps what it has not seen the end of; by deferring it keeps up to twice as much.
                if given - parser.CurrentByteIndex > 2 * LONGEST_LINE:
                    raise self._fault(f"a tag, or a comment, of more than {LONGEST_LINE} bytes")
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FileFormatError(self._path, f"not a complete XML file ({reason})", error.lineno) from None
        finally:
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.StartDoctypeDeclHandler = None
        return self._arcs()

    def _other(self, file: BinaryIO) -> Iterator[bytes]:
        """All but plain nodes and edges at the beginning of a graph, which are added; their line ends are kept."""
        head = b""
        while (first := _FIRST.search(head)) is None and len(head) < _PLAIN_PIECE and (piece := file.read(_PIECE)):
            head += piece
        if first is not None:
            yield head[: first.start()]
            head, before = head[first.start() :], head[: first.start()]
            closed = all(
                before.rfind(left) <= before.rfind(right) for left, right in ((b"<!--", b"-->"), (b"<?", b"?>"))
            )
            plain = (
                closed and b"<![" not in before and self._depth == 2 and self._directed is not None and not self._keys
            )
            while plain and (piece := file.read(_PLAIN_PIECE)):
                head += piece
                left = self._add_plain(head)
                yield b"\n" * (head.count(b"\n") - left.count(b"\n"))
                # A record that is cut is shorter.
                plain, head = len(left) < _PIECE, left
        yield head
        while piece := file.read(_PIECE):
            yield piece

    def _add_plain(self, content: bytes) -> bytes:
        """Add the plain nodes and edges that a piece begins with; the rest of it."""
        if not content.isascii():
            return content
        *found, last = _PLAIN.findall(content.decode()) or [("",) * 6]
        left = last[-1].encode()
        if not last[-1]:
            found.append(last)
        key = None if self._key is None else self._key[0]
        if not {record[3] for record in found} <= {"", key}:
            return content
        nodes, edges = [record[0] for record in found if record[0]], [record for record in found if record[1]]
        known, number = len(self._number), self._number.__getitem__
        self._nodes.extend(map(number, nodes))
        self._ends.extend(map(number, chain.from_iterable(record[1:3] for record in edges)))
        self._weights.extend(record[4] or None for record in edges)
        names = 2 * (sys.getsizeof("") * (len(self._number) - known) + len(content))
        self._take(_NODE_BYTES * len(nodes) + _EDGE_BYTES * len(edges) + names)
        return left

    def _fault(self, reason: str) -> FileFormatError:
        return FileFormatError(self._path, reason, self._parser.CurrentLineNumber)

    def _doctype(self, name: str, system: str | None, public: str | None, has_subset: int) -> None:
        # It could declare entities, which stand for more text than the file has.
        if has_subset:
            raise self._fault("it declares a document type of its own; leave the part in brackets out")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        kind = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._fault(f"more than {_DEEPEST} elements inside each other")
        if kind == "graph":
            if self._directed is not None:
                raise self._fault("it holds several graphs, or one inside another; one is read")
            self._directed = self._default = given.get("edgedefault", "directed") == "directed"
        elif kind == "hyperedge":
            raise self._fault("it holds hyperedges; edges of a graph have two ends")
        elif kind == "key" and given.get("for") in ("edge", "all") and given.get("attr.name") == "weight":
            self._key, self._key_open = (given.get("id"), TYPES.get(given.get("attr.type", ""), "float64"), None), True
        elif kind == "key":
            self._begin_key(given)
        elif kind == "node":
            self._nodes.append(self._numbered(given, "id"))
            self._take(_NODE_BYTES)
        elif kind == "edge":
            declared = given.get("directed")
            directed = self._default if declared is None else declared == "true"
            if self._ends and directed != self._directed:
                raise self._fault("some edges are directed and others are not")
            self._directed = directed
            self._ends.extend((self._numbered(given, "source"), self._numbered(given, "target")))
            self._weights.append(None)
            self._edge_open = True
            self._take(_EDGE_BYTES)
        elif kind == "data" and given.get("key") == _IDS:
            self._text, self._ids_open = [], True
        elif (kind == "data" and self._key is not None and given.get("key") == self._key[0]) or (
            kind == "default" and self._key_open
        ):
            self._text = []
        elif kind == "data" and (key := self._keys.get(given.get("key"))) is not None:
            self._text, self._into = [], key
        elif kind == "default" and self._into is not None:
            self._text = []

    def _begin_key(self, given: dict[str, str]) -> None:
        """A key that may be a column: one of ours, or one that is asked for."""
        of, title, key = given.get("for"), given.get("attr.name"), given.get("id", "")
        if title is None or of not in ("edge", "node"):
            return
        chosen = key.startswith(_COLUMN) if self._wanted is None else (
            self._wanted is True or (of == "edge" and title in self._wanted))  # fmt: skip
        if chosen:
            self._into = self._keys[key] = TextColumn(of, title, given.get("attr.type", "string"))

    def _end(self, tag: str) -> None:
        kind = tag.rpartition("}")[2]
        self._depth -= 1
        if self._text is not None and kind in ("data", "default"):
            text = "".join(self._text) or None
            if self._ids_open:
                self._ids, self._ids_open = text, False
            elif self._into is not None and kind == "default":
                self._into.default = "".join(self._text)
            elif self._into is not None:
                place = len(self._weights if self._into.of == "edge" else self._nodes) - 1
                self._into.values[place] = "".join(self._text)
                self._into = None
                self._take(_VALUE_BYTES + sys.getsizeof(text))
            elif kind == "default" and self._key is not None:
                self._key = (*self._key[:2], text)
            elif self._edge_open:
                self._weights[-1] = text
            self._text = None
        elif kind == "key":
            self._key_open, self._into = False, None
        elif kind == "edge":
            self._edge_open = False

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
            if sum(map(len, self._text)) > _LONGEST_WEIGHT:
                raise self._fault(f"a weight of more than {_LONGEST_WEIGHT} characters")

    def _numbered(self, given: dict[str, str], attribute: str) -> int:
        name = given.get(attribute)
        if name is None:
            raise self._fault(f"an element without {attribute}=")
        known = len(self._number)
        number = self._number[name]
        if number == known:
            self._take(2 * sys.getsizeof(name))
        return number

    def _arcs(self) -> Arcs:
        """All edges, once the file was read."""
        if self._directed is None:
            raise FileFormatError(self._path, "it holds no <graph>")
        names: Any = list(self._number)
        n, nodes = len(names), np.frombuffer(self._nodes, np.int64)
        times = np.bincount(nodes, minlength=n)
        if (times != 1).any():
            at = int(np.flatnonzero(times != 1)[0])
            wrong = "an edge at {!r}, which is no node of it" if times[at] == 0 else "two nodes {!r}"
            raise FileFormatError(self._path, wrong.format(names[at]))
        ends = np.frombuffer(self._ends, np.int64).reshape(-1, 2)
        if (nodes != np.arange(n)).any():
            # Edges stood before their nodes.
            names, ends = [names[number] for number in nodes], np.argsort(nodes)[ends]
        if self._ids == "number":
            try:
                names = as_array(list(map(int, names)))
            except ValueError:
                raise FileFormatError(self._path, "its ids are said to be numbers, and some are none") from None
        elif self._ids != "text" and all(name == str(at) for at, name in enumerate(names)):
            names = None
        source, target = np.ascontiguousarray(ends.T)
        weight = None
        if self._key is not None:
            _, dtype, default = self._key
            usual = 1 if default is None else default
            given = [usual if value is None else value for value in self._weights]
            if dtype == "bool":
                given = [str(value).strip().lower() in ("true", "1") for value in given]
            try:
                weight = np.array(given, dtype=dtype)
            except (ValueError, OverflowError) as error:
                raise FileFormatError(self._path, f"a weight that is no {dtype} ({error})") from None
        edges, vertices = (
            {key.title: key.column(length, self._path) for key in self._keys.values() if key.of == of}
            for of, length in (("edge", len(source)), ("node", n))
        )
        if missing := [title for title in self._wanted or () if title not in edges] if self._wanted is not True else []:
            raise ValueError(f"columns: edges of {self._path} have no data called {missing[0]!r}")
        return Arcs(source, target, weight, n, self._directed, names, columns=edges, vertex_columns=vertices)


def write_graphml(graph: Graph, path: Path) -> None:
    """A `Writer`: an undirected edge once, with all columns; data of the graph say what ids are."""
    from xml.sax.saxutils import quoteattr

    arcs = Arcs.of(graph).each_edge_once()
    named = plain_names(arcs.names, path)
    texts = list(map(str, range(arcs.n_vertices) if named is None else named.tolist()))
    if any(not text.isprintable() for text in texts):
        raise ValueError(f"{path}: XML holds no control characters, and some names have them; .npz holds any name")
    ids = [f'"{text}"' if text.isalnum() else quoteattr(text) for text in texts]
    weights = repeat("", len(arcs.source)) if arcs.weight is None else [
        f'<data key="weight">{value_text(value)}</data>' for value in arcs.weight.tolist()
    ]  # fmt: skip
    keys: dict[str, tuple[str, str, Any]] = {}
    data_of = {}
    elements = ("node", arcs.vertex_columns, arcs.n_vertices), ("edge", arcs.columns, len(arcs.source))
    for of, held, length in elements:
        named_keys = {f"{_COLUMN}{of}-{at}": title for at, title in enumerate(held)}
        keys |= {key: (of, title, held[title]) for key, title in named_keys.items()}
        data_of[of] = _data({key: held[title] for key, title in named_keys.items()}, length)
        for title, column in held.items():
            if any(map(_UNFIT.search, [title, *(column.categories if isinstance(column, Categories) else ())])):
                raise ValueError(f"{path}: XML holds no control characters, and a column has them; .npz holds any text")
    with replacing_text(path) as text:
        text.write(f'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="{_NAMESPACE}">\n')
        if arcs.weight is not None:
            text.write(f'<key id="weight" for="edge" attr.name="weight" attr.type="{type_of(arcs.weight)}"/>\n')
        for key, (of, title, column) in keys.items():
            text.write(f'<key id="{key}" for="{of}" attr.name={quoteattr(title)} attr.type="{type_of(column)}"/>\n')
        if named is not None:
            text.write(f'<key id="{_IDS}" for="graph" attr.name="{_IDS}" attr.type="string"/>\n')
        text.write(f'<graph edgedefault="{"" if graph.directed else "un"}directed">\n')
        if named is not None:
            text.write(f'<data key="{_IDS}">{"number" if named.dtype.kind in "iu" else "text"}</data>\n')
        for id, data in zip(ids, data_of["node"], strict=True):
            text.write(f"<node id={id}>{data}</node>\n" if data else f"<node id={id}/>\n")
        body = [
            f">{own}{data}</edge>" if own or data else "/>" for own, data in zip(weights, data_of["edge"], strict=True)
        ]
        ends = (ids, arcs.source), (ids, arcs.target)
        text.writelines(text_rows(("<edge source=", " target=", "", "\n"), *ends, (body, None)))
        text.write("</graph>\n</graphml>\n")


def _data(columns: dict[str, Any], length: int) -> Iterator[str]:
    """The data of each element, by the ids of keys; text that is missing is left out."""
    from xml.sax.saxutils import escape

    if not columns:
        yield from repeat("", length)
        return
    for given in attributes(columns, length, plain_values):
        yield "".join(f'<data key="{key}">{escape(value_text(value))}</data>' for key, value in given.items())
