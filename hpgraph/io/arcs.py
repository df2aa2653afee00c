"""The arcs of a graph as arrays, with the other contents of a file, and names of vertices in files.

A `Reader` of a format is a function ``(path, progress, budget) -> Arcs``, a `Writer` one ``(graph, path) -> None``.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from hpgraph.containers.columns import listed, taken
from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import as_array, python_values, text_or_numbers
from hpgraph.core.caller import each_warning_once
from hpgraph.formats.duplicates import Duplicates

Array = np.ndarray[Any, np.dtype[Any]]
# Bytes a name, with its number, in addition to its characters.
_NAME_BYTES = 200
_WHOLE = re.compile("0|-?[1-9][0-9]{0,19}")


@dataclass(frozen=True)
class Arcs:
    """Arcs source[k] -> target[k].

    ``source, target`` (numpy.ndarray of int32 or int64, shape (m,)): ends of each arc; ``weight`` (numpy.ndarray, shape
    (m,), or None): weight of each arc; ``n_vertices`` (int): number of vertices; ``directed`` (bool or None): whether
    (u, v) does not imply (v, u); None if it is determined by the arcs. An undirected edge may be there once or in both
    directions; ``names`` (sequence or None): name of each vertex; ``mirrored`` (bool): whether the arcs of an
    undirected graph are the entries of a matrix, each edge in both directions; ``multigraph`` (bool): whether parallel
    edges were kept; ``columns, vertex_columns`` (dict): those of the arcs, in their order, and of the vertices.
    """

    source: Array
    target: Array
    weight: Array | None
    n_vertices: int
    directed: bool | None
    names: Any = None
    mirrored: bool = False
    multigraph: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    vertex_columns: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """All stored arcs of a graph on the CPU: an undirected edge in both directions."""
        csr = graph.out_csr
        source = np.repeat(np.arange(csr.shape[0], dtype=csr.indices.dtype), np.diff(csr.indptr))
        columns = graph._columns_held
        what = graph.n_vertices, graph.directed, graph.names, True, graph.multigraph, columns.edges, columns.vertices
        return cls(source, csr.indices, csr.data, *what)

    @each_warning_once()
    def graph(self, weight: Array | None, directed: bool | None, duplicates: Duplicates | None = None) -> Graph:
        """The graph of these arcs, with other weights."""
        graph = Graph.from_edges(
            self.source, self.target, weight, n_vertices=self.n_vertices,
            directed=None if self.mirrored and not directed else directed, names=self.names, duplicates=duplicates,
            columns=self.columns or None, vertex_columns=self.vertex_columns or None,
        )  # fmt: skip
        # Arcs of a matrix declared undirected may lack their reverse.
        complete = directed is not False or not graph.directed
        return graph if complete else Graph(graph, directed=False, duplicates=duplicates)

    def each_edge_once(self) -> "Arcs":
        """Without the arcs v -> u, u < v, of an undirected graph."""
        if self.directed:
            return self
        kept = self.source <= self.target
        weight = None if self.weight is None else self.weight[kept]
        columns = {title: taken(column, kept) for title, column in self.columns.items()}
        what = self.n_vertices, False, self.names, False, self.multigraph, columns, self.vertex_columns
        return Arcs(self.source[kept], self.target[kept], weight, *what)

    def networkx(self, nx: Any, columns: bool = False) -> Any:
        """A graph of the module `networkx`: nodes are the names, else 0 ... n - 1, in this order."""
        result = getattr(nx, ("Multi" if self.multigraph else "") + ("DiGraph" if self.directed else "Graph"))()
        nodes = range(self.n_vertices) if self.names is None else python_values(self.names)
        of_vertices, of_edges = (self.vertex_columns, self.columns) if columns else ({}, {})
        weight = {} if self.weight is None else {"weight": self.weight}
        result.add_nodes_from(zip(nodes, attributes(of_vertices, self.n_vertices), strict=True))
        ends = [map(nodes.__getitem__, column.tolist()) for column in (self.source, self.target)]
        result.add_edges_from(zip(*ends, attributes({**weight, **of_edges}, len(self.source)), strict=True))
        return result


def attributes(columns: Mapping[str, Any], count: int, plain: Callable[..., Any] = listed) -> Iterator[dict[str, Any]]:
    """For each edge, or node, a dict of its values by column; missing text and dates are left out."""
    values = [plain(column) for column in columns.values()]
    for row in zip(*values, strict=True) if values else itertools.repeat((), count):
        yield {title: value for title, value in zip(columns, row, strict=True) if value is not None}


def plain_names(names: Any, path: Path) -> Array | None:
    """Names as an array of text or of whole numbers, the only ones that a file holds; None if there are none."""
    found = None if names is None else text_or_numbers(names)
    if names is not None and found is None:
        raise mixed_names(path)
    return found


def whole_names(names: list[str]) -> list[int] | None:
    """Names as whole numbers of 64 bits, where all are written as such."""
    if not all(map(_WHOLE.fullmatch, names)):
        return None
    numbers = list(map(int, names))
    return numbers if not numbers or as_array(numbers).dtype.kind in "iu" else None


def mixed_names(path: Path) -> ValueError:
    """The error for names that a file cannot hold."""
    return ValueError(
        f"{path}: the format holds names that are all text or all whole numbers of 64 bits, and some are neither; "
        "pickle holds any"
    )


class NameNumbers(defaultdict[str, int]):
    """Maps names to numbers, in the order of first use; ``text_bytes``: bound on the bytes of their text."""

    text_bytes = 0

    def __init__(self) -> None:
        super().__init__(itertools.count().__next__)

    @property
    def nbytes(self) -> int:
        """Bytes that all names take."""
        return len(self) * _NAME_BYTES + self.text_bytes


def is_sparse(source: Array, target: Array, largest: int) -> bool:
    """Whether ids leave more than half of 0 .. largest unused."""
    if largest + 1 > 4 * source.size:
        return True
    used = np.zeros(largest + 1, np.bool_)
    used[source] = True
    used[target] = True
    return 2 * int(np.count_nonzero(used)) < largest + 1


def in_order(source: Array, target: Array) -> tuple[Array, Array, Array]:
    """Source and target as positions in the ascending array of all ids, and that array."""
    ids, place = np.unique(np.concatenate((source, target)), return_inverse=True)
    return place[: len(source)], place[len(source) :], ids
