"""The Laplacian of a graph: built here for sparse graphs; by `scipy.sparse.csgraph` for other inputs on the CPU."""

from typing import Any

import numpy as np
import scipy.sparse.csgraph

from hpgraph.containers.graph import Graph
from hpgraph.core.device import anywhere, array_module, is_sparse_matrix
from hpgraph.csgraph.graph_input import as_rows, lies_on_cuda
from hpgraph.formats import CSR, occurrences
from hpgraph.formats.interchange import check_places, scipy_of_csr
from hpgraph.scipy_api.matrix import Matrix


def laplacian(
    csgraph: Any,
    normed: bool = False,
    return_diag: bool = False,
    use_out_degree: bool = False,
    *,
    copy: bool = True,
    form: str = "array",
    dtype: Any = None,
    symmetrized: bool = False,
) -> Any:
    """The Laplacian matrix: degrees on the diagonal, negated weights elsewhere.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
    normed : bool
        Whether to divide rows and columns by the square roots of the degrees.
    return_diag : bool
        Whether to return the diagonal, or those square roots, too.
    use_out_degree : bool
        Whether degrees are out-degrees rather than in-degrees.
    copy : bool
        Whether to leave dense and COO arrays unchanged; otherwise the result overwrites them if it fits.
    form : {"array", "function", "lo"}
        A matrix; a function that multiplies by it; or a linear operator of SciPy or CuPy.
    dtype : dtype, optional
        Type of the result.
    symmetrized : bool
        Whether to add the transpose of the graph first.

    Returns
    -------
    lap : sparse or dense array, function or LinearOperator
        As in SciPy: COO for sparse graphs (DIA for DIA), dense for dense ones; on CUDA a CuPy CSR matrix.
    diag : array, shape (n,)
        If `return_diag`.

    Raises
    ------
    ValueError
        If `form` is unknown, or the graph is not square.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.laplacian(np.array([[0, 1, 2], [1, 0, 0], [2, 0, 0]]))
    array([[ 3, -1, -2],
           [-1,  1,  0],
           [-2,  0,  2]])
    """
    graph: Any = scipy_of_csr(as_rows(csgraph)) if isinstance(csgraph, Graph | Matrix) else csgraph
    graph = graph if hasattr(graph, "ndim") else np.asarray(graph)
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"csgraph must be a square matrix or array, not of shape {graph.shape}")
    if form not in ("array", "function", "lo"):
        raise ValueError(f'Invalid form: {form!r}; give "array", "function" or "lo"')
    if is_sparse_matrix(graph):
        check_places(graph)
    # SciPy handles results in place, DIA, and the types that it refuses.
    sparse = form == "array" and getattr(graph, "format", "dia") != "dia" and (copy or graph.format != "coo")
    if not lies_on_cuda(graph) and not (sparse and graph.dtype.kind in "ifc"):
        return scipy.sparse.csgraph.laplacian(
            graph, normed, return_diag, use_out_degree, copy=copy, form=form, dtype=dtype, symmetrized=symmetrized
        )
    if normed and graph.dtype.kind in "iu":
        graph = graph.astype(np.float64)
    dtype = graph.dtype if dtype is None else dtype
    if form == "array":
        if is_sparse_matrix(graph):
            made, diagonal = _sparse(graph, normed, int(use_out_degree), symmetrized)
        else:
            made, diagonal = _dense(graph.copy() if copy else graph, normed, int(use_out_degree), symmetrized)
        made = made.astype(dtype, copy=False)
    else:
        graph = graph if is_sparse_matrix(graph) or not copy else graph.copy()
        made, diagonal = _product(graph, normed, int(use_out_degree), symmetrized)
        if form == "lo":
            from cupyx.scipy.sparse.linalg import LinearOperator

            made = LinearOperator(graph.shape, matvec=made, matmat=made, dtype=dtype)
    return (made, diagonal.astype(dtype, copy=False)) if return_diag else made


def _scaling(degree: Any, normed: bool) -> tuple[Any, Any]:
    """The diagonal to return, square roots if `normed`, and the diagonal of the Laplacian."""
    if not normed:
        return degree, degree
    xp, isolated = array_module(degree), degree == 0
    with np.errstate(invalid="ignore"):
        return xp.where(isolated, 1, xp.sqrt(degree)), 1 - isolated.astype(degree.dtype)


def _dense(made: Any, normed: bool, axis: int, symmetrized: bool) -> tuple[Any, Any]:
    xp = array_module(made)
    if symmetrized:
        made += made.T.conj()
    xp.fill_diagonal(made, 0)
    scale, diagonal = _scaling(made.sum(axis=axis), normed)
    if normed:
        made /= scale
        made /= scale[:, None]
    made *= -1
    xp.fill_diagonal(made, diagonal)
    return made, scale


def _sparse(graph: Any, normed: bool, axis: int, symmetrized: bool) -> tuple[Any, Any]:
    if graph.format == "dok":
        # The only format without arrays.
        graph = graph.tocsr()
    if symmetrized:
        # The conjugate of real values would be a copy.
        graph = graph + (graph.T.conj() if graph.dtype.kind == "c" else graph.T)
    arcs = graph.tocoo(copy=False)
    xp, row, column, data = array_module(arcs.data), arcs.row, arcs.col, arcs.data
    is_loop = row == column
    has_loops = anywhere(is_loop)
    scale, diagonal = _scaling(_degrees(graph, axis, has_loops), normed)
    if has_loops:
        kept = xp.flatnonzero(~is_loop)
        row, column, data = row[kept], column[kept], data[kept]
    values = xp.empty(len(data) + len(diagonal), data.dtype)
    negated = xp.negative(data, out=values[: len(data)])
    if normed:
        negated /= scale[row]
        negated /= scale[column]
    values[len(data) :] = diagonal
    loops = xp.arange(len(diagonal), dtype=row.dtype)
    ends = xp.concatenate((row, loops)), xp.concatenate((column, loops))
    if xp is np:
        return type(arcs)((values, ends), shape=graph.shape), scale
    return scipy_of_csr(CSR.from_coo(*ends, values, graph.shape)), scale


def _degrees(graph: Any, axis: int, has_loops: bool = True) -> Any:
    """Sums of the rows or columns without the diagonal, which has no entries unless `has_loops`."""
    if array_module(graph.data if is_sparse_matrix(graph) else graph) is np or not is_sparse_matrix(graph):
        total = graph.sum(axis=axis)
        total = array_module(total).asarray(total).ravel()
        return total - graph.diagonal() if has_loops else total
    # NVRTC takes 8 s for the templates of CuPy's sums and diagonals.
    arcs = graph.tocoo(copy=False)
    apart = arcs.row != arcs.col
    ends, data = (arcs.row if axis else arcs.col)[apart], arcs.data[apart]
    parts = (data.real, data.imag) if data.dtype.kind == "c" else (data,)
    sums = [occurrences(ends, graph.shape[0], part) for part in parts]
    return (sums[0] if len(sums) == 1 else sums[0] + 1j * sums[1]).astype(data.dtype)


def _product(graph: Any, normed: bool, axis: int, symmetrized: bool) -> tuple[Any, Any]:
    """A function that multiplies columns by the Laplacian, and the diagonal to return."""
    loops, degree = graph.diagonal(), _degrees(graph, axis)
    if symmetrized:
        loops, degree = 2 * loops, degree + _degrees(graph, 1 - axis)
    scale, total = _scaling(degree, normed)[0], degree + loops

    def multiply(v: Any) -> Any:
        column = (slice(None), *(None,) * (v.ndim - 1))
        w = v / scale[column] if normed else v
        product = w * total[column] - graph @ w
        if symmetrized:
            product = product - (w.conj().T @ graph).conj().T
        return product / scale[column] if normed else product

    return multiply, scale
