"""The edges of a NetworkX graph, as `Graph.from_edges` takes them; nothing here imports NetworkX."""

from collections.abc import Mapping
from itertools import chain
from numbers import Integral, Real
from operator import itemgetter
from typing import Any

import numpy as np

from hpgraph.containers.columns import as_column, taken
from hpgraph.containers.node_numbers import neighbors_of
from hpgraph.formats.duplicates import merge_runs


def is_networkx(source: Any) -> bool:
    """Whether something is a NetworkX graph, judged by where its classes come from."""
    return any(kind.__module__.partition(".")[0] == "networkx" for kind in type(source).__mro__)


def edges_of_networkx(graph: Any, weight: str | None = "weight", columns: Any = None) -> dict[str, Any]:
    """Arguments of `Graph.from_edges`; `columns`: further attributes of the edges, True for all."""
    nodes = list(graph)
    rows = rows_of(graph, nodes)
    indptr, target = neighbors_of(nodes, rows)
    weights = None if weight is None else _every_value(graph, rows, weight)
    source = np.repeat(np.arange(len(nodes)), np.diff(indptr))
    if graph.is_multigraph():
        parallel = parallel_edges(rows)
        source, target = np.repeat(source, parallel), np.repeat(target, parallel)
    if not graph.is_directed():
        once = source <= target
        source, target = source[once], target[once]
        weights = None if weights is None else weights[once]
    further = {}
    if columns is not None:
        further = _attributes(_dicts_of(graph, rows), columns, "columns", weight)
        if not graph.is_directed():
            further = {title: taken(column, once) for title, column in further.items()}
    return {
        **({"columns": further} if further else {}),
        "source": source,
        "target": target,
        "weight": weights,
        "n_vertices": len(nodes),
        "directed": graph.is_directed(),
        "names": nodes,
    }


def holds_edges(graph: Any) -> bool:
    """Whether neighbours are those in the graph's own dicts: not of a view, nor of a class that lists others."""
    return type(graph._adj) is dict and type(graph).adjacency.__module__.startswith("networkx.classes.")


def rows_of(graph: Any, nodes: list[Any]) -> list[Any]:
    """The dicts of ``graph.adj``, one for each node: its neighbours, with the attributes of the edges."""
    if not holds_edges(graph):
        # A view's rows may list fewer nodes than their length.
        return [dict(graph[node]) for node in nodes]
    adjacency = graph._adj
    return list(adjacency.values() if list(adjacency) == nodes else map(adjacency.__getitem__, nodes))


def values_of(graph: Any, rows: list[Any], weight: str, default: float = 1) -> np.ndarray[Any, np.dtype[Any]] | None:
    """An attribute of the edges in the order of `neighbors_of`, the least of parallel ones; None if no edge has it."""
    values = _every_value(graph, rows, weight, default)
    if values is None or not graph.is_multigraph() or not values.size:
        return values
    parallel = parallel_edges(rows)
    return merge_runs(values, np.cumsum(parallel) - parallel, "min")


def parallel_edges(rows: list[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """How many edges of a multigraph lead to each neighbour."""
    return np.array([len(edges) for row in rows for edges in row.values()], dtype=np.int64)


def _every_value(graph: Any, rows: list[Any], weight: str, default: float = 1) -> np.ndarray[Any, np.dtype[Any]] | None:
    """An attribute of all edges, parallel ones one by one."""
    if not any(chain.from_iterable(row.values() for row in rows)):
        return None
    try:
        return values_in(_dicts_of(graph, rows), weight, default)
    except TypeError:
        raise TypeError(_unfit(graph, weight)) from None


def _dicts_of(graph: Any, rows: list[Any]) -> list[Any]:
    """The attributes of all edges, parallel ones one by one."""
    edges = list(chain.from_iterable(row.values() for row in rows))
    return list(chain.from_iterable(edge.values() for edge in edges)) if graph.is_multigraph() else edges


def node_columns(graph: Any, columns: Any) -> dict[str, Any]:
    """Attributes of the nodes, in their order, as columns."""
    return _attributes([graph.nodes[node] for node in graph], columns, "vertex_columns")


def _attributes(held: list[Any], columns: Any, argument: str, weight: str | None = None) -> dict[str, Any]:
    """Attributes from one dict for each edge or node, as columns; True selects all."""
    if isinstance(columns, Mapping):
        return dict(columns)
    known = dict.fromkeys(title for attributes in held for title in attributes)
    titles = [title for title in known if title != weight] if columns is True else list(columns)
    for title in titles:
        if title not in known:
            choices = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"{argument}: the graph has no attribute {title!r}; it has {choices}")
    return {
        title: as_column([attributes.get(title) for attributes in held], f"{argument}: {title!r}") for title in titles
    }


def values_in(edges: list[Any], name: str, default: float = 1) -> np.ndarray[Any, np.dtype[Any]] | None:
    """An attribute from one dict an edge; None if no edge has it. TypeError for a value that is not a real number."""
    try:
        values = list(map(itemgetter(name), edges))
    except KeyError:
        if not any(name in edge for edge in edges):
            return None
        values = [edge.get(name, default) for edge in edges]
    kinds = set(map(type, values))
    if not all(issubclass(kind, Real) for kind in kinds):
        raise TypeError(f"{name!r} of an edge must be a real number")
    if all(issubclass(kind, Integral) for kind in kinds):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass  # Integers beyond 64 bits are rounded to float64.
    return np.array(values, dtype=np.float64)


def _unfit(graph: Any, weight: str) -> str:
    u, v, value = next(edge for edge in graph.edges(data=weight, default=1) if not isinstance(edge[2], Real))
    remedy = ": delete the attribute, and the edge weighs 1, or remove the edge" if value is None else ""
    return f"{weight!r} of edge ({u!r}, {v!r}) must be a real number, not {value!r}{remedy}"
