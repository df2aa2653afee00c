"""The edges of a NetworkX graph, as `Graph.from_edges` takes them; nothing here imports NetworkX."""

from __future__ import annotations

from itertools import chain, compress, islice
from numbers import Integral, Real
from typing import Any

import numpy as np

# Rows of which two neighbours are looked at, and the share of them above which a rule is taken for one.
_ASKED = 1 << 10
_MOST = 0.9


def is_networkx(source: Any) -> bool:
    """Whether something is a NetworkX graph, judged by where its classes come from.

    Examples
    --------
    >>> is_networkx([])
    False
    """
    return any(kind.__module__.partition(".")[0] == "networkx" for kind in type(source).__mro__)


def edges_of_networkx(graph: Any, weight: str | None = "weight") -> dict[str, Any]:
    """What `Graph.from_edges` is to be given.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    weight : str or None, optional
        As for `hpgraph.from_networkx`.

    Returns
    -------
    dict
        Its arguments by name.

    Raises
    ------
    TypeError
        When a weight is not a real number.
    """
    nodes = list(graph)
    indptr, target = rows_of(graph, nodes)
    weights = None if weight is None else values_of(graph, nodes, weight)
    source = np.repeat(np.arange(len(nodes)), np.diff(indptr))
    if not graph.is_directed():
        once = source <= target
        source, target = source[once], target[once]
        weights = None if weights is None else weights[once]
    return {
        "source": source,
        "target": target,
        "weight": weights,
        "n_vertices": len(nodes),
        "directed": graph.is_directed(),
        "names": nodes,
    }


def rows_of(graph: Any, nodes: list[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Who is next to whom, in the order in which NetworkX lists neighbours; parallel edges count once.

    Parameters
    ----------
    graph : networkx graph
    nodes : list
        Its nodes, which get the numbers 0, 1, ...

    Returns
    -------
    indptr : int64 array of shape (n + 1,)
    indices : int64 array
        Both arcs of an undirected edge are there, as in ``graph.adj``.
    """
    rows = list(map(graph._adj.__getitem__, nodes))
    indptr = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=indptr[1:])
    ends, size = chain.from_iterable(rows), int(indptr[-1])
    table = _table(nodes)
    if table is not None:
        lowest, number = table
        return indptr, number[np.fromiter(ends, np.int64, size) - lowest]
    number_of = dict(zip(nodes, range(len(nodes)), strict=True))
    if size > _ASKED and _are_the_same(rows, nodes, number_of):
        return indptr, _by_identity(rows, nodes, number_of, size)
    return indptr, np.fromiter(map(number_of.__getitem__, ends), np.int64, size)


def _are_the_same(rows: list[Any], nodes: list[Any], number_of: dict[Any, int]) -> bool:
    """Whether neighbours are, as a rule, the objects that the nodes are: a sample is looked at."""
    sample = chain.from_iterable(islice(row, 2) for row in rows[:: max(1, len(rows) // _ASKED)])
    met = [nodes[number_of[end]] is end for end in sample]
    return sum(met) > _MOST * len(met)


def _by_identity(rows: list[Any], nodes: list[Any], number_of: dict[Any, int], size: int) -> np.ndarray[Any, Any]:
    """The numbers of all neighbours, by where the objects lie: to look into each takes twice as long."""
    places = np.fromiter(map(id, nodes), np.int64, len(nodes))
    order = np.argsort(places)
    places = places[order]
    ends = np.fromiter(map(id, chain.from_iterable(rows)), np.int64, size)
    at = np.minimum(np.searchsorted(places, ends), len(places) - 1)
    numbers: np.ndarray[Any, Any] = order[at]
    others = np.flatnonzero(places[at] != ends)
    if others.size:
        # Equal to a node, and another object.
        wanted = np.zeros(size, np.bool_)
        wanted[others] = True
        numbers[others] = [number_of[end] for end in compress(chain.from_iterable(rows), wanted.tolist())]
    return numbers


def values_of(graph: Any, nodes: list[Any], weight: str) -> np.ndarray[Any, np.dtype[Any]] | None:
    """An attribute of the edges, in the order of `rows_of`: of parallel edges the least.

    Parameters
    ----------
    graph : networkx graph
    nodes : list
    weight : str
        Edges without it have 1.

    Returns
    -------
    int64 or float64 array, or None
        None where no edge has the attribute.

    Raises
    ------
    TypeError
        When a value is not a real number.
    """
    if not any(chain.from_iterable(row.values() for row in map(graph._adj.__getitem__, nodes))):
        return None
    edges = chain.from_iterable(row.values() for row in map(graph._adj.__getitem__, nodes))
    parallel: list[int] = []
    if graph.is_multigraph():
        several = [list(edge.values()) for edge in edges]
        parallel = [len(found) for found in several]
        edges = chain.from_iterable(several)
    every = [edge.get(weight) for edge in edges]
    kinds = set(map(type, every)) - {type(None)}
    if not kinds:
        return None
    if not all(issubclass(kind, Real) for kind in kinds):
        raise TypeError(_unfit(graph, weight))
    values = [1 if value is None else value for value in every] if type(None) in map(type, every) else every
    if graph.is_multigraph():
        left = iter(values)
        values = [min(islice(left, count)) for count in parallel]
    if all(issubclass(kind, Integral) for kind in kinds):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass  # float64 comes nearest to whole numbers beyond 64 bits.
    return np.array(values, dtype=np.float64)


def _unfit(graph: Any, weight: str) -> str:
    u, v, value = next(
        edge for edge in graph.edges(data=weight) if edge[2] is not None and not isinstance(edge[2], Real)
    )
    return f"{weight!r} of edge ({u!r}, {v!r}) must be a real number, not {value!r}"


def _table(nodes: list[Any]) -> tuple[int, np.ndarray[Any, Any]] | None:
    """Where nodes are whole numbers that lie close: the lowest, and the place of each from there on."""
    if set(map(type, nodes)) != {int}:
        return None
    lowest, highest = min(nodes), max(nodes)
    # A table takes less than a dict, which has some 100 bytes for each node, while it has 8 for each number.
    if highest - lowest >= 8 * len(nodes) or lowest < -(1 << 62) or highest >= 1 << 62:
        return None
    number = np.zeros(highest - lowest + 1, np.int64)
    number[np.array(nodes, np.int64) - lowest] = np.arange(len(nodes))
    return lowest, number
