"""Building matrices and vectors from tuples, with an operator for duplicates (GrB_build)."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module, device_of, everywhere, is_cuda, prefix_sum, unmasked
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_ids, as_shape, as_values
from hpgraph.formats.csr import least_shape
from hpgraph.formats.duplicates import run_starts
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import plan
from hpgraph.semiring import BinaryOp, Monoid, Semiring, get_binary, get_monoid, get_semiring

# Operators that `CSR.from_coo` implements.
_DUPLICATES: dict[str, Any] = {"plus": "sum", "min": "min", "first": "first", "any": "first"}


def csr_from_tuples(rows: Any, columns: Any, values: Any, shape: Any, dup_op: Any) -> CSR:
    """`Matrix.from_coo`."""
    rows, columns = _as_array(rows, "rows"), _as_array(columns, "columns")
    device = device_of(rows, columns, values if getattr(values, "ndim", 0) else None)
    if values is not None:
        xp = array_module(device)
        values = xp.asarray(unmasked(values, "values"))
        if not values.ndim:
            values = xp.broadcast_to(values, rows.shape)
    op = None if dup_op is None else _monoid_or_binary(dup_op)
    known: Any = "error" if op is None else _DUPLICATES.get(_builtin_name(op))
    if values is None and op is not None:
        known = "first"  # a pattern has nothing to combine
    if known is not None:
        return CSR.from_coo(rows, columns, values, shape, duplicates=known)
    assert op is not None
    n_rows, n_columns = least_shape(rows, columns) if shape is None else as_shape(shape)
    rows = as_ids(rows, "row", n_rows, "row").astype(np.int64, copy=False)
    columns = as_ids(columns, "col", n_columns, "column").astype(np.int64, copy=False)
    if len(rows) != len(columns):
        raise ValueError(f"row and col must have the same length, not {len(rows)} and {len(columns)}")
    values = as_values(values, "data", rows.shape)
    order = _sort(rows, columns, n_rows, n_columns)
    rows, columns, values = rows[order], columns[order], values[order]
    heads = array_module(rows).flatnonzero(run_starts(rows, columns))
    return CSR.from_coo(rows[heads], columns[heads], fold_runs(values, heads, op), (n_rows, n_columns))


def vector_from_tuples(kind: Any, indices: Any, values: Any, size: int, *, dup_op: Any = None, fill: Any = 0) -> Any:
    """`Vector.from_indices`."""
    indices = _as_array(indices, "indices")
    device = device_of(indices, values if getattr(values, "ndim", 0) else None)
    indices = as_ids(indices, "indices", size, "vertex").astype(index_dtype(size), copy=False)
    xp = array_module(device)
    values = xp.asarray(unmasked(values, "values"))
    if values.ndim and values.shape != indices.shape:
        raise ValueError(f"values must be a scalar or have shape {indices.shape}, as indices, not {values.shape}")
    values = as_values(xp.broadcast_to(values, indices.shape), "values", indices.shape)
    if everywhere(indices[1:] > indices[:-1]):
        return kind._of(indices.copy(), values.copy(), size, fill)
    order = indices.argsort(kind="stable")
    indices, values = indices[order], values[order]
    heads = xp.flatnonzero(run_starts(indices))
    if len(heads) < len(indices):
        if dup_op is None:
            raise ValueError(
                'indices holds an index more than once: give dup_op, such as "plus", to combine its values'
            )
        values = fold_runs(values, heads, _monoid_or_binary(dup_op))
        indices = indices[heads]
    return kind._of(indices, values, size, fill)


def fold_runs(values: Any, heads: Any, op: Monoid | BinaryOp) -> Any:
    """Each contiguous run of values reduced to one; runs start at `heads`, ascending from 0."""
    entries, runs = len(values), len(heads)
    xp = array_module(values)
    if runs == entries:
        return values
    ends = xp.append(heads[1:], xp.asarray([entries], dtype=heads.dtype))
    name = _builtin_name(op)
    if name in ("first", "any"):
        return values[heads]
    if name == "second":
        return values[ends - 1]
    pull = kernels(device_of(values)).pull
    if isinstance(op, Monoid):
        indptr = xp.append(heads, xp.asarray([entries], dtype=heads.dtype)).astype(np.int64, copy=False)
        ids = xp.arange(entries, dtype=index_dtype(entries))
        gather, reduce, dtype = plan(Semiring(op, get_binary("second")), None, values.dtype, values.dtype)
        out = xp.empty(runs, dtype=dtype)
        pull(CSR((runs, entries), indptr, ids, validate=False), gather, reduce, (values,), out)
        return out
    op.typed(values.dtype, values.dtype, values.dtype)
    gather, reduce, _ = plan(get_semiring("any_second"), None, values.dtype, values.dtype)
    out = values[heads]
    for step in range(1, int((ends - heads).max())):
        # Each run that still has values combines its next one: a matrix of at most one entry a row.
        more = heads + step < ends
        indptr = prefix_sum(more)
        ids = (heads[more] + step).astype(index_dtype(entries), copy=False)
        pull(CSR((runs, entries), indptr, ids, validate=False), gather, reduce, (values,), out, accum=op)
    return out


def _monoid_or_binary(op: Any) -> Monoid | BinaryOp:
    """The monoid of an operator, if it has one."""
    if isinstance(op, Monoid):
        return op
    found = get_binary(op)
    if _builtin_name(found):
        try:
            return get_monoid(found.name)
        except ValueError:
            pass
    return found


def _builtin_name(op: Monoid | BinaryOp) -> str:
    """Name of a built-in operator; empty for others."""
    binary = op.op if isinstance(op, Monoid) else op
    try:
        return binary.name if get_binary(binary.name) is binary else ""
    except ValueError:
        return ""


def _sort(rows: Any, columns: Any, n_rows: int, n_columns: int) -> Any:
    """A stable sort of positions by row, then by column."""
    if n_rows * n_columns < 1 << 63:
        return (rows * n_columns + columns).argsort(kind="stable")
    order = columns.argsort(kind="stable")
    return order[rows[order].argsort(kind="stable")]


def _as_array(values: Any, name: str) -> Any:
    values = unmasked(values, name)
    if is_cuda(values):
        return values
    if hasattr(values, "__cuda_array_interface__"):
        return array_module("cuda").asarray(values)
    return np.asarray(values)
