"""Sums over the arcs that reach each vertex, of columns of numbers: what spreads labels, or heat."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.row_blocks import row_blocks
from hpgraph.core.device import array_module
from hpgraph.formats import CSR


class ArcSums(NamedTuple):
    """The arcs of a graph as an operator."""

    matrix: Any  # row v: the in-arcs of v, with weights or as a pattern; of a graph in pages what multiplies as one
    received: Any  # total weight of the in-arcs of each vertex
    sent: Any  # and of its out-arcs


def arc_sums(graph: Graph, *, weighted: bool, loops: bool, dtype: np.dtype[Any]) -> ArcSums:
    """The operator of a graph's arcs."""
    xp = array_module(graph.device)
    ones = xp.ones(graph.n_vertices, dtype)
    if graph.in_pages:
        matrix, turned = (_InPages(graph, way, weighted, loops, dtype) for way in (True, False))
    else:
        matrix = _matrix(graph.in_csr, weighted, loops, dtype)
        turned = _matrix(graph.out_csr, weighted, loops, dtype) if graph.directed else matrix
    received = matrix @ ones
    sent = turned @ ones if graph.directed else received
    for total in (received, sent):
        if not bool(xp.isfinite(total).all()):
            raise ValueError(f"weights must be such that their sum at a vertex is finite, in {dtype}")
    return ArcSums(matrix, received, sent)


class _InPages:
    """The same matrix of a graph whose arcs are read for each product."""

    def __init__(self, graph: Any, by_target: bool, weighted: bool, loops: bool, dtype: np.dtype[Any]) -> None:
        self._graph, self._by_target = graph, by_target
        self._kind = weighted and graph.weighted, loops, dtype

    def __matmul__(self, X: Any) -> Any:
        weighted, loops, dtype = self._kind
        made = array_module(self._graph.device).zeros(X.shape, dtype)
        with self._graph.exclusive():
            for block in row_blocks(self._graph, by_target=self._by_target, weighted=weighted):
                if not loops:
                    block = block.keep(block.sources != block.csr.indices)
                # A row that goes on in the next block gets its sum in parts.
                made[block.rows] += _matrix(block.csr, weighted, True, dtype) @ X
        return made


def _matrix(csr: CSR, weighted: bool, loops: bool, dtype: np.dtype[Any]) -> Any:
    """The matrix of a layout of the arcs, its weights checked."""
    if not weighted or csr.data is None:
        csr = csr.with_data(None)
    else:
        with np.errstate(over="ignore"):
            weights = csr.data.astype(dtype)
        if not bool(((weights >= 0) & (weights < np.inf)).all()):
            raise ValueError(f"weights must be finite in {dtype}, and not negative; or weight=None leaves them out")
        csr = csr.with_data(weights, copy=False)
    return matrix_of_csr(csr if loops else csr.without_diagonal())


def inverse(totals: Any) -> Any:
    """One over each number, 0 where that is 0."""
    xp = array_module(totals)
    return xp.where(totals > 0, 1 / xp.where(totals > 0, totals, 1), 0).astype(totals.dtype, copy=False)
