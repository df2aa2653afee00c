"""Adjacency matrices as operators, which need not be in memory: for solvers, label spreading and diffusion."""

import importlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph, as_simple
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.row_blocks import RowBlock, row_blocks
from hpgraph.core.device import array_module, everywhere, to_device
from hpgraph.core.number import value_type
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.formats import CSR


class ArcSums(NamedTuple):
    """The arcs of a graph as an operator."""

    matrix: Any  # row v: the in-arcs of v, with weights or as a pattern; of a graph in pages what multiplies as one
    received: Any  # total weight of the in-arcs of each vertex
    sent: Any  # and of its out-arcs
    transposed: Any  # row v: the out-arcs of v


def arc_sums(graph: Graph, *, weighted: bool, loops: bool, dtype: np.dtype[Any]) -> ArcSums:
    """The operator of a graph's arcs."""
    xp = array_module(graph.device)
    ones = xp.ones(graph.n_vertices, dtype)
    if graph.in_pages:
        matrix, transposed = (_InPages(graph, way, weighted, loops, dtype) for way in (True, False))
    else:
        matrix = _matrix(graph.in_csr, weighted, loops, dtype)
        transposed = _matrix(graph.out_csr, weighted, loops, dtype) if graph.directed else matrix
    received = matrix @ ones
    sent = transposed @ ones if graph.directed else received
    for total in (received, sent):
        if not everywhere(xp.isfinite(total)):
            raise ValueError(f"weights must be such that their sum at a vertex is finite, in {dtype}")
    return ArcSums(matrix, received, sent, transposed)


class _InPages:
    """The adjacency matrix of a graph in pages, whose arcs are read for each product."""

    def __init__(self, graph: Any, by_target: bool, weighted: bool, loops: bool, dtype: np.dtype[Any]) -> None:
        self._graph, self._by_target = graph, by_target
        self._kind = weighted and graph.weighted, loops, dtype

    def __matmul__(self, X: Any) -> Any:
        weighted, loops, dtype = self._kind
        product = array_module(self._graph.device).zeros(X.shape, dtype)
        with self._graph.exclusive():
            for block in row_blocks(self._graph, by_target=self._by_target, weighted=weighted):
                if not loops:
                    block = block.keep(block.sources != block.csr.indices)
                # A row that goes on in the next block gets its sum in parts.
                product[block.rows] += _matrix(block.csr, weighted, True, dtype) @ X
        return product


def _matrix(csr: CSR, weighted: bool, loops: bool, dtype: np.dtype[Any]) -> Any:
    """The matrix of a layout of the arcs, its weights checked."""
    if not weighted or csr.data is None:
        csr = csr.with_data(None)
    else:
        with np.errstate(over="ignore"):
            weights = csr.data.astype(dtype)
        if not everywhere((weights >= 0) & (weights < np.inf)):
            raise ValueError(f"weights must be finite in {dtype}, and not negative; or weight=None leaves them out")
        csr = csr.with_data(weights, copy=False)
    return matrix_of_csr(csr if loops else csr.without_diagonal())


def inverse(totals: Any) -> Any:
    """Elementwise inverse, 0 for zeros."""
    xp = array_module(totals)
    return xp.where(totals > 0, 1 / xp.where(totals > 0, totals, 1), 0).astype(totals.dtype, copy=False)


class _Product(VertexProgram):
    """One product: the sum over a vertex's arcs of weights times values of their ends."""

    edges = "out"
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    x = Property()
    y = Property()

    def gather(source, weight, target):
        return source.x * weight

    def update(vertex, message):
        return vertex.x, message


class _Transposed(_Product):
    edges = "in"


class AdjacencyOperator:
    """``A @ x`` for the adjacency matrix of a graph: a linear operator for SciPy's and CuPy's solvers.

    Products stream the arcs of a `StreamedGraph`, so that the matrix may be larger than memory; ``A[i, j]`` is the
    weight of the arc from i to j, 1 where there are no weights.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
    dtype : float32 or float64
        Type that products are computed in.

    Examples
    --------
    >>> import scipy.sparse.linalg
    >>> G = hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [2.0, 3.0, 4.0]))
    >>> A = hpg.AdjacencyOperator(G)
    >>> (A @ np.array([1.0, 10.0, 100.0])).tolist()
    [20.0, 300.0, 4.0]
    >>> scipy.sparse.linalg.aslinearoperator(A).rmatvec(np.array([1.0, 10.0, 100.0])).tolist()
    [400.0, 2.0, 30.0]
    """

    def __init__(self, G: Graph | Any, dtype: Any = np.float64) -> None:
        self._graph = as_simple(G, "sum")
        self.dtype = value_type(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise TypeError(f"dtype must be float32 or float64, not {self.dtype}")
        self.shape = (self._graph.n_vertices, self._graph.n_vertices)

    def matvec(self, x: Any) -> Any:
        """The product with a vector.

        Parameters
        ----------
        x : array of shape (n,) or (n, 1)

        Returns
        -------
        array of shape (n,)
            On the graph's device.
        """
        return self._times(_Product, x)

    def rmatvec(self, x: Any) -> Any:
        """The product of the transpose with a vector, as `matvec`."""
        return self._times(_Transposed, x)

    def matmat(self, X: Any) -> Any:
        """The product with a matrix, in one pass over the graph for all columns.

        Parameters
        ----------
        X : array of shape (n, k)

        Returns
        -------
        array of shape (n, k)
            On the graph's device.
        """
        return self._times_all(X, by_target=False)

    def rmatmat(self, X: Any) -> Any:
        """The product of the transpose with a matrix, as `matmat`."""
        return self._times_all(X, by_target=True)

    def to_linear_operator(self) -> Any:
        """The operator as a SciPy or CuPy `LinearOperator`, whose solvers multiply several columns at once.

        ``aslinearoperator`` uses `matvec` and `rmatvec` only, column by column.

        Returns
        -------
        scipy.sparse.linalg.LinearOperator or cupyx.scipy.sparse.linalg.LinearOperator

        Examples
        --------
        >>> A = hpg.AdjacencyOperator(hpg.Graph.from_edges([0, 1], [1, 2], [2.0, 3.0])).to_linear_operator()
        >>> (A @ np.eye(3)).tolist()
        [[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]
        """
        linalg = importlib.import_module(
            "scipy.sparse.linalg" if self._graph.device == "cpu" else "cupyx.scipy.sparse.linalg"
        )
        return linalg.LinearOperator(
            self.shape, self.matvec, rmatvec=self.rmatvec, matmat=self.matmat, rmatmat=self.rmatmat, dtype=self.dtype
        )

    def __matmul__(self, x: Any) -> Any:
        return self.matmat(x) if np.ndim(x) == 2 else self.matvec(x)

    def _times(self, program: type[_Product], x: Any) -> Any:
        x = to_device(x, self._graph.device)
        if x.size != self.shape[1] or x.ndim > 2:
            raise ValueError(f"x must have {self.shape[1]} elements, not shape {x.shape}")
        x = x.reshape(-1).astype(self.dtype, copy=False)
        return run(program, self._graph, x=x, y=self.dtype.type(0)).y

    def _times_all(self, X: Any, by_target: bool) -> Any:
        graph = self._graph
        X = array_module(graph.device).ascontiguousarray(to_device(X, graph.device).astype(self.dtype, copy=False))
        if X.ndim != 2 or len(X) != self.shape[1]:
            raise ValueError(f"X must have {self.shape[1]} rows, not shape {X.shape}")
        product = array_module(graph.device).zeros(X.shape, self.dtype)
        if graph.on_cluster:
            for column, x in zip(product.T, X.T, strict=True):
                column[:] = self._times(_Transposed if by_target else _Product, x)
            return product
        with graph.exclusive():
            for block in _blocks(graph, by_target):
                # A row that goes on in the next block gets its sum in parts.
                product[block.rows] += _in_type(block.csr, self.dtype) @ X
        return product

    def __repr__(self) -> str:
        return f"<AdjacencyOperator {self.shape[0]}x{self.shape[1]}, {self.dtype}, of {self._graph!r}>"


def _blocks(graph: Graph, by_target: bool) -> Iterator[RowBlock]:
    """The rows of the matrix, or of its transpose, as blocks; one block if they are in memory."""
    if graph.in_pages:
        return row_blocks(graph, by_target=by_target, weighted=True)
    return iter([RowBlock(0, graph.in_csr if by_target else graph.out_csr)])


def _in_type(csr: CSR, dtype: np.dtype) -> Any:
    """Rows as a matrix whose products have the given type."""
    return matrix_of_csr(csr if csr.data is None else csr.astype(dtype))
