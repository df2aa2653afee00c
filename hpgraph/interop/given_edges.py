"""Graphs of edges in any form in which other libraries and Python hold them."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hpgraph.containers.columns import as_column, taken
from hpgraph.containers.graph import Graph, naming_arguments
from hpgraph.containers.networkx_edges import edges_of_networkx, is_networkx, node_columns
from hpgraph.core.device import is_cuda, native
from hpgraph.core.errors import optional
from hpgraph.formats.duplicates import Duplicates, checked_duplicates
from hpgraph.interop.vertex_ids import numbered_ends
from hpgraph.io.line_format import titled_columns


@naming_arguments
def from_edges(
    edges: Any,
    target: Any = None,
    weight: Any = None,
    *,
    source: Any = None,
    directed: bool | None = None,
    n_vertices: int | None = None,
    names: bool | Iterable[Any] | None = None,
    duplicates: Duplicates | None = None,
    columns: Any = None,
    kind: Any = None,
    vertex_columns: Any = None,
) -> Graph:
    """A graph of edges in any form: tables, rows, arrays, or graphs of other libraries.

    Parameters
    ----------
    edges : table, list of tuples, (m, 2) array, graph of another library, or m sources
        A table has a row for each edge: a data frame of pandas, Polars or cuDF, an Arrow table, a DuckDB relation,
        whatever else has Arrow's PyCapsule interface, or a dict of columns. Rows of a list or an array are
        ``(source, target)`` or ``(source, target, weight)``. Graphs are those of igraph, networkit, NetworkX, PyTorch
        Geometric, and matrices of python-graphblas.
    target, weight : hashable, or arrays or sequences of length m
        Of a table, the titles of its columns; beside m sources, the targets and weights. ``weight=False`` leaves the
        weights of a table or a graph out.
    source : hashable, optional
        Of a table, the title of the column of sources. Columns that are not named are known by their titles, such as
        "source", "src" or "from", or else are the first two, and a third of three.
    directed : bool, optional
        False adds the reverse of each arc. By default as the graph of another library is, else True.
    n_vertices : int, optional
        Number of vertices; ids are then indices. By default one more than the largest.
    names : bool or sequence, optional
        Ids that are text, or no numbers, are always names of vertices. True takes whole numbers for names too, False
        for indices. By default they are indices in m sources and targets; in tables and rows they are names where they
        leave more than half of the indices up to the largest unused, or are negative, as `hpgraph.read` has it.
        A sequence has a name for each index.
    duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
        As for `Graph`: by default an edge given more than once has the least of its weights.
    columns : sequence of titles, True, or dict of arrays or sequences of length m, optional
        Further values of each edge, which `Graph.edge_column` gives, `Graph.with_weight` makes weights of, and
        functions read as ``edge.year``: columns of the table, or attributes of the edges of a NetworkX graph, True
        being all that there are; or by title. Numbers (of a NetworkX graph NaN where they are missing) or text, which
        is kept as codes and categories. Of an edge given more than once they are those of the row whose weight is kept,
        of equal ones of the first; "sum" adds them up, and refuses text.
    kind : hashable, optional
        The title of one more such column, which says what kind of edge each is. Edges of several kinds between two
        vertices are several edges: parallel ones are then kept unless `duplicates` says otherwise.
        ``G.filter(edges={kind: "rent"})`` has those of one kind.
    vertex_columns : dict of arrays or sequences of length n, table, or sequence of titles, optional
        The same of vertices: in the order of ``G.names``; in a table with a row for each vertex, in any order, named in
        the column "vertex"; or attributes of the nodes of a NetworkX graph.

    Returns
    -------
    Graph
        On the CPU, or on the device of arrays of indices. Its `repr` says the first names, where ids became names.

    Raises
    ------
    ValueError
        When a column is not there, or a row has no id or no weight.
    TypeError
        When edges, ids or weights are of no type that fits.
    IndexError, DeviceMemoryError
        As `Graph.from_edges`.
    MissingExtraError
        When a table needs pyarrow, and it is not installed.

    Warns
    -----
    DuplicateEdgesWarning
        When an edge is given with unlike weights, and `duplicates` is left out.
    SparseIdsWarning
        When ids in arrays are taken for indices and fewer than one in fifty of the vertices, of more than 10,000, can
        have an edge.

    Examples
    --------
    >>> hpg.from_edges([("ann", "bob"), ("bob", "eve")])
    Graph: 3 vertices, 2 arcs, directed, no weights, cpu, named 'ann', 'bob', 'eve'
    >>> G = hpg.from_edges({"from": ["a", "b"], "to": ["b", "c"], "year": [2019, 2024]}, weight=False, columns=["year"])
    >>> G.edge_column("year").tolist()
    [2019, 2024]
    >>> deals = {"source": ["a", "a"], "target": ["b", "b"], "kind": ["rent", "food"]}
    >>> G = hpg.from_edges(deals, kind="kind")
    >>> G, G.filter(edges={"kind": "rent"}).n_edges
    (Graph: 2 vertices, 2 arcs, directed, parallel edges kept, no weights, cpu, columns kind, named 'a', 'b', 1)
    >>> hpg.from_edges({"who": ["a", "b"], "whom": ["b", "c"], "km": [3.5, 1.0]}, source="who", target="whom",
    ...                weight="km", directed=False)
    Graph: 3 vertices, 4 arcs, undirected, float64 weights, cpu, named 'a', 'b', 'c'
    """
    checked_duplicates(duplicates)
    columns = [columns] if isinstance(columns, str) else columns
    if kind is not None:
        columns, duplicates = _with_kind(columns, kind), duplicates or "keep"
    given = edges_given(edges, source, target, weight, names if names is not None else n_vertices, columns)
    if given is None:
        if target is None or source is not None:
            raise TypeError(
                f"edges cannot be read from {type(edges).__name__}: give a table, a list of tuples, an (m, 2) array, "
                "or sources and targets"
            )
        ends = numbered_ends(edges, target, names=names if isinstance(names, bool) else None)
        given = {"source": ends[0], "target": ends[1], "weight": weight, "names": ends[2], **_own(columns, edges)}
    if names is not None and not isinstance(names, bool):
        if given.get("names") is not None:
            raise ValueError("names: the ids are names already; a name for each index is for ids that are indices")
        given["names"] = names
    if n_vertices is not None:
        if given.get("names") is not None and names is None:
            raise ValueError("n_vertices is for ids that are indices, and these are names: leave it out")
        given["n_vertices"] = n_vertices
    if names is False:
        given["names"] = False
    if directed is not None:
        given["directed"] = directed
    graph = Graph.from_edges(**given, duplicates=duplicates)
    if vertex_columns is None:
        return graph
    found = node_columns(edges, vertex_columns) if is_networkx(edges) else _by_name(vertex_columns, graph)
    return graph.with_columns(vertices=found)


def _with_kind(columns: Any, kind: Any) -> Any:
    """Columns, including the one with the kinds of edges."""
    if columns is True:
        return True
    if isinstance(columns, Mapping):
        if kind not in columns:
            raise ValueError(f"kind: {kind!r} is none of the columns given; these are {', '.join(map(repr, columns))}")
        return columns
    return list(dict.fromkeys([*(columns or ()), kind]))


def _own(columns: Any, data: Any) -> dict[str, Any]:
    """Columns that are given by title beside the edges, as an argument of `Graph.from_edges`."""
    if columns is not None and not isinstance(columns, Mapping):
        raise TypeError(
            "columns: titles say columns of a table, or attributes of a NetworkX graph; beside a "
            f"{type(data).__name__} give a dict of titles and values"
        )
    return {} if columns is None else {"columns": columns}


def _by_name(given: Any, graph: Graph) -> Any:
    """Columns of vertices in the graph's order: a dict as it is, a table joined by its column "vertex"."""
    if isinstance(given, Mapping) and "vertex" not in given:
        return given
    columns = columns_given(given)
    if columns is None:
        raise TypeError(f"vertex_columns must be a dict of columns or a table, not {type(given).__name__}")
    if "vertex" not in columns:
        raise ValueError(f'vertex_columns: a table needs a column "vertex"; it has {", ".join(map(repr, columns))}')
    named = columns["vertex"]
    places = graph.indices_of(named.to_numpy() if hasattr(named, "to_numpy") else list(named), "vertex_columns")
    order, n = np.argsort(places, kind="stable"), graph.n_vertices
    if not np.array_equal(places[order], np.arange(n)):
        times = np.bincount(places, minlength=n)
        vertex = int((times != 1).argmax())
        raise ValueError(
            f"vertex_columns must have one row for each vertex, and has {times[vertex]} for {graph._shown(vertex)}"
        )
    held = {title: as_column(one, f"vertex_columns: {title!r}") for title, one in columns.items() if title != "vertex"}
    return {title: taken(column, order) for title, column in held.items()}


def edges_given(
    data: Any, source: Any, target: Any, weight: Any, names: Any, columns: Any = None
) -> dict[str, Any] | None:
    """Arguments of `Graph.from_edges` for a table, rows, or a graph of another library; None for other objects."""
    indices, names = names is not None, names if isinstance(names, bool) else None
    homes = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    if library := next((library for library in _READERS if library in homes), None):
        given: dict[str, Any] = _READERS[library](data, weight)
        given |= _own(columns, data)
        return {**given, "weight": None} if weight is False else given
    if is_networkx(data):
        return edges_of_networkx(data, None if weight is False else weight or "weight", columns)
    if target is not None and source is None and not isinstance(target, str):
        return None
    if _is_table(data):
        return _of_table(data, source, target, weight, names, indices, columns)
    array = (isinstance(data, np.ndarray) or is_cuda(data)) and data.ndim == 2 and data.shape[1] in (2, 3)
    if target is not None or not (array or isinstance(data, list)):
        return None
    return {**_of_rows(data, names, indices), **_own(columns, data)}


def _of_table(
    table: Any, source: Any = None, target: Any = None, weight: Any = None, names: bool | None = None,
    indices: bool = False, further: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Arguments of `Graph.from_edges` for a table with a row for each arc."""
    columns, titles = _columns(table)
    chosen = _chosen(titles, source, target, weight)
    called = f"column {chosen[0]!r}", f"column {chosen[1]!r}"
    ends = numbered_ends(columns[chosen[0]], columns[chosen[1]], called, names, indices)
    weights = None if chosen[2] is None else _weights(columns[chosen[2]], f"column {chosen[2]!r}")
    given = {"source": ends[0], "target": ends[1], "weight": weights, "names": ends[2]}
    if further is None or isinstance(further, Mapping):
        return {**given, **_own(further, table)}
    further = [title for title in titles if title not in chosen] if further is True else list(further)
    for title in further:
        if title not in titles or title in chosen[:2]:
            fault = "holds the ends of edges" if title in titles else "is none of the table's"
            raise ValueError(f"columns: {title!r} {fault}; it has {', '.join(map(repr, titles))}")
    return {**given, "columns": {title: columns[title] for title in further}}


def _is_table(data: Any) -> bool:
    # A column alone comes with Arrow's interface as well.
    if isinstance(data, Mapping) or len(getattr(data, "shape", (0, 0))) != 2:
        return isinstance(data, Mapping)
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__")


def columns_given(data: Any) -> dict[Any, Any] | None:
    """The columns of a table by title; None for what is none."""
    if not _is_table(data):
        return None
    columns, titles = _columns(data)
    return {title: columns[title] for title in titles}


def _columns(table: Any) -> tuple[Any, list[Any]]:
    """An object indexed by title, and the titles."""
    if isinstance(table, Mapping):
        return table, list(table)
    if type(table).__module__.startswith("pandas"):
        return table, list(table.columns)
    pyarrow = optional("pyarrow", "tables", f"a graph of a {type(table).__name__}")
    if not isinstance(table, pyarrow.Table):
        try:
            table = pyarrow.table(table) if hasattr(table, "__arrow_c_stream__") else table.to_arrow()
        except pyarrow.ArrowInvalid as error:
            raise TypeError(f"{type(table).__name__} is not a table of edges: give a column for each end") from error
    return table, table.column_names


def _chosen(titles: list[Any], source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Titles of the three columns, the last None where there is none."""
    for what, title in (("source", source), ("target", target), ("weight", weight)):
        if title is not None and title is not False and title not in titles:
            raise ValueError(f"{what}: the table has no column {title!r}; it has {', '.join(map(repr, titles))}")
    if (source is None) != (target is None):
        raise ValueError(f"give both source and target, of the columns {', '.join(map(repr, titles))}")
    known = titled_columns(map(str, titles))
    if source is None:
        if known is None and len(titles) < 2:
            raise ValueError(
                f"a table of edges needs a column for each end; it has {', '.join(map(repr, titles)) or 'none'}"
            )
        places = known or (0, 1, 2 if len(titles) == 3 else None)
        source, target = titles[places[0]], titles[places[1]]
        if weight is None and places[2] is not None:
            weight = titles[places[2]]
    elif weight is None:
        # A weight column is recognized by its title even if the ends are not.
        at = titled_columns(["source", "target", *(str(title) for title in titles)])
        weight = None if at is None or at[2] is None else titles[at[2] - 2]
        weight = None if weight in (source, target) else weight
    return source, target, None if weight is False else weight


def _weights(column: Any, title: str) -> Any:
    if hasattr(column, "to_numpy"):
        weights = column.to_numpy()
        missing = getattr(column, "null_count", 0)
    else:
        weights, missing = native(column), 0
    weights = weights if hasattr(weights, "dtype") else np.asarray(weights)
    if weights.dtype.kind == "O":
        missing = missing or sum(value is None for value in weights)
        if not missing:
            # Numbers of several kinds; what is left as objects is refused below.
            with contextlib.suppress(ValueError, TypeError):
                weights = np.array(weights.tolist())
    if weights.dtype.kind == "f":
        missing = missing or int(np.isnan(weights).sum()) if not is_cuda(weights) else missing
    if missing:
        raise ValueError(f"{title} holds no number in {missing} of its rows: drop them, or give them a weight")
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{title} holds {weights.dtype}, and a weight is a real number: weight=False leaves it out")
    return weights.astype(np.int64) if weights.dtype.kind == "b" else weights


def _of_rows(rows: Any, names: bool | None = None, indices: bool = False) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for a list of edge tuples, or an array of shape (m, 2) or (m, 3)."""
    if not isinstance(rows, list):
        columns: Sequence[Any] = [rows[:, place] for place in range(rows.shape[1])]
        if len(columns) == 3 and rows.dtype.kind == "f":
            # One array has one type: whole numbers among its floats are ids.
            columns = [_whole(columns[0], "source"), _whole(columns[1], "target"), columns[2]]
    else:
        lengths = {len(row) if isinstance(row, Sequence) and not isinstance(row, str) else 0 for row in rows}
        if lengths - {2} and lengths != {3}:
            raise ValueError("each row must be a tuple (source, target), or each (source, target, weight)")
        columns = list(zip(*rows, strict=True)) if rows else [np.empty(0, np.int64)] * 2
    source, target, called = numbered_ends(columns[0], columns[1], names=names, indices=indices)
    weight = _weights(columns[2], "weight") if len(columns) == 3 else None
    return {"source": source, "target": target, "weight": weight, "names": called}


def _whole(ends: Any, title: str) -> Any:
    numbers = ends.astype(np.int64)
    if not bool((numbers == ends).all()):
        raise TypeError(f"{title} must hold whole numbers")
    return numbers


# Graphs of other libraries are recognized by their modules; none is imported here.
def _igraph(graph: Any, weight: Any) -> dict[str, Any]:
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    held = graph.es.attributes()
    if weight and weight not in held:
        titles = ", ".join(map(repr, held)) or "none"
        raise ValueError(f"weight: edges have no attribute {weight!r}; they have {titles}")
    chosen = weight or ("weight" if "weight" in held else None)
    return {
        "source": ends[:, 0], "target": ends[:, 1], "weight": np.array(graph.es[chosen]) if chosen else None,
        "n_vertices": graph.vcount(), "directed": graph.is_directed(),
        "names": graph.vs["name"] if "name" in graph.vs.attributes() else None,
    }  # fmt: skip


def _networkit(graph: Any, weight: Any) -> dict[str, Any]:
    edges = np.array(list(graph.iterEdgesWeights()), dtype=np.float64).reshape(-1, 3)
    return {
        "source": edges[:, 0].astype(np.int64), "target": edges[:, 1].astype(np.int64),
        "weight": edges[:, 2] if graph.isWeighted() else None,
        # Removed vertices leave gaps in the numbering.
        "n_vertices": graph.upperNodeIdBound(), "directed": graph.isDirected(),
    }  # fmt: skip


def _graphblas(matrix: Any, weight: Any) -> dict[str, Any]:
    if matrix.nrows != matrix.ncols:
        raise ValueError(f"an adjacency matrix must be square, not {matrix.nrows} x {matrix.ncols}")
    rows, columns, values = matrix.to_coo()
    return {
        "source": rows.astype(np.int64), "target": columns.astype(np.int64),
        "weight": None if values.dtype == np.bool_ else values, "n_vertices": matrix.nrows, "directed": None,
    }  # fmt: skip


def _geometric(data: Any, weight: Any) -> dict[str, Any]:
    ends = array_of(data.edge_index)
    held = data[weight] if weight else getattr(data, "edge_weight", None)
    return {
        "source": ends[0], "target": ends[1], "weight": None if held is None else array_of(held).reshape(-1),
        "n_vertices": data.num_nodes, "directed": None,
    }  # fmt: skip


def array_of(tensor: Any) -> Any:
    """The array of a tensor of PyTorch."""
    # A tensor on the GPU is not moved to the host.
    return native(tensor.detach() if tensor.is_cuda else tensor.detach().numpy())


_READERS = {"igraph": _igraph, "networkit": _networkit, "graphblas": _graphblas, "torch_geometric": _geometric}
