"""Graphs of PyTorch Geometric and of DGL, and of this library for these."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.errors import optional
from hpgraph.interop.hetero import HeteroGraph
from hpgraph.torch.pattern import array, plain_tensor, tensor, widened


def _array(given: Tensor) -> Any:
    """Numbers of edges or vertices; halves, which a graph cannot have, as float32."""
    return array(widened(given))


def from_data(data: Any, *, directed: bool = True) -> Graph | HeteroGraph:
    """The graph of a ``Data``, or the `HeteroGraph` of a ``HeteroData``, of PyTorch Geometric.

    Parameters
    ----------
    data : torch_geometric.data.Data or HeteroData
        With ``edge_index``, and ``edge_weight`` if edges are to have weights.
    directed : bool
        False for a Data that has each edge in both directions.

    Returns
    -------
    Graph or HeteroGraph
        Parallel edges of a Data are kept. Its other attributes of one number an edge, or a vertex, are columns.

    Examples
    --------
    >>> import torch, hpgraph.torch                                                            # doctest: +SKIP
    >>> from torch_geometric.data import Data                                                  # doctest: +SKIP
    >>> hpgraph.torch.from_data(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=4))  # doctest: +SKIP
    Graph: 4 vertices, 2 arcs, directed, no weights, cpu
    """
    if hasattr(data, "edge_types"):
        return HeteroGraph(data)
    index = getattr(data, "edge_index", None)
    if not isinstance(index, Tensor) or index.is_floating_point() or index.ndim != 2 or len(index) != 2:
        shape = getattr(index, "shape", type(index))
        raise TypeError(f"data.edge_index must be an integer tensor of shape (2, m), not {shape}")
    source, target = array(plain_tensor(index))
    columns: dict[bool, dict[str, Any]] = {True: {}, False: {}}
    for title, value in data.to_dict().items():
        if isinstance(value, Tensor) and value.ndim == 1 and title not in ("edge_weight", "batch", "ptr"):
            of_edges, of_vertices = data.is_edge_attr(title), data.is_node_attr(title)
            if of_edges or of_vertices:
                columns[of_edges][title] = _array(value)
    weight = getattr(data, "edge_weight", None)
    return Graph.from_edges(
        source, target, None if weight is None else _array(weight.reshape(-1)), int(data.num_nodes), directed,
        duplicates="keep" if directed else None, columns=columns[True] or None, vertex_columns=columns[False] or None,
    )  # fmt: skip


def _index_of(G: Any) -> tuple[Graph, Tensor]:
    graph = as_graph(G)
    arcs = graph.edges(both_ways=True)
    ends = (tensor(end.astype(np.int64)) for end in (arcs.source, arcs.target))
    return graph, torch.stack(tuple(ends))


def to_data(G: Any) -> Any:
    """The ``Data``, or of a `HeteroGraph` the ``HeteroData``, of PyTorch Geometric; tensors lie on the graph's device.

    Weights are ``edge_weight``, columns attributes; an edge of an undirected graph is there in both directions.
    """
    if isinstance(G, HeteroGraph):
        return G.to_pyg()
    data_class = optional("torch_geometric.data", "torch", "hpgraph.torch.to_data").Data
    graph, index = _index_of(G)
    data = data_class(edge_index=index, num_nodes=graph.n_vertices)
    if graph.weighted:
        data.edge_weight = tensor(graph.weights.copy())
    columns = [(title, graph.edge_column(title, both_ways=True)) for title in graph.edge_columns]
    columns += [(title, graph.vertex_column(title)) for title in graph.vertex_columns]
    for title, values in columns:
        # Text has no tensor.
        if hasattr(values, "dtype") and values.dtype.kind in "biuf":
            data[title] = tensor(values.copy())
    return data


def to_edge_index(G: Any) -> Any:
    """The ``EdgeIndex`` of PyTorch Geometric, sorted by source, with its number of vertices."""
    geometric = optional("torch_geometric", "torch", "hpgraph.torch.to_edge_index")
    graph, index = _index_of(G)
    n = graph.n_vertices
    return geometric.EdgeIndex(index, sparse_size=(n, n), sort_order="row", is_undirected=not graph.directed)


def from_dgl(g: Any, *, weight: str | None = None, directed: bool = True) -> Graph:
    """The graph of one of DGL, with parallel edges; `weight` is the title of its edges' weights in ``g.edata``."""
    if not hasattr(g, "num_nodes") or not callable(getattr(g, "edges", None)):
        raise TypeError(f"g must be a graph of DGL, not {type(g).__name__}")
    source, target = (array(end) for end in g.edges())
    weights = None if weight is None else _array(g.edata[weight].reshape(-1))
    return Graph.from_edges(
        source, target, weights, int(g.num_nodes()), directed, duplicates="keep" if directed else None
    )


def to_dgl(G: Any) -> Any:
    """The graph of DGL, of which weights are ``edata["weight"]``."""
    dgl = optional("dgl", "torch", "hpgraph.torch.to_dgl")
    graph, (source, target) = _index_of(G)
    dgl_graph = dgl.graph((source, target), num_nodes=graph.n_vertices)
    if graph.weighted:
        dgl_graph.edata["weight"] = tensor(graph.weights.copy())
    return dgl_graph
