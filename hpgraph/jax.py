"""Sparse operations on JAX arrays, differentiable to any order; arrays are passed by DLPack.

Under `jax.jit` they are callbacks on the CPU; on the GPU, call them outside of compiled functions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.containers.graph import as_graph
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.core.device import array_module
from hpgraph.core.devices import place_of
from hpgraph.core.errors import DeviceError, MissingExtraError
from hpgraph.formats import CSR, attached, index_dtype
from hpgraph.kernels.backend import kernels

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise MissingExtraError("JAX", "jax", "hpgraph.jax") from None

__all__ = ["edge_softmax", "sddmm", "spmm"]


def spmm(A: Any, X: Any, values: Any = None) -> Any:
    """The product of a sparse and a dense matrix.

    Parameters
    ----------
    A : Graph, Matrix, or what `hpgraph.as_graph` takes, shape (n, m)
        A graph has the arc from i to j at [i, j].
    X : jax.Array of shape (m,) or (m, k)
        float32 or float64, on A's device.
    values : jax.Array of shape (nnz,), optional
        Values of the entries of A, in the order of rows, of the type of X; by default those of A.

    Returns
    -------
    jax.Array of shape (n,) or (n, k)

    Raises
    ------
    TypeError, ValueError
        If types or shapes do not fit.
    hpgraph.DeviceError
        Inside `jax.jit`, for a matrix on the GPU.

    Examples
    --------
    >>> import jax, jax.numpy as jnp                                # doctest: +SKIP
    >>> import hpgraph as hpg, hpgraph.jax                          # doctest: +SKIP
    >>> G = hpg.from_edges([0, 0, 1], [1, 2, 2])                    # doctest: +SKIP
    >>> hpgraph.jax.spmm(G, jnp.array([1.0, 2.0, 4.0])).tolist()    # doctest: +SKIP
    [6.0, 4.0, 0.0]
    """
    pattern, own = _pattern(A)
    X = _checked(X, "X", pattern.csr.shape[1], (1, 2))
    given = own if values is None else values
    if given is not None:
        given = _checked(jnp.asarray(given, None if given is values else X.dtype), "values", pattern.csr.nnz, (1,))
        _same_type(given, X)
    columns = X.shape[1:]
    found = _product(pattern, False, given, X.reshape(len(X), math.prod(columns)))
    return found.reshape(pattern.csr.shape[0], *columns)


def sddmm(A: Any, X: Any, Y: Any) -> Any:
    """The product of X and the transpose of Y at the entries of a sparse matrix, whose values are ignored (SDDMM).

    `X` and `Y` have shape (n, k) and (m, k); the result, of shape (nnz,), is in the order of rows.
    """
    pattern, _ = _pattern(A)
    X, Y = (_checked(one, name, size, (2,)) for one, name, size in zip((X, Y), "XY", pattern.csr.shape, strict=True))
    _same_type(X, Y)
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must have as many columns, not {X.shape[1]} and {Y.shape[1]}")
    return _sampled(pattern, X, Y)


def edge_softmax(A: Any, scores: Any) -> Any:
    """The softmax of the scores of each row's entries, of shape (nnz,) or (nnz, heads), in the order of rows."""
    pattern, _ = _pattern(A)
    scores = _checked(scores, "scores", pattern.csr.nnz, (1, 2))
    heads = scores.shape[1] if scores.ndim == 2 else 1
    return _softmax(pattern, scores.reshape(pattern.csr.nnz, heads)).reshape(scores.shape)


class _Pattern:
    """The sparsity pattern of a matrix, with that of its transpose."""

    def __init__(self, csr: CSR) -> None:
        self.csr = csr

    @functools.cached_property
    def transposed(self) -> tuple[CSR, Any]:
        """The transpose, and the index in this matrix of each of its entries."""
        numbers = array_module(self.csr.device).arange(self.csr.nnz, dtype=np.int64)
        both = kernels(self.csr.device).transpose(self.csr.with_data(numbers, copy=False))
        return both.pattern, both.data

    @functools.cached_property
    def entries(self) -> CSR:
        """The matrix of rows by entries: each entry has its own column."""
        shape = self.csr.shape[0], self.csr.nnz
        indices = array_module(self.csr.device).arange(self.csr.nnz, dtype=index_dtype(max(shape)))
        return CSR(shape, self.csr.indptr, indices, validate=False)

    @functools.cached_property
    def row(self) -> Any:
        """The row of each entry."""
        return _in_jax(self.csr.expand_rows().astype(np.int32))


@attached
def _pattern_of(csr: CSR) -> _Pattern:
    return _Pattern(csr)


def _pattern(A: Any) -> tuple[_Pattern, Any]:
    csr = A.csr_there if isinstance(A, MatrixStorage) else as_graph(A).simple("sum").out_csr
    own = None if csr.data is None else _in_jax(csr.data.copy())
    return _pattern_of(csr.pattern), own


def _checked(given: Any, name: str, rows: int, dimensions: tuple[int, ...]) -> Any:
    found = jnp.asarray(given)
    if found.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name} must be float32 or float64, not {found.dtype}")
    if found.ndim not in dimensions or found.shape[0] != rows:
        allowed = f"{' or '.join(map(str, dimensions))} dimension{'s'[: dimensions != (1,)]}"
        raise ValueError(f"{name} must have {rows} rows and {allowed}, not shape {found.shape}")
    return found


def _same_type(one: Any, other: Any) -> None:
    if one.dtype != other.dtype:
        raise TypeError(f"operands must have one type, not {one.dtype} and {other.dtype}")


def _in_jax(array: Any) -> Any:
    return jnp.asarray(array) if isinstance(array, np.ndarray) else jnp.from_dlpack(array)


def _run(csr: CSR, kernel: Callable[..., None], shape: tuple[int, ...], *operands: Any) -> Any:
    """Run a kernel that writes an array of the given shape, with JAX arrays or None as arguments."""
    xp, dtype = array_module(csr.device), operands[-1].dtype

    def call(*arrays: Any) -> Any:
        out = xp.empty(shape, dtype)
        if out.size:
            kernel(*arrays, out)
        return out

    given = [one for one in operands if one is not None]

    def with_none(arrays: tuple[Any, ...]) -> list[Any]:
        waiting = iter(arrays)
        return [None if one is None else next(waiting) for one in operands]

    if any(isinstance(one, jax.core.Tracer) for one in given):
        if csr.device == "cuda":
            raise DeviceError(
                "hpgraph.jax runs on the GPU outside of jax.jit alone: call it between compiled functions"
            )

        def host(*arrays: Any) -> Any:
            return call(*with_none(tuple(np.ascontiguousarray(one) for one in arrays)))

        return jax.pure_callback(host, jax.ShapeDtypeStruct(shape, dtype), *given, vmap_method="sequential")
    place = place_of(csr.indptr)
    # JAX changes the current GPU when it first finds several.
    with place.here:
        # JAX sometimes passes NumPy arrays: these are copied to the device of the JAX arrays.
        arrays = [np.asarray(one) if xp is np else xp.from_dlpack(jnp.asarray(one)) for one in given]
        for array in arrays:
            if place_of(array) != place:
                raise DeviceError(f"the operands must lie on {place}, as A does, not on {place_of(array)}")
        found = call(*with_none(tuple(map(xp.ascontiguousarray, arrays))))
        if xp is not np:
            # JAX reuses the memory of a released operand in its next operation, which does not wait for ours.
            xp.cuda.get_current_stream().synchronize()
        return _in_jax(found)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _product(pattern: _Pattern, transposed: bool, values: Any, x: Any) -> Any:
    csr, order = pattern.transposed if transposed else (pattern.csr, None)

    def kernel(values: Any, x: Any, out: Any) -> None:
        kernels(csr.device).multiply_dense(csr, values, x, out, None, None if values is None else order)

    return _run(csr, kernel, (csr.shape[0], x.shape[1]), values, x)


def _product_back(pattern: _Pattern, transposed: bool, kept: tuple[Any, Any], gradient: Any) -> tuple[Any, Any]:
    values, x = kept
    left, right = (x, gradient) if transposed else (gradient, x)
    to_values = None if values is None else _sampled(pattern, left, right)
    return to_values, _product(pattern, not transposed, values, gradient)


_product.defvjp(
    lambda pattern, transposed, values, x: (_product(pattern, transposed, values, x), (values, x)), _product_back
)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sampled(pattern: _Pattern, x: Any, y: Any) -> Any:
    csr = pattern.csr

    def kernel(x: Any, y: Any, out: Any) -> None:
        kernels(csr.device).sample_dense(csr, x[:, None], y[:, None], out)

    return _run(csr, kernel, (csr.nnz, 1), x, y)[:, 0]


def _sampled_back(pattern: _Pattern, kept: tuple[Any, Any], gradient: Any) -> tuple[Any, Any]:
    x, y = kept
    return _product(pattern, False, gradient, y), _product(pattern, True, gradient, x)


_sampled.defvjp(lambda pattern, x, y: (_sampled(pattern, x, y), (x, y)), _sampled_back)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _softmax(pattern: _Pattern, scores: Any) -> Any:
    csr = pattern.csr
    return _run(csr, lambda scores, out: kernels(csr.device).row_softmax(csr, scores, out), scores.shape, scores)


def _softmax_back(pattern: _Pattern, found: Any, gradient: Any) -> tuple[Any]:
    return (found * (gradient - _row_sums(pattern, found * gradient)[pattern.row]),)


_softmax.defvjp(lambda pattern, scores: (_softmax(pattern, scores),) * 2, _softmax_back)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _row_sums(pattern: _Pattern, given: Any) -> Any:
    csr = pattern.entries

    def kernel(given: Any, out: Any) -> None:
        kernels(csr.device).multiply_dense(csr, None, given, out)

    return _run(csr, kernel, (csr.shape[0], given.shape[1]), given)


_row_sums.defvjp(
    lambda pattern, given: (_row_sums(pattern, given), None), lambda pattern, _, gradient: (gradient[pattern.row],)
)
