"""Matrices from tuples: SciPy's forms (shape), (values, (rows, columns)) and (values, indices, indptr)."""

import functools
import importlib
import operator
import sys
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, device_of, is_cuda, is_masked, native, unmasked
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_shape, as_value_dtype

# For `asformat`: SciPy's names of sparse formats, and dense arrays.
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil", "array", "dense", None)


def csr_from_tuple(source: tuple[Any, ...], shape: Any, dtype: np.dtype[Any] | None, copy: bool = True) -> CSR:
    """The matrix that a tuple describes: rows sorted, values at the same place summed; `copy`: never share."""
    counts = _counts(source)
    if counts is not None:
        rows, columns = as_shape(counts)
        check_memory(8 * (rows + 1), f"a matrix of {rows} rows", "cpu")
        data = np.zeros(0, dtype=np.float64 if dtype is None else dtype)
        ids = index_dtype(max(rows, columns))
        return CSR((rows, columns), np.zeros(rows + 1, np.int64), np.zeros(0, ids), data, validate=False)
    if len(source) == 2:
        values, places = source
        try:
            row, column = places
        except (TypeError, ValueError):
            raise TypeError(
                "a tuple of two must be (values, (rows, columns)), or the shape of a matrix without entries: give rows "
                "of numbers as a list"
            ) from None
        row, column = _as_array(row, "rows"), _as_array(column, "columns")
        return CSR.from_coo(row, column, _as_values(values, dtype, row), shape, copy=copy)
    if len(source) == 3:
        values, indices, indptr = source
        indices, indptr = _as_array(indices, "indices"), _as_array(indptr, "indptr")
        data = _as_values(values, dtype, indices)
        if indptr.size and len(data) == len(indices) > int(indptr[-1]) >= 0:
            # SciPy allows arrays longer than the last offset.
            indices, data = indices[: int(indptr[-1])], data[: int(indptr[-1])]
        if shape is None:
            shape = len(indptr) - 1, int(indices.max()) + 1 if indices.size else 0
        return CSR.from_rows(shape, indptr, indices, data, copy=copy)
    raise TypeError(
        "a tuple must be (rows, columns), (values, (rows, columns)) or (values, indices, indptr), "
        f"not {len(source)} items"
    )


def csr_of_dense(source: Any) -> CSR:
    """The nonzero, unmasked elements of a two-dimensional array."""
    source = native(source)
    if not (is_cuda(source) or isinstance(source, np.ndarray | list | tuple)):
        raise TypeError(
            f"no matrix can be made of {type(source).__name__}: give a sparse array of SciPy or CuPy, a Graph or a "
            "two-dimensional array"
        )
    xp = array_module("cuda" if is_cuda(source) else "cpu")
    array = source if is_masked(source) else xp.asarray(source)
    if array.ndim != 2:
        raise ValueError(f"a matrix needs two dimensions, not shape {array.shape}")
    as_value_dtype(array.dtype, "the matrix")
    row, col = array.nonzero()
    values = array[row, col]
    if is_masked(source):
        # A masked element is no entry, as in ``scipy.sparse.csgraph``.
        values = values.data
    return CSR.from_coo(row, col, values, array.shape, copy=False)


def is_sparse_tensor(source: Any) -> bool:
    """Whether it is a matrix in one of PyTorch's sparse layouts."""
    return str(getattr(source, "layout", "")).startswith("torch.sparse") and source.ndim == 2


def csr_of_tensor(source: Any) -> CSR:
    """The entries of a sparse tensor of PyTorch, without its derivatives."""
    rows = source.detach().to_sparse_csr()
    return csr_from_tuple((rows.values(), rows.col_indices(), rows.crow_indices()), tuple(rows.shape), None)


def is_older_matrix(source: Any) -> bool:
    """Whether a sparse matrix is a `spmatrix` of SciPy or CuPy, whose ``*`` is ``@``, rather than a sparse array."""
    # mypy takes object's own __hash__ for that of its type.
    return _is_older(type(source))  # type: ignore[arg-type]


@functools.cache
def _is_older(kind: type) -> bool:
    name = "cupyx.scipy.sparse" if kind.__module__.startswith("cupyx.") else "scipy.sparse"
    library = sys.modules.get(name)
    older, arrays = (getattr(library, name, ()) for name in ("spmatrix", "sparray"))
    return issubclass(kind, older) and not issubclass(kind, arrays)


def of_family(made: Any, as_matrix: bool) -> Any:
    """A CSR array or matrix of SciPy or CuPy as one of the older matrices, or as an array if the library has them."""
    library = importlib.import_module("cupyx.scipy.sparse" if is_cuda(made) else "scipy.sparse")
    csr_class = getattr(library, "csr_matrix" if as_matrix else "csr_array", None)
    return made if csr_class is None or isinstance(made, csr_class) else csr_class(made)


def _counts(source: tuple[Any, ...]) -> tuple[int, int] | None:
    """A pair of whole numbers, which is a shape."""
    try:
        rows, columns = (operator.index(length) for length in source)
    except (TypeError, ValueError):
        return None
    return rows, columns


def _as_array(ids: Any, name: str) -> Any:
    ids = native(unmasked(ids, name))
    return ids if is_cuda(ids) else np.asarray(ids)


def _as_values(values: Any, dtype: np.dtype[Any] | None, beside: Any) -> Any:
    values = native(unmasked(values, "values"))
    xp = array_module(device_of(values if hasattr(values, "dtype") else None, beside))
    return xp.asarray(values, dtype=dtype)
