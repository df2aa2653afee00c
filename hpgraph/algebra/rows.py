"""The entries of each row folded by a monoid: the product's kernels do it, which share rows out by entries."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.spmv.product_plan import plan, value_dtype
from hpgraph.semiring import Monoid, Semiring, get_binary


@functools.lru_cache(maxsize=256)
def _of_entries(monoid: Monoid) -> Semiring:
    """The semiring whose product with any vector folds the matrix's own entries."""
    return Semiring(monoid, get_binary("first"))


def fold(rows: CSR, monoid: Monoid, dtype: Any = None) -> Any:
    """Each row reduced by a monoid; empty rows hold the identity."""
    semiring = _of_entries(monoid)
    kind = value_dtype(rows.dtype)
    gather, reduce, found = plan(semiring, rows.dtype, kind, dtype)
    return fold_made(rows, gather, reduce, array_module(rows.device).empty(1, kind), found)


def fold_made(rows: CSR, gather: Any, monoid: Monoid, state: Any, dtype: Any) -> Any:
    """`fold` of a function of each entry."""
    result = array_module(rows.device).empty(rows.shape[0], dtype)
    kernels(rows.device).pull(rows, gather, monoid, (state,), result)
    return result


def fold_rows(rows: CSR, monoid: Monoid, dtype: Any = None) -> VectorStorage:
    """`fold` as a Vector, in which empty rows are absent."""
    return vector_of_values(fold(rows, monoid, dtype), occupied(rows))


@attached
def occupied(rows: CSR) -> Bitmask:
    """The rows that have entries."""
    return Bitmask.from_bool(rows.degrees > 0)


def one_row(rows: CSR) -> CSR:
    """All entries of a matrix as one row, in their order; columns repeat, which a fold does not mind."""
    ends = array_module(rows.device).asarray([0, rows.nnz], dtype=np.int64)
    return CSR((1, rows.shape[1]), ends, rows.indices, rows.data, validate=False)


def as_axis(axis: Any) -> int | None:
    """The axis as None, 0 or 1."""
    if axis is None:
        return None
    allowed = f"axis must be None, 0 (columns) or 1 (rows), not {axis!r}"
    names = axis if isinstance(axis, tuple) else (axis,)
    try:
        found = [{0: 0, 1: 1, -1: 1, -2: 0}[operator.index(name)] for name in names]
    except KeyError:
        raise ValueError(f"axis out of range: {allowed}") from None
    except TypeError:
        raise TypeError(f"axis must be an integer: {allowed}") from None
    if len(found) != len(set(found)) or not found:
        raise ValueError(f"duplicate value in axis, or none: {allowed}")
    return found[0] if len(found) == 1 else None
