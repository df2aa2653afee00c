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

    On the CPU this is SciPy's own function.

    ``csgraph`` (sparse or dense array, Graph or Matrix, shape (n, n)): the graph. Returns ``diag`` (array, shape (n,)):
    where `return_diag`.
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
