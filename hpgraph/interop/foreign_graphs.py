"""Graphs of igraph, networkit, python-graphblas and PyTorch Geometric, as `Graph.from_edges` takes them.

None of these libraries is imported here: an object says where its class comes from.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import native


def library_of(data: Any) -> str | None:
    """Which of them an object is of: "igraph", "networkit", "graphblas", "torch_geometric", or None."""
    homes = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    return next((library for library in _READERS if library in homes), None)


def edges_of_foreign(data: Any, library: str, weight: Any = None) -> dict[str, Any]:
    """What `Graph.from_edges` is to be given."""
    given = _READERS[library](data, weight)
    return {**given, "weight": None} if weight is False else given


def _igraph(graph: Any, weight: Any) -> dict[str, Any]:
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    held = graph.es.attributes()
    if weight and weight not in held:
        there = ", ".join(map(repr, held)) or "none"
        raise ValueError(f"weight: edges have no attribute {weight!r}; they have {there}")
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
        # Vertices that were removed leave a number without a vertex.
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
    ends = _array(data.edge_index)
    held = data[weight] if weight else getattr(data, "edge_weight", None)
    return {
        "source": ends[0], "target": ends[1], "weight": None if held is None else _array(held).reshape(-1),
        "n_vertices": data.num_nodes, "directed": None,
    }  # fmt: skip


def _array(tensor: Any) -> Any:
    # One on the GPU stays there.
    return native(tensor.detach() if tensor.is_cuda else tensor.detach().numpy())


_READERS = {"igraph": _igraph, "networkit": _networkit, "graphblas": _graphblas, "torch_geometric": _geometric}
