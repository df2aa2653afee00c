"""GraphML, as NetworkX, igraph, Gephi and yEd write it: nodes, edges, and weights of edges.

U. Brandes et al., "GraphML progress report: structural layer proposal", GD'01. Of data only the weight is read: the key
of edges whose ``attr.name`` is "weight".
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.name_arrays import as_array, text_or_numbers
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs
from hpgraph.io.memory import Budget
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import open_bytes

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"int": "int64", "long": "int64", "float": "float64", "double": "float64", "boolean": "bool"}
# What ids are, "number" or "text": data of the graph, which others pass over or keep as an attribute.
_IDS = "hpgraph-ids"
_BYTES = 200  # of a node or an edge in lists
_EVERY = 1 << 14


def read_graphml(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`, of one graph without hyperedges whose edges are directed, or none of them.

    Vertices are named by the ids of their nodes, text unless `write_graphml` said that they are numbers. Without its
    word 0, 1, 2, ... in order are no names. An edge without a weight in a file with weights has the key's default, else
    1.
    """
    found = _Found(path, budget)
    from xml.etree import ElementTree

    with open_bytes(path, progress) as file:
        try:
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                found.take(event, element)
        except ElementTree.ParseError as error:
            raise FileFormatError(path, f"no whole XML file ({error})") from None
    return found.arcs()


class _Found:
    """What elements have said so far."""

    def __init__(self, path: Path, budget: Budget) -> None:
        self._path, self._budget = path, budget
        self._node: dict[str, int] = {}
        self._ends: list[tuple[str, str]] = []
        self._weights: list[Any] = []
        self._key: tuple[str, str, Any] | None = None  # id, type, default
        self._weight: Any = None
        self._directed: bool | None = None
        self._default = True
        self._graph: Any = None
        self._ids: str | None = None

    def take(self, event: str, element: Any) -> None:
        """One event of the parser's."""
        kind = element.tag.rpartition("}")[2]
        if event == "start":
            if kind == "graph":
                if self._directed is not None:
                    raise FileFormatError(self._path, "it holds several graphs, or one inside another; one is read")
                self._directed = self._default = element.get("edgedefault", "directed") == "directed"
                self._graph = element
            elif kind == "hyperedge":
                raise FileFormatError(self._path, "it holds hyperedges; edges of a graph have two ends")
            return
        if kind == "key" and element.get("for") in ("edge", "all") and element.get("attr.name") == "weight":
            default = next((child.text for child in element if child.tag.endswith("default")), None)
            self._key = element.get("id"), _TYPES.get(element.get("attr.type"), "float64"), default
        elif kind == "data" and self._key is not None and element.get("key") == self._key[0]:
            self._weight = element.text
            return
        elif kind == "data" and element.get("key") == _IDS:
            self._ids = element.text
            return
        elif kind == "node":
            self._node[self._given(element, "id")] = len(self._node)
            self._weight = None
        elif kind == "edge":
            self._edge(element)
        elif kind in ("data", "default", "desc", "port", "endpoint"):
            return
        # What was taken goes, from the graph too, which would hold the empty elements of all.
        (element if self._graph is None else self._graph).clear()
        if (len(self._node) + len(self._ends)) % _EVERY == 0:
            count = len(self._node) + len(self._ends)
            self._budget.check(count * _BYTES, f"{count} nodes and edges and more of {self._path}")

    def _edge(self, element: Any) -> None:
        said = element.get("directed")
        directed = self._default if said is None else said == "true"
        if self._ends and directed != self._directed:
            raise FileFormatError(self._path, "some edges are directed and others are not")
        self._directed = directed
        self._ends.append((self._given(element, "source"), self._given(element, "target")))
        self._weights.append(self._weight)
        self._weight = None

    def _given(self, element: Any, name: str) -> str:
        value = element.get(name)
        if value is None:
            raise FileFormatError(self._path, f"an element without {name}=")
        return str(value)

    def arcs(self) -> Arcs:
        """All edges."""
        if self._directed is None:
            raise FileFormatError(self._path, "it holds no <graph>")
        try:
            ends = [self._node[name] for pair in self._ends for name in pair]
        except KeyError as error:
            raise FileFormatError(self._path, f"an edge at {error.args[0]!r}, which is no node of it") from None
        source, target = np.array(ends, np.int64).reshape(-1, 2).T
        names: Any = list(self._node)
        if self._ids == "number":
            try:
                names = as_array(list(map(int, names)))
            except ValueError:
                raise FileFormatError(self._path, "its ids are said to be numbers, and some are none") from None
        elif self._ids != "text" and names == list(map(str, range(len(names)))):
            names = None
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
        return Arcs(source, target, weight, len(self._node), self._directed, names)


def write_graphml(graph: Graph, path: Path) -> None:
    """A `Writer`: an undirected edge once.

    Names must be text or whole numbers; data of the graph say which.
    """
    from xml.sax.saxutils import quoteattr

    arcs = Arcs.of(graph).each_edge_once()
    named = None if arcs.names is None else text_or_numbers(arcs.names)
    if arcs.names is not None and named is None:
        raise ValueError(f"{path}: nodes have ids of text there, and some names are no text; pickle holds any")
    texts = list(map(str, range(arcs.n_vertices) if named is None else named.tolist()))
    if any(not text.isprintable() for text in texts):
        raise ValueError(f"{path}: XML holds no control characters, and some names have them; .npz holds any name")
    ids = [quoteattr(text) for text in texts]
    weight = None if arcs.weight is None else arcs.weight.tolist()
    with replacing_text(path) as text:
        text.write(f'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="{_NAMESPACE}">\n')
        if arcs.weight is not None:
            kind = {"b": "boolean", "i": "long", "u": "long"}.get(arcs.weight.dtype.kind, "double")
            text.write(f'<key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>\n')
        if named is not None:
            text.write(f'<key id="{_IDS}" for="graph" attr.name="{_IDS}" attr.type="string"/>\n')
        text.write(f'<graph edgedefault="{"" if graph.directed else "un"}directed">\n')
        if named is not None:
            text.write(f'<data key="{_IDS}">{"number" if named.dtype.kind in "iu" else "text"}</data>\n')
        text.writelines(f"<node id={id}/>\n" for id in ids)
        for at, (u, v) in enumerate(zip(arcs.source.tolist(), arcs.target.tolist(), strict=True)):
            data = "/>" if weight is None else f'><data key="weight">{_as_xml(weight[at])}</data></edge>'
            text.write(f"<edge source={ids[u]} target={ids[v]}{data}\n")
        text.write("</graph>\n</graphml>\n")


def _as_xml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
