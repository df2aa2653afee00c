"""Products of sparse and dense matrices, with autograd."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

import hpgraph.torch.operators as operators
from hpgraph.containers.public import make_matrix
from hpgraph.core.number import one_of
from hpgraph.torch.adjacency import Adjacency
from hpgraph.torch.pattern import Pattern, stream_of, tensor, widened


def spmm(A: Any, X: Tensor, reduce: str = "sum") -> Tensor:
    """The product of a sparse and a dense matrix; or the mean, maximum or minimum of each row's products.

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
        If its values have shape (nnz, heads), X has heads.
    X : tensor of shape (m, k), (m,) or (m, heads, k)
        float16, bfloat16, float32 or float64, on A's device, of the type of A's values; halves are summed in float32.
        Under `torch.autocast` types may differ: the product is computed in autocast's type, as products of PyTorch.
        A GPU keeps a copy of values that require no gradient in the order of the transpose, for derivatives: change
        them by PyTorch, which counts changes, or give others.
    reduce : {"sum", "mean", "max", "min"}
        A row without entries gets 0. The gradient of an extreme goes to the first entry that attains it. Extremes
        ignore NaN, as GraphBLAS does: of NaNs alone the maximum is -inf.

    Returns
    -------
    tensor of shape (n, k), (n,) or (n, heads, k)
        Of the type of X; on a GPU computed on PyTorch's current stream.

    Raises
    ------
    TypeError, ValueError
        If types, devices or shapes do not fit.

    Notes
    -----
    The sum's derivatives of any order exist: that by X is a product with the transpose, that by A's values an SDDMM.
    Sums have a fixed order and repeat bit for bit, but for the gradients of extremes on the GPU.

    Examples
    --------
    >>> import torch
    >>> import hpgraph as hpg, hpgraph.torch
    >>> G = hpg.from_edges([0, 0, 1], [1, 2, 2])
    >>> hpgraph.torch.spmm(G, torch.tensor([1.0, 2.0, 4.0]), reduce="mean").tolist()
    [3.0, 4.0, 0.0]
    """
    A = Adjacency.of(A)
    one_of(reduce, "reduce", ("sum", "mean", "max", "min"))
    values, X = checked_operand(A, X, "X", 1)
    dtype = X.dtype
    if reduce != "sum":
        # A sum that is to be divided may be too large for a half.
        values, X = widened(values), widened(X)
    heads = None if values is None or values.ndim == 1 else values.shape[1]
    if heads is not None and (X.ndim != 3 or X.shape[1] != heads):
        raise ValueError(
            f"X must have shape ({A.shape[1]}, {heads}, k) for values of {heads} heads, not {tuple(X.shape)}"
        )

    def extreme(values: Tensor | None, X: Tensor) -> Tensor:
        return operators.extremes(A.pattern.number, reduce == "max", values, X)[0]

    if reduce in ("sum", "mean"):
        result = operators.spmm(A.pattern.number, False, values, _flat(X))
    elif values is not None and heads:
        result = operators.per_head(extreme, values, X)
    else:
        result = extreme(values if heads is None else None, _flat(X))
    result = result if X.ndim == 2 else result.reshape(A.shape[0], *X.shape[1:])
    if reduce == "mean":
        result = operators.means(A.pattern.number, result)
    return result.to(dtype)


def sddmm(A: Any, X: Tensor, Y: Tensor, op: str = "dot") -> Tensor:
    """The product of two dense matrices, X and the transpose of Y, at the entries of a sparse one (SDDMM).

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
        Its values play no part.
    X, Y : tensor of shape (n, k) and (m, k), or (n, heads, k) and (m, heads, k)
        Of one type, on A's device; under `torch.autocast` types may differ, as in `spmm`. To add, without the last
        dimension.
    op : {"dot", "add"}
        Whether to multiply rows, or to add numbers, as the scores of graph attention are.

    Returns
    -------
    tensor of shape (nnz,) or (nnz, heads)
        ``X[i] @ Y[j]``, or ``X[i] + Y[j]``, for each entry of A, in its order: values for `Adjacency.with_values`.

    Examples
    --------
    >>> import torch
    >>> import hpgraph as hpg, hpgraph.torch
    >>> G = hpg.from_edges([0, 1], [1, 0])
    >>> hpgraph.torch.sddmm(G, torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0]])).tolist()
    [5.0, 6.0]
    """
    A = Adjacency.of(A).with_values(None)
    one_of(op, "op", ("dot", "add"))
    _, X = checked_operand(A, X, "X", 0)
    _, Y = checked_operand(A, Y, "Y", 1)
    X, Y = autocast(X, Y)
    if X.dtype != Y.dtype or X.shape[1:] != Y.shape[1:] or X.ndim not in ((2, 3) if op == "dot" else (1, 2)):
        raise ValueError(
            f"X and Y must have as many columns, and heads, of one type; not {tuple(X.shape)}, {X.dtype} and "
            f"{tuple(Y.shape)}, {Y.dtype}"
        )
    if op == "add":
        result = operators.sums(A.pattern.number, *map(_flat, (X, Y)))
        return result.reshape(A.nnz, *X.shape[1:])
    left, right = (part if part.ndim == 3 else part[:, None] for part in (X, Y))
    result = operators.sddmm(A.pattern.number, left.contiguous(), right.contiguous())
    return result if X.ndim == 3 else result[:, 0]


@torch.compiler.disable
def spspmm(A: Any, B: Any) -> Adjacency:
    """The product of two sparse matrices, whose values may require gradients.

    Parameters
    ----------
    A, B : Adjacency, or what `Adjacency.of` takes, shape (n, l) and (l, m)
        With one value an entry, or none, which count as ones; no place twice.

    Returns
    -------
    Adjacency, shape (n, m)

    Notes
    -----
    The gradient to A is the product of the result's gradient with the transpose of B, at the entries of A alone:
    nothing is ever dense. Derivatives of any order exist. `torch.compile` leaves the product to Python, since what it
    returns has a size that the values of its operands decide.

    Examples
    --------
    >>> import torch
    >>> import hpgraph.torch
    >>> A = hpgraph.torch.Adjacency.of(torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]))
    >>> hpgraph.torch.spspmm(A, A).values.tolist()
    [6.0, 6.0]
    """
    A, B = Adjacency.of(A), Adjacency.of(B)
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A of shape {A.shape} cannot be multiplied by B of shape {B.shape}")
    for name, one in (("A", A), ("B", B)):
        if one.values is not None and one.values.ndim > 1:
            raise ValueError(f"{name} must have one value an entry: multiply its heads one by one")
        if not one.pattern.csr.is_canonical():
            raise ValueError(f"{name} must have sorted rows and no place twice: coalesce() it")
    kind = next((one.values.dtype for one in (A, B) if one.values is not None), torch.float32)
    a, b = autocast(*(torch.ones(one.nnz, dtype=kind, device=one.pattern.device) if one.values is None else one.values
                      for one in (A, B)))  # fmt: skip
    if a.dtype != b.dtype or a.device != b.device:
        raise TypeError(
            f"values of A and B must have one type, on one device, not {a.dtype}, {a.device} and {b.dtype}, {b.device}"
        )
    values, pattern = _SparseProduct.apply(widened(a), widened(b), A.pattern, B.pattern)
    return Adjacency(pattern, values.to(a.dtype))


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, left: Pattern, right: Pattern) -> Any:
        ctx.save_for_backward(a, b)
        ctx.pattern = left, right
        with stream_of(a):
            product = (make_matrix(left.matrix(False, a)) @ make_matrix(right.matrix(False, b))).csr
            ctx.found = Pattern(product)
            return tensor(product.data.copy()), ctx.found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Any) -> Any:
        a, b = ctx.saved_tensors
        left, right, result = (one.number for one in (*ctx.pattern, ctx.found))
        at, gradient = operators.at_entries, gradient.contiguous()
        to_a = at(left, result, False, right, True, gradient, b) if ctx.needs_input_grad[0] else None
        to_b = at(right, left, True, result, False, a, gradient) if ctx.needs_input_grad[1] else None
        return to_a, to_b, None, None


def _flat(X: Tensor) -> Tensor:
    # A view would be a step of its own in derivatives.
    return (X if X.ndim == 2 else X.reshape(len(X), math.prod(X.shape[1:]))).contiguous()


def checked_operand(A: Adjacency, X: Tensor, name: str, side: int) -> tuple[Tensor | None, Tensor]:
    """A's values and a dense operand."""
    values = A.values
    checked_dense(A, X, name, A.shape[side])
    if values is not None and values.device != X.device:
        raise ValueError(f"values of A and {name} must be on one device, not {values.device} and {X.device}")
    if values is not None:
        values, X = autocast(values, X)
        if values.dtype != X.dtype:
            raise TypeError(
                f"values of A and {name} must have one type, not {values.dtype} and {X.dtype}: "
                f"take A.with_values(A.values.to({X.dtype}))"
            )
    return values, X


def autocast(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors; of different types under `torch.autocast`, in its type."""
    types, device = {one.dtype, other.dtype}, one.device.type
    if len(types) == 1 or torch.float64 in types or not torch.is_autocast_enabled(device):
        return one, other
    kind = torch.get_autocast_dtype(device)
    return one.to(kind), other.to(kind)


def checked_dense(A: Adjacency, X: Any, name: str, rows: int) -> None:
    """That X is a dense tensor of floats with so many rows, where A is."""
    if not isinstance(X, Tensor) or X.layout != torch.strided or not X.is_floating_point():
        raise TypeError(f"{name} must be a dense tensor of floats, not {getattr(X, 'dtype', type(X).__name__)}")
    if X.device != A.pattern.device:
        raise ValueError(f"{name} and A must be on one device, not {X.device} and {A.pattern.device}")
    if not X.ndim or X.shape[0] != rows:
        raise ValueError(f"{name} must have {rows} rows for A of shape {A.shape}, not shape {tuple(X.shape)}")
