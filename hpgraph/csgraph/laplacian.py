"""The Laplacian of a graph, as `scipy.sparse.csgraph` has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.csgraph.graph_input import as_graph_input, as_scipy, lies_on_cuda
from hpgraph.formats.interchange import scipy_of_csr


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
        The graph.
    normed : bool
        Whether to divide rows and columns by the square roots of the degrees.
    return_diag : bool
        Whether to return the diagonal, or those square roots, too.
    use_out_degree : bool
        Whether degrees count the arcs that leave, rather than those that reach.
    copy : bool
        Only for graphs on the CPU, see SciPy.
    form : {"array", "function", "lo"}
        A matrix; a function that multiplies by it; or, for graphs on the CPU, a linear operator.
    dtype : dtype, optional
        Type of the result.
    symmetrized : bool
        Whether to add the transpose of the graph first.

    Returns
    -------
    lap : sparse or dense array, function or LinearOperator
        On CUDA a CuPy CSR matrix for `form` "array".
    diag : array, shape (n,)
        Where `return_diag`.

    Raises
    ------
    ValueError
        If `form` is unknown.

    Notes
    -----
    On the CPU this is SciPy's own function.

    Examples
    --------
    >>> import numpy as np
    >>> from hpgraph import csgraph
    >>> csgraph.laplacian(np.array([[0, 1, 2], [1, 0, 0], [2, 0, 0]]))
    array([[ 3, -1, -2],
           [-1,  1,  0],
           [-2,  0,  2]])
    """
    if not lies_on_cuda(csgraph):
        import scipy.sparse.csgraph

        return scipy.sparse.csgraph.laplacian(
            as_scipy(csgraph, "laplacian"),
            normed,
            return_diag,
            use_out_degree,
            copy=copy,
            form=form,
            dtype=dtype,
            symmetrized=symmetrized,
        )
    if form not in ("array", "function"):
        raise ValueError(f'form must be "array" or "function" for a graph on the GPU, not {form!r}')
    matrix, diagonal = _on_cuda(csgraph, normed, use_out_degree, dtype, symmetrized)
    made = matrix if form == "array" else matrix.__matmul__
    return (made, diagonal) if return_diag else made


def _on_cuda(csgraph: Any, normed: bool, use_out_degree: bool, dtype: Any, symmetrized: bool) -> tuple[Any, Any]:
    import cupy
    import cupyx.scipy.sparse as sparse

    adjacency = scipy_of_csr(as_graph_input(csgraph).csr).astype(dtype or np.float64)
    if symmetrized:
        adjacency = adjacency + adjacency.T
    loops = adjacency.diagonal()
    degree = cupy.asarray(adjacency.sum(axis=1 if use_out_degree else 0)).ravel() - loops
    arcs = (adjacency - sparse.diags(loops)).tocoo()
    if not normed:
        return (sparse.diags(degree) - arcs).tocsr(), degree
    isolated = degree == 0
    root = cupy.where(isolated, 1, cupy.sqrt(degree))
    scaled = sparse.coo_matrix((arcs.data / (root[arcs.row] * root[arcs.col]), (arcs.row, arcs.col)), arcs.shape)
    return (sparse.diags((~isolated).astype(degree.dtype)) - scaled).tocsr(), root
