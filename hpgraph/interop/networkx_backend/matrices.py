"""Graphs as matrices and tables, and matrices and tables as graphs."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse

from hpgraph.interop.networkx_backend.components import is_connected_in
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.returned import graph_of_edges
from hpgraph.interop.networkx_backend.serving import family, plain_classes


def _checked(G: ConvertedGraph, nodelist: Any) -> Any:
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is None:
        return None
    nodelist = list(nodelist)
    if not nodelist:
        raise nx.NetworkXError("nodelist has no nodes")
    for node in nodelist:
        if node not in G:
            raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
    if len(set(nodelist)) < len(nodelist):
        raise nx.NetworkXError("nodelist contains duplicates.")
    # NetworkX's own functions name all nodes.
    return None if nodelist == G.nodes else nodelist


def adjacency(G: ConvertedGraph, nodelist: Any, weight: str | None, dtype: Any = None, form: str = "csr") -> Any:
    """As `networkx.to_scipy_sparse_array`."""
    wanted, values = _checked(G, nodelist), G.column(weight)
    values = np.ones(len(G.indices), np.int64) if values is None else values
    matrix = scipy.sparse.csr_array((values, G.indices, G.indptr), shape=(len(G), len(G)))
    if wanted is not None:
        order = G.numbers(wanted)
        matrix = matrix[order][:, order]
    # Without edges NetworkX has no values to infer a type from.
    matrix = matrix.astype(dtype or (matrix.dtype if matrix.nnz else np.float64), copy=True)
    matrix.sum_duplicates()
    try:
        return matrix.asformat(form)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {form}") from error


def _dense(G: ConvertedGraph, nodelist: Any, dtype: Any, order: Any, weight: str | None, nonedge: float) -> np.ndarray:
    nodelist = list(G) if nodelist is None else list(nodelist)
    if missing := set(nodelist) - set(G):
        raise nx.NetworkXError(f"Nodes {missing} in nodelist is not in G")
    if len(set(nodelist)) < len(nodelist):
        raise nx.NetworkXError("nodelist contains duplicates.")
    if dtype is not None and np.dtype(dtype).names:
        raise NotImplementedError("dtype has fields")
    if np.dtype(dtype).hasobject:
        raise NotImplementedError("objects are NetworkX's own weights, of which numbers are kept")
    table = np.full((len(nodelist), len(nodelist)), nonedge, dtype, order)
    place = np.full(len(G), -1)
    place[G.numbers(nodelist)] = np.arange(len(nodelist))
    source, target, values = place[G.rows], place[G.indices], G.column(weight)
    inside = (source >= 0) & (target >= 0)
    table[source[inside], target[inside]] = 1 if values is None else values[inside]
    return table


def _degrees(matrix: Any) -> Any:
    return scipy.sparse.dia_array((matrix.sum(axis=1)[None, :], [0]), shape=matrix.shape).tocsr()


def _bethe_hessian(G: ConvertedGraph, r: float | None, nodelist: Any) -> Any:
    if r is None:
        degree = G.degree()
        r = int((degree**2).sum()) / int(degree.sum()) - 1
    matrix = adjacency(G, nodelist, "weight")
    return (r**2 - 1) * scipy.sparse.eye_array(*matrix.shape, format="csr") - r * matrix + _degrees(matrix)


def _incidence(G: ConvertedGraph, nodelist: Any, oriented: bool, weight: str | None, dtype: Any = None) -> Any:
    place = np.full(len(G), -1)
    nodelist = list(G) if nodelist is None else list(nodelist)
    place[G.numbers(nodelist)] = np.arange(len(nodelist))
    source, target, values = G.rows[G.edges], G.indices[G.edges], G.column(weight)
    number, joins = np.arange(len(G.edges)), source != target
    for u, v in zip(source[joins], target[joins], strict=True) if (place < 0).any() else ():
        if place[u] < 0 or place[v] < 0:
            raise nx.NetworkXError(f"node {G.nodes[u]} or {G.nodes[v]} in edgelist but not in nodelist")
    entries = np.ones(len(number)) if values is None else values[G.edges]
    entries, source, target, number = entries[joins], place[source[joins]], place[target[joins]], number[joins]
    cells = np.concatenate([-entries if oriented else entries, entries])
    ends = np.concatenate([source, target]), np.concatenate([number, number])
    shape = len(nodelist), len(G.edges)
    return scipy.sparse.csc_array((cells, ends), shape=shape, dtype=dtype or np.float64)


def pseudoinverse(G: ConvertedGraph, weight: str | None, invert_weight: bool = False) -> np.ndarray:
    """Of the Laplacian of a connected graph: the inverse without the constant vector."""
    matrix = adjacency(G, None, weight).astype(np.float64)
    if invert_weight and weight is not None:
        if not matrix.data.all():
            raise ZeroDivisionError("division by zero")
        matrix.data = 1 / matrix.data
    n = len(G)
    return np.linalg.inv((_degrees(matrix) - matrix).toarray() + 1 / n) - 1 / n


def _resistance(G: ConvertedGraph, nodeA: Any, nodeB: Any, weight: str | None, invert_weight: bool) -> Any:
    if len(G) == 0:
        raise nx.NetworkXError("Graph G must contain at least one node.")
    if not is_connected_in(G):
        raise nx.NetworkXError("Graph G must be strongly connected.")
    for node, title in ((nodeA, "A"), (nodeB, "B")):
        if node is not None and node not in G:
            raise nx.NetworkXError(f"Node {title} is not in graph G.")
    inverse = pseudoinverse(G, weight, invert_weight)
    diagonal = inverse.diagonal()
    table = diagonal[:, None] + diagonal - 2 * inverse
    if nodeA is not None and nodeB is not None:
        return table[G.index[nodeA], G.index[nodeB]].item()
    if nodeA is None and nodeB is None:
        return {node: G.by_node(row) for node, row in zip(G, table, strict=True)}
    return G.by_node(table[G.index[nodeB if nodeA is None else nodeA]])


def _effective_resistance(G: ConvertedGraph, weight: str | None, invert_weight: bool) -> float:
    if len(G) == 0:
        raise nx.NetworkXError("Graph G must contain at least one node.")
    if not is_connected_in(G):
        return float("inf")
    return len(G) * float(np.trace(pseudoinverse(G, weight, invert_weight)))


def _of_matrix(A: Any, create_using: Any, edge_attribute: str) -> Any:
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    coo = A.tocoo()
    values = coo.data.tolist()
    data = [{edge_attribute: value} for value in values]
    return graph_of_edges(range(A.shape[0]), coo.row, coo.col, create_using is nx.DiGraph, data)


def _of_table(A: Any, create_using: Any, edge_attr: Any, nodelist: Any = None) -> Any:
    if A.ndim != 2:
        raise nx.NetworkXError(f"Input array must be 2D, not {A.ndim}")
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    if A.dtype.kind not in "fiub":
        raise NotImplementedError(f"{A.dtype} is not taken")
    if nodelist is not None and len(nodelist) != A.shape[0]:
        raise ValueError("nodelist must have the same length as A.shape[0]")
    source, target = A.nonzero()
    data = None if edge_attr in (False, None) else [{edge_attr: value} for value in A[source, target].tolist()]
    nodes = range(A.shape[0]) if nodelist is None else list(nodelist)
    if len(set(nodes)) < len(nodes):
        raise NotImplementedError("nodes are listed twice")
    return graph_of_edges(nodes, source, target, create_using is nx.DiGraph, data)


def _of_frame(df: Any, create_using: Any) -> Any:
    try:
        df = df[df.index]
    except Exception as error:
        missing = list(set(df.index).difference(set(df.columns)))
        raise nx.NetworkXError("Columns must match Indices.", f"{missing} not in columns") from error
    return _of_table(df.values, create_using, "weight", df.columns)


def _of_edge_frame(df: Any, source: Any, target: Any, edge_attr: Any, create_using: Any) -> Any:
    ends = list(df[source]), list(df[target])
    names = [name for name in df.columns if name not in (source, target)] if edge_attr is True else edge_attr
    names = [] if names is None else list(names) if isinstance(names, list | tuple) else [names]
    if edge_attr is not None and not names:
        raise nx.NetworkXError(f"Invalid edge_attr argument: No columns found with name: {names}")
    try:
        columns = [list(df[name]) for name in names]
    except (KeyError, TypeError) as error:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}") from error
    index = {node: number for number, node in enumerate(dict.fromkeys(chain.from_iterable(zip(*ends, strict=True))))}
    data = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)] if names else None
    tails, heads = (np.fromiter(map(index.__getitem__, column), np.int64, len(column)) for column in ends)
    return graph_of_edges(list(index), tails, heads, create_using is nx.DiGraph, data)


def _edge_frame(G: ConvertedGraph, source: Any, target: Any, dtype: Any) -> Any:
    import pandas

    data = [] if G.arc_data is None else [G.arc_data[arc] for arc in G.edges.tolist()]
    names = set().union(*(cells.keys() for cells in data))
    for title, name in (("Source", source), ("Target", target)):
        if name in names:
            raise nx.NetworkXError(f"{title} name {name!r} is an edge attr name")
    columns = {source: G.named(G.rows[G.edges]), target: G.named(G.indices[G.edges])}
    columns |= {name: [cells.get(name, float("nan")) for cells in data] for name in names}
    return pandas.DataFrame(columns, dtype=dtype)


def _simple_matrix(call: Mapping[str, Any]) -> str | None:
    given = call.get("A")
    if given is None or (scipy.sparse.issparse(given) and given.format in ("csr", "csc", "coo")):
        return plain_classes(call)
    return "only CSR, CSC and COO are taken"


globals().update(
    family(
        {
            "to_scipy_sparse_array": lambda G, nodelist, dtype, weight, format: adjacency(
                G, nodelist, weight, dtype, format
            ),
            "to_numpy_array": _dense,
            "to_pandas_edgelist": _edge_frame,
            "bethe_hessian_matrix": _bethe_hessian,
            "incidence_matrix": _incidence,
            "resistance_distance": _resistance,
            "effective_graph_resistance": _effective_resistance,
        },
        # For parallel edges, which are refused.
        unread=("multigraph_weight",),
    )
    | family("""
        adjacency_matrix to_pandas_adjacency laplacian_matrix normalized_laplacian_matrix modularity_matrix
        directed_modularity_matrix google_matrix
    """)
    | family({"from_scipy_sparse_array": _of_matrix}, unless=_simple_matrix, unread=("parallel_edges",))
    | family(
        {"from_numpy_array": _of_table, "from_pandas_adjacency": _of_frame, "from_pandas_edgelist": _of_edge_frame},
        unless=plain_classes,
        unread=("parallel_edges", "edge_key"),
    )
)
