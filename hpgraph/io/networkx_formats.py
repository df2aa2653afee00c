"""GML, GEXF, Pajek and JSON node-link files, by NetworkX's readers and writers."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.networkx_edges import edges_of_networkx
from hpgraph.core.device import everywhere
from hpgraph.core.errors import FileFormatError, HpgraphError, optional
from hpgraph.io.arcs import Arcs, plain_names, whole_names
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing
from hpgraph.io.stream import content_of, shortened

# Bytes that NetworkX takes for one of a file: an edge of 30 characters is three dicts.
_BYTES = 40


class Format(NamedTuple):
    """How NetworkX reads and writes a format; ``typed``: whether names and weights keep their types there."""

    read: Callable[[Any, bytes], Any]
    write: Callable[[Any, Any, io.BytesIO], None]
    typed: bool = False


def _read_gml(nx: Any, content: bytes) -> Any:
    return nx.read_gml(io.BytesIO(content), label="label" if re.search(rb"\blabel\b", content) else "id")


def _require_nodes(unknown: list[Any]) -> None:
    if unknown:
        raise ValueError(f"an edge at {unknown[0]!r}, which is no node of it")


def _read_gexf(nx: Any, content: bytes) -> Any:
    if b"<!" in content.replace(b"<!--", b""):
        raise ValueError("it declares a document type, which could stand for more text than the file has")
    graph = nx.read_gexf(io.BytesIO(content))
    # NetworkX gives each node of the file a label, perhaps None, and adds what else edges name.
    _require_nodes([vertex for vertex, data in graph.nodes(data=True) if "label" not in data])
    return graph


def _read_pajek(nx: Any, content: bytes) -> Any:
    graph = nx.read_pajek(io.BytesIO(content))
    declared = re.search(rb"(?i)^\*vertices\s+(\d+)", content, re.MULTILINE)
    if declared is None or int(declared[1]) != len(graph):
        raise ValueError(f"it announces another number of vertices than the {len(graph)} that it has")
    if (lists := re.search(rb"(?im)^\s*\*(?:arcs|edges)list", content)) is not None:
        raise ValueError(f"{lists[0].decode().strip()} is not read; *arcs and *edges are")
    # NetworkX takes an end that is no number of a vertex for the label of one.
    numbers = {str(data.get("id")) for _, data in graph.nodes(data=True)}
    edges = re.search(rb"(?ims)^\s*\*(?:arcs|edges)[^\n]*\n(.*)", content)
    for line in [] if edges is None else edges[1].decode().splitlines():
        if len(ends := [end.strip("'\"") for end in line.split()[:2]]) == 2:
            _require_nodes([end for end in ends if end not in numbers])
    if all(weight == 1 for _, _, weight in graph.edges(data="weight")):
        # A line without a weight, and NetworkX's of a graph without weights, has weight 1.
        for _, _, data in graph.edges(data=True):
            data.pop("weight", None)
    return graph


def _read_json(nx: Any, content: bytes) -> Any:
    data = json.loads(content)
    graph = nx.node_link_graph(data, edges="links" if "links" in data else "edges")
    if len(graph) != len(data["nodes"]):
        raise ValueError(f"{len(data['nodes'])} nodes and {len(graph)} ids: ids are repeated, or edges name others")
    return graph


def _write_json(nx: Any, graph: Any, file: io.BytesIO) -> None:
    file.write(json.dumps(nx.node_link_data(graph, edges="links")).encode())


FORMATS = {
    "GML": Format(_read_gml, lambda nx, graph, file: nx.write_gml(graph, file)),
    "GEXF": Format(_read_gexf, lambda nx, graph, file: nx.write_gexf(graph, file)),
    "Pajek": Format(_read_pajek, lambda nx, graph, file: nx.write_pajek(graph, file)),
    "JSON": Format(_read_json, _write_json, typed=True),
}


def reader(name: str) -> Callable[[Path, bool | None, Budget], Arcs]:
    """The `Reader` of a format: names as they are, but for numbers written as text; the attribute weight of edges."""

    def read(path: Path, progress: bool | None, budget: Budget) -> Arcs:
        nx = optional("networkx", "networkx", f"{name} files")
        return _arcs(nx, name, content_of(path, progress, Taken(budget, path), _BYTES), path)

    return read


def writer(name: str) -> Callable[[Graph, Path], None]:
    """The `Writer` of a format; what NetworkX writes is read first, so that what the format cannot hold is refused."""

    def write(graph: Graph, path: Path) -> None:
        arcs, nx = Arcs.of(graph).each_edge_once(), optional("networkx", "networkx", f"{name} files")
        made, content = arcs.networkx(nx), io.BytesIO()
        try:
            plain_names(arcs.names, path)
            FORMATS[name].write(nx, made, content)
            again = _arcs(nx, name, content.getvalue(), path)
            if not _same(graph, again.graph(again.weight, again.directed)):
                raise ValueError("it would be read as another graph")
        except (ValueError, TypeError, nx.NetworkXException, FileFormatError) as error:
            why = shortened(str(error), 200)
            raise ValueError(f"{path}: {name} cannot hold names or weights of the graph ({why}); .npz can") from None
        with replacing(path) as file:
            file.write(content.getvalue())

    return write


def _arcs(nx: Any, name: str, content: bytes, path: Path) -> Arcs:
    format_ = FORMATS[name]
    try:
        found = edges_of_networkx(format_.read(nx, content))
    except (HpgraphError, MemoryError):
        raise
    except Exception as error:  # NetworkX's parsers raise any type
        raise FileFormatError(path, f"not a {name} file ({shortened(str(error), 200)})") from error
    names, weight = found["names"], found["weight"]
    if not format_.typed:
        if all(isinstance(vertex, int | str) for vertex in names):
            numbers = whole_names(list(map(str, names)))
            names = names if numbers is None else numbers
        if weight is not None and weight.dtype.kind == "f" and everywhere(abs(weight) < 2.0**53):
            weight = weight.astype(np.int64) if everywhere(weight == np.trunc(weight)) else weight
    return Arcs(found["source"], found["target"], weight, found["n_vertices"], found["directed"], names)


def _same(graph: Graph, other: Graph) -> bool:
    """Whether two graphs have the same vertices, by name and in order, arcs and weights."""
    one, two = graph.out_csr, other.out_csr
    if (graph.names is None) != (other.names is None) or graph.directed != other.directed or one.shape != two.shape:
        return False
    if graph.names is not None and graph.names.tolist() != other.names.tolist():  # type: ignore[union-attr]
        return False
    if not (np.array_equal(one.indptr, two.indptr) and np.array_equal(one.indices, two.indices)):
        return False
    if one.data is None or two.data is None:
        return one.data is None and (two.data is None or not one.nnz)
    return np.array_equal(one.data, two.data, equal_nan=one.data.dtype.kind == "f" == two.data.dtype.kind)
