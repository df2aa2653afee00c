"""Input graphs of the `scipy.sparse.csgraph` functions, and sparse results of the input's type.

Functions of this package import CPU kernels when they run them, since the kernels import Numba.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.matrix_source import is_older_matrix, of_family
from hpgraph.core.device import array_module, is_cuda, is_sparse_matrix
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import INT32_MAX, as_ids, as_offsets, as_value_dtype, as_values
from hpgraph.formats.duplicates import Duplicates
from hpgraph.formats.interchange import Sharing, check_places, scipy_of_csr
from hpgraph.kernels.backend import kernels
from hpgraph.scipy_api.matrix import Matrix

# SciPy's value for a vertex without a predecessor.
NO_PREDECESSOR = -9999
_IDS, _WEIGHT = (np.dtype(np.int32), np.dtype(np.int64)), np.dtype(np.float64)


@dataclass
class GraphInput:
    """A graph given by the user.

    Attributes
    ----------
    csr : CSR
        Its arcs, with float64 weights, free of duplicates.
    as_matrix : bool
        Whether sparse results are matrices rather than arrays of SciPy or CuPy, as the input was.
    as_stored : bool
        Whether rows may be unsorted and hold duplicates and columns beyond the shape, as those of the input may.
    """

    csr: CSR
    as_matrix: bool
    as_stored: bool = False

    @property
    def device(self) -> str:
        """The graph's device."""
        return self.csr.device

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return array_module(self.device)

    def checked(self) -> "GraphInput":
        """The graph with rows sorted and free of duplicates."""
        if not self.as_stored:
            return self
        csr = self.csr
        rows = CSR.from_rows(csr.shape, csr.indptr, csr.indices, csr.data, duplicates="min", copy=False)
        return GraphInput(rows, self.as_matrix)

    def within_shape(self) -> "GraphInput":
        """The graph as stored, all rows and columns within the shape: sorting rows takes ten times as long."""
        if self.as_stored:
            _check_offsets(self.csr)
            as_ids(self.csr.indices, "indices", self.csr.shape[1], "column")
        return self

    @cached_property
    def least(self) -> float:
        """The least weight; NaN if any weight is NaN."""
        return float(self.csr.data.min()) if self.csr.nnz else np.inf

    def graph(self, directed: bool, *, weighted: bool = True) -> Graph:
        """The input as a `hpgraph.Graph`; an undirected one has `checked` rows."""
        arcs = self.csr if weighted else self.csr.with_data(None)
        # Not by the class's constructor, which would sort the rows.
        return Graph._from_csr(arcs, True, None) if directed else Graph(both_ways(arcs), directed=False)

    def sparse(self, csr: CSR, sharing: Sharing = "shared") -> Any:
        """A sparse result as a CSR array, or matrix, of the library that the input came from."""
        return sparse_of(csr, self.as_matrix, sharing)


def sparse_of(csr: CSR, as_matrix: bool, sharing: Sharing = "shared") -> Any:
    """A CSR as a sparse array of SciPy or CuPy, or as a matrix; shares memory if nothing else refers to it."""
    return of_family(scipy_of_csr(csr, sharing=sharing), as_matrix)


def as_graph_input(csgraph: Any) -> GraphInput:
    """A graph from any input that SciPy's functions accept, or from one on the GPU."""
    if isinstance(csgraph, Graph | Matrix) or is_sparse_matrix(csgraph):
        as_matrix = is_older_matrix(csgraph)
        csr = as_rows(csgraph)
        require_square(csr, "csgraph")
        as_value_dtype(csr.data.dtype, "csgraph", real=True)
        return GraphInput(csr.astype(np.float64), as_matrix)
    as_matrix = isinstance(csgraph, np.matrix) or getattr(csgraph, "_baseclass", None) is np.matrix
    masked = isinstance(csgraph, np.ma.MaskedArray)
    array = csgraph if is_cuda(csgraph) else np.asarray(csgraph)
    null = np.ma.getmaskarray(csgraph) if masked else nulls(array)
    return GraphInput(rows_of_dense(array, ~null), as_matrix)


def as_stored(csgraph: Any, directed: bool = True, *, reads_rows: bool = False) -> GraphInput:
    """A graph whose rows may be unsorted and hold duplicates; the kernel checks SciPy's columns as it reads them.

    An undirected one may be its transpose. ``reads_rows``: if directed, the kernel also checks the offsets of each row
    that it reads, since a search may read few rows; other readers then use `checked` or `within_shape`.
    """
    of_scipy, stored = type(csgraph).__module__.startswith("scipy."), csgraph
    by_column = is_csc(csgraph) and (of_scipy or not directed)
    if by_column:
        try:
            stored = csgraph.T
        except ValueError:
            # SciPy checks the last offset alone, in words of its own.
            check_places(csgraph)
            raise
    elif of_scipy and getattr(csgraph, "format", "csr") not in ("csr", "bsr", "coo"):
        check_places(csgraph)
        stored = csgraph.tocsr()
    if is_plain(stored):
        arrays = stored.indptr, stored.indices, stored.data
    elif not is_scipys_csr(stored, wide=True):
        return as_graph_input(csgraph)
    else:
        require_square(stored, "csgraph")
        arrays = _made_plain(stored)
    rows = CSR(stored.shape, *arrays, validate=False)
    if by_column or not (directed and reads_rows):
        _check_offsets(rows)
    if by_column and directed:
        from hpgraph.kernels.structure.cpu_both_ways import turned

        rows = turned(rows, False)
    return GraphInput(rows, is_older_matrix(csgraph), as_stored=True)


def is_csc(graph: Any) -> bool:
    """Whether columns are stored: where they serve as well as rows, the transpose needs no conversion."""
    return getattr(graph, "format", None) == "csc"


def is_plain(csgraph: Any, wide: bool = False) -> bool:
    """Whether kernels read a graph as it is: a square SciPy CSR of the usual arrays, or of 64-bit ids if `wide`."""
    if not is_scipys_csr(csgraph, wide=True):
        return False
    (n, width), indptr, indices, data = csgraph.shape, csgraph.indptr, csgraph.indices, csgraph.data
    return bool(
        n == width <= INT32_MAX
        and indptr.dtype in _IDS and indices.dtype in _IDS[: 1 + wide] and data.dtype == _WEIGHT
        and indptr.shape == (n + 1,) and indices.shape == data.shape == (indptr[-1],)
        and indptr.flags.c_contiguous and indices.flags.c_contiguous and data.flags.c_contiguous
    )  # fmt: skip


def _made_plain(csgraph: Any) -> tuple[Any, Any, Any]:
    as_value_dtype(csgraph.data.dtype, "csgraph", real=True)
    # SciPy allows arrays longer than the last offset says.
    indptr, total, n = np.ascontiguousarray(csgraph.indptr), csgraph.nnz, csgraph.shape[0]
    indices, data = csgraph.indices[:total], csgraph.data[:total].astype(np.float64, copy=False)
    if indptr.shape != (n + 1,) or indptr.dtype not in _IDS:
        indptr = as_offsets(indptr, "indptr", n, len(indices))
    data, indices = as_values(data, "data", indices.shape), np.ascontiguousarray(indices)
    if index_dtype(n) == np.int64:
        # Kernels detect negative ids of 32 bits.
        indices = as_ids(indices, "indices", n, "column")
    elif indices.dtype == np.int64:
        from hpgraph.kernels.structure.cpu_stored import narrowed

        narrow = narrowed(indices)
        # A value that does not fit is not a column.
        indices = narrow if len(narrow) == len(indices) else as_ids(indices, "indices", n, "column")
    return indptr, indices, data


def _check_offsets(rows: CSR) -> None:
    if rows.device == "cpu":
        from hpgraph.kernels.structure.cpu_stored import rises

        if not rises(rows.indptr, rows.nnz):
            as_offsets(rows.indptr, "indptr", rows.shape[0], rows.nnz)


def is_scipys_csr(graph: Any, wide: bool = False) -> bool:
    """Whether a matrix is a SciPy CSR usable as is: ids of the kernels' type, or with `wide` of 64 bits."""
    if isinstance(graph, Matrix) or getattr(graph, "format", None) != "csr" or is_cuda(graph.indices):
        return False
    kind = graph.indices.dtype
    return kind in _IDS if wide else kind == index_dtype(max(graph.shape))


def as_rows(graph: Any, *, pattern: bool = False) -> CSR:
    """A sparse matrix in CSR, with the minimum of duplicates, or a COO's sum; without values if `pattern`."""
    if isinstance(graph, Graph):
        csr = graph.simple().out_csr
    elif isinstance(graph, Matrix):
        csr = graph.csr
    else:
        if getattr(graph, "format", None) == "bsr":
            # Zeros that fill its blocks are not edges (SciPy 1.18).
            check_places(graph)
            graph = graph.tocsr(copy=True)
            graph.eliminate_zeros()
        # SciPy's own conversion of a COO sums duplicates.
        kept: Duplicates = "sum" if graph.format == "coo" else "min"
        csr = CSR.from_scipy(graph, pattern=pattern, copy=False, duplicates=kept)
    if pattern:
        return csr.with_data(None)
    return csr.with_data(array_module(csr.device).ones(csr.nnz, dtype=bool), copy=False) if csr.data is None else csr


def both_ways(arcs: CSR) -> CSR:
    """Every arc in both directions, with the lighter of two weights."""
    backend = kernels(arcs.device)
    return arcs if backend.is_both_ways(arcs) else backend.with_reverses(arcs, lightest=True)


def rows_of_dense(array: Any, present: Any) -> CSR:
    """Selected elements of a square array in CSR, as float64."""
    require_square(array)
    if array.dtype.kind not in "biuf":
        as_value_dtype(array.dtype, "a dense graph", real=True)
    xp = array_module(array)
    indptr = xp.concatenate((xp.zeros(1, np.int64), xp.cumsum(xp.count_nonzero(present, axis=1))))
    # By positions: boolean indexing is much slower, and so is a remainder.
    n, place = array.shape[0], xp.flatnonzero(present)
    indices = (place - place // max(n, 1) * n).astype(index_dtype(n))
    return CSR(array.shape, indptr, indices, array.ravel()[place].astype(np.float64, copy=False), validate=False)


def nulls(array: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True) -> Any:
    """Mask of the elements that are no arcs; floats within 1e-8 of the null value are null, as in `numpy.ma`."""
    require_square(array)
    xp = array_module(array)
    floats = array.dtype.kind in "fc"
    if null_value is None:
        null = xp.zeros(array.shape, dtype=bool)
    else:
        null = xp.isclose(array, null_value, equal_nan=True) if floats else array == null_value
    if floats and infinity_null:
        null |= xp.isinf(array)
    if floats and nan_null:
        null |= xp.isnan(array)
    return null


def require_square(array: Any, argument: str = "a dense graph") -> None:
    """Refuse arrays and matrices that are not square."""
    if len(array.shape) != 2:
        raise ValueError(f"{argument} must have two dimensions, not shape {array.shape}")
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{argument} must be square, one row and one column for each vertex, not {array.shape}")


def require_sparse(graph: Any, argument: str, formats: tuple[str, ...] | None) -> None:
    """Refuse dense arrays, and formats that are not listed, as SciPy's functions of sparse matrices do."""
    if isinstance(graph, Graph):
        return
    if not is_sparse_matrix(graph):
        raise TypeError(f"{argument} must be sparse, not {type(graph).__name__}: wrap it in scipy.sparse.csr_array")
    if formats is not None and graph.format not in formats:
        raise TypeError(
            f"{argument} must be in {', '.join(formats).upper()} format, not {graph.format}: use its .tocsr()"
        )


def lies_on_cuda(csgraph: Any) -> bool:
    """Whether a graph is on the GPU."""
    if isinstance(csgraph, Graph | Matrix):
        return csgraph.device == "cuda"
    return is_cuda(csgraph) or type(csgraph).__module__.startswith("cupyx.")
