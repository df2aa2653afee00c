"""Adjacency matrices of all that a `Graph` can be made of: one CSR, rows sorted, no arc twice.

All checks of a user's arcs are here; `Graph` and the algorithms rely on them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hpgraph.core.caller import warn_caller
from hpgraph.core.device import (
    anywhere,
    array_module,
    check_memory,
    device_of,
    is_cuda,
    is_sparse_matrix,
    native,
    unmasked,
)
from hpgraph.core.errors import SparseIdsWarning
from hpgraph.core.number import whole
from hpgraph.formats import COO, CSR, ELL, RowFormat, index_dtype
from hpgraph.formats.checks import as_value_dtype
from hpgraph.formats.duplicates import Duplicates, check_sums
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function

MAX_ID = int(np.iinfo(np.int64).max) - 1
# Ids are probably not indices if they imply more than `_FEW` vertices and more than `_SPARSE` vertices an edge end.
_FEW, _SPARSE = 10_000, 50


def of(
    source: Any, *, both_ways: bool, copy: bool = True, duplicates: Duplicates | None = "min", sparse: bool = False
) -> CSR:
    """The adjacency matrix of a sparse matrix, a container or a tuple of arrays: sorted, no arc twice."""
    if isinstance(source, tuple) and len(source) in (2, 3):
        weight = source[2] if len(source) == 3 else None
        return from_arcs(
            source[0], source[1], weight, None, both_ways=both_ways, copy=copy, duplicates=duplicates, sparse=sparse
        )
    if isinstance(source, RowFormat | COO | ELL):
        csr = from_container(source, duplicates)
    elif isinstance(getattr(source, "csr", None), CSR):
        csr = from_container(source.csr)  # Matrix
    elif is_sparse_matrix(source):
        csr = from_sparse(source, copy=copy, duplicates=duplicates)
    else:
        raise TypeError(_no_graph(source))
    return add_reverses(csr, duplicates) if both_ways and not is_symmetric(csr, duplicates == "keep") else csr


def is_known(source: Any) -> bool:
    """Whether `of` accepts an object, or raises the most specific error for it."""
    return (
        isinstance(source, tuple | RowFormat | COO | ELL)
        or is_sparse_matrix(source)
        or isinstance(getattr(source, "csr", None), CSR)
        or _could_be_dense(source)
    )


def _could_be_dense(source: Any) -> bool:
    """Whether something may be a dense adjacency matrix: any array of two dimensions, or a square list of lists."""
    if isinstance(source, list):
        return bool(source) and isinstance(source[0], list) and len(source[0]) == len(source)
    return (isinstance(source, np.ndarray) or is_cuda(source)) and source.ndim == 2


def from_sparse(matrix: Any, *, copy: bool = True, duplicates: Duplicates | None = "min") -> CSR:
    """The adjacency matrix of a sparse array: stored zeros are arcs; values of bool are left out."""
    require_square(matrix.shape, "the adjacency matrix")
    pattern = matrix.dtype == np.bool_
    if not pattern:
        as_value_dtype(matrix.dtype, "the adjacency matrix", real=True)
    if matrix.format == "coo":
        # SciPy's own conversion would sum duplicates.
        data = None if pattern else matrix.data
        return merged(matrix.row, matrix.col, data, matrix.shape, duplicates, copy)
    csr = CSR.from_scipy(matrix, pattern=pattern, copy=copy, duplicates=duplicates)
    if duplicates == "sum" and not pattern and csr.nnz < matrix.nnz:
        check_sums(matrix.data, csr.data, lambda: CSR.from_scipy(matrix.astype(np.float64), duplicates="sum").data)
    return csr


def from_container(container: RowFormat | COO | ELL, duplicates: Duplicates | None = "min") -> CSR:
    """The adjacency matrix of one of hpgraph's containers; a canonical CSR is taken as it is."""
    require_square(container.shape, "the adjacency matrix")
    if container.dtype is not None:
        as_value_dtype(container.dtype, "the adjacency matrix", real=True)
    if isinstance(container, COO):
        row, col, data = container.row, container.col, container.data
        return merged(row, col, data, container.shape, duplicates, False)
    return container.to_csr().canonical(duplicates)


def from_arcs(
    source: Any, target: Any, weight: Any, n_vertices: int | None, *, both_ways: bool, copy: bool = True,
    duplicates: Duplicates | None = "min", sparse: bool = False,
) -> CSR:  # fmt: skip
    """The adjacency matrix of arcs, built where their arrays lie; `copy`: whether those in order are copied."""
    source, target = _as_array(source, "source"), _as_array(target, "target")
    if weight is None and duplicates == "sum":
        weight = array_module(source).ones(source.shape, np.int64)
    weight = None if weight is None else _as_array(weight, "weight")
    device = device_of(source, target, weight)
    for name, ids in (("source", source), ("target", target)):
        _check_ids(name, ids)
    if len(source) != len(target):
        raise ValueError(
            f"source and target must have one id for each arc, not {len(source)} and {len(target)}: pair them up first"
        )
    if weight is not None:
        if weight.shape != source.shape:
            raise ValueError(f"weight must have one value for each arc, shape {source.shape}, not shape {weight.shape}")
        as_value_dtype(weight.dtype, "weight", real=True)
    # Reading the extreme ids of CUDA arrays waits for the stream.
    ends = (("source", source), ("target", target))
    extremes = [(name, int(ids.min()), int(ids.max())) for name, ids in ends if ids.size]
    n = 1 + max((highest for _, _, highest in extremes), default=-1)
    if n_vertices is not None:
        n = whole(n_vertices, "n_vertices", "a whole number or None", least=0, most=MAX_ID)
    for name, lowest, highest in extremes:
        _check_range(name, lowest, highest, n, n_vertices is not None)
    ids = index_dtype(n)
    check_memory(
        16 * (n + 1),
        f"a graph of {n} vertices (where few ids occur, number them with numpy.unique(ids, return_inverse=True))",
        device,
    )
    if n_vertices is None and not sparse and n > max(_FEW, _SPARSE * 2 * len(source)):
        warn_caller(
            f"ids are indices here, so that at most {2 * len(source)} of {n:,} vertices have an edge: "
            "hpgraph.from_edges(..., names=True) makes vertices of the ids that occur; names=False, or "
            f"n_vertices={n}, says that indices are meant",
            SparseIdsWarning,
        )
    source, target = source.astype(ids, copy=False), target.astype(ids, copy=False)
    if both_ways:
        source, target, weight = with_reverses(source, target, weight)
    return merged(source, target, weight, (n, n), duplicates, copy)


def merged(source: Any, target: Any, weight: Any, shape: Any, duplicates: Duplicates | None, copy: bool) -> CSR:
    """`CSR.from_coo`, which refuses sums that the type of the weights does not hold."""
    csr = CSR.from_coo(source, target, weight, shape, duplicates=duplicates, copy=copy)
    if duplicates == "sum" and weight is not None and csr.nnz < len(weight):
        check_sums(
            weight, csr.data, lambda: CSR.from_coo(source, target, weight.astype(np.float64), shape, copy=False).data
        )
    return csr


def add_reverses(csr: CSR, duplicates: Duplicates | None = "min") -> CSR:
    """The arcs and their reverses; `duplicates` chooses between two weights."""
    arcs = with_reverses(csr.expand_rows(), csr.indices, csr.data)
    return merged(*arcs, csr.shape, duplicates, False)


def is_symmetric(csr: CSR, multigraph: bool) -> bool:
    """Whether each arc has its reverse of the same weight, and in a multigraph as many of them."""
    return csr.is_symmetric() if multigraph else kernels(csr.device).is_symmetric(csr)


def places_in(csr: CSR, others: CSR) -> Any:
    """Index of each arc in `others`, int64; -1 if it is not there."""
    ends = (ids.astype(np.int64, copy=False) for ids in (csr.expand_rows(), csr.indices))
    return kernels(csr.device).positions_of(others, *ends)


def merge_parallel(csr: CSR, weight: str) -> CSR:
    """Each arc of a multigraph once: with the "min", "max" or "sum" of its weights, or their "count"."""
    data = csr.data
    if weight == "count" or (data is None and weight == "sum"):
        weight, data = "sum", array_module(csr.device).ones(csr.nnz, np.int64)
    duplicates: Any = weight
    return merged(csr.expand_rows(), csr.indices, data, csr.shape, duplicates, False)


def union(a: CSR, b: CSR, weight: Any, *, one_alone: bool = True) -> CSR:
    """The arcs of both, or with `one_alone` those of either; those of both are left out if `weight` is None."""
    a, b = of_one_type(a, b)
    of = np.dtype(bool) if a.dtype is None else a.dtype
    ops = None if weight is None else "first" if a.dtype is None else weight, "first", "second"
    both, left, right = (None if op is None else entry_function(get_binary(op), of, of, of) for op in ops)
    return kernels(a.device).merge(a, b, both, left if one_alone else None, right if one_alone else None, a.dtype)


def of_one_type(a: CSR, b: CSR) -> tuple[CSR, CSR]:
    """Both matrices with weights of a common type, 1 where one has none; unchanged if neither has weights."""
    if (a.data is None) == (b.data is None) and a.dtype == b.dtype:
        return a, b
    dtype = np.result_type(*(csr.dtype for csr in (a, b) if csr.dtype is not None))
    return a.astype(dtype), b.astype(dtype)


def appended(a: CSR, b: CSR) -> CSR:
    """The arcs of both as those of a multigraph: of parallel ones those of `a` come first."""
    xp, (a, b) = array_module(a.device), of_one_type(a, b)
    rows, columns = (xp.concatenate(ends) for ends in ((a.expand_rows(), b.expand_rows()), (a.indices, b.indices)))
    data = None if a.data is None else xp.concatenate((a.data, b.data))
    return CSR.from_coo(rows, columns, data, a.shape, duplicates="keep", copy=False)


def widened(csr: CSR, n: int) -> CSR:
    """The same arcs in a matrix of n vertices."""
    more = n - csr.shape[0]
    if not more:
        return csr
    xp = array_module(csr.device)
    indptr = xp.concatenate((csr.indptr, xp.full(more, csr.nnz, np.int64)))
    return CSR((n, n), indptr, csr.indices.astype(index_dtype(n), copy=False), csr.data, validate=False)


def with_reverses(source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Arcs, each followed by its reverse, so that "first" keeps the same weight both ways; a loop comes once."""
    xp = array_module(source)
    both = [xp.stack(ends, axis=1).ravel() for ends in ((source, target), (target, source))]
    weight = None if weight is None else xp.repeat(weight, 2)
    loops = source == target
    if not anywhere(loops):
        return both[0], both[1], weight
    kept = xp.ones(2 * len(loops), np.bool_)
    kept[1::2] = ~loops
    return both[0][kept], both[1][kept], None if weight is None else weight[kept]


def require_square(shape: Sequence[int], what: str) -> None:
    """Refuse a matrix that cannot be an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " x ".join(map(str, shape))
        raise ValueError(
            f"{what} must be square, one row and one column for each vertex, not {size}; a bipartite matrix B "
            "becomes square as scipy.sparse.block_array([[None, B], [B.T, None]])"
        )


def _as_array(values: Any, name: str) -> Any:
    values = native(unmasked(values, name))
    return values if is_cuda(values) else np.asarray(values)


def _check_ids(name: str, ids: Any) -> None:
    if ids.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one id for each arc, not of shape {ids.shape}")
    # An empty list becomes float64.
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(
            f"{name} must hold whole numbers below 2**63, not {ids.dtype}: convert with .astype(numpy.int64), or "
            "number names with numpy.unique(..., return_inverse=True)"
        )


def _check_range(name: str, lowest: int, highest: int, n: int, given: bool) -> None:
    if lowest < 0:
        raise IndexError(f"{name} holds {lowest}; vertices are numbered from 0")
    if highest > MAX_ID:
        raise ValueError(
            f"{name} holds {highest}, and ids must fit 64 bits with a sign: number the vertices with "
            "numpy.unique(ids, return_inverse=True)"
        )
    if given and highest >= n:
        raise IndexError(f"{name} holds {highest}: with n_vertices={n} ids are below {n}; raise it to {highest + 1}")


def _no_graph(source: Any) -> str:
    remedy = getattr(type(source), "_graphs_of_it", None) or (
        "give a sparse array of SciPy or CuPy, a NetworkX graph, or arrays (source, target[, weight])"
    )
    if _could_be_dense(source):
        remedy = (
            "wrap a dense adjacency matrix, which is square, in scipy.sparse.csr_array, and give an array with a row "
            "for each edge to hpgraph.from_edges"
        )
    elif isinstance(source, str) or hasattr(source, "__fspath__"):
        remedy = "read a file with hpgraph.read(path)"
    return f"no graph can be made of {type(source).__name__}: {remedy}"
