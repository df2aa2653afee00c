"""The operators that PyTorch knows, with their derivatives, each in terms of the others: second ones follow.

A product's gradient to its values is a product of dense matrices at the entries (SDDMM), and to its operand a product
with the transpose; those of an SDDMM are two products.
"""

import math
from collections.abc import Callable
from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor

from hpgraph.algebra.mxm import mxm
from hpgraph.containers.public import make_matrix
from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_semiring
from hpgraph.torch.structure import array, stream_of, structure, tensor

# Not Tensor | None: the site is built with a stand-in for PyTorch, which has no `|`.
OptionalTensor = Optional[Tensor]  # noqa: UP045


# Types of 16 bits, as the kernels call them: of the GPU alone; on the CPU they are computed in float32.
_HALF = {torch.float16: "half", torch.bfloat16: "bfloat"}
HALVES = tuple(_HALF)


# Calls take some 15 microseconds less than those of `torch.library.custom_op`.
_LIBRARY = torch.library.Library("hpgraph", "FRAGMENT")


def operator(function: Callable[..., Any]) -> Any:
    """Decorator: make a function an operator of PyTorch, of its name."""
    schema = torch.library.infer_schema(function, mutates_args=())
    _LIBRARY.define(f"{function.__name__}{schema}", tags=torch.Tag.pt2_compliant_tag)
    _LIBRARY.impl(function.__name__, function, "CompositeExplicitAutograd")
    return getattr(torch.ops.hpgraph, function.__name__).default


def fake(operator: Any) -> Callable[..., Any]:
    """Decorator: what `torch.compile` is told of an operator's result."""
    return torch.library.register_fake(operator.name(), lib=_LIBRARY)


def derive(operator: Any, backward: Callable[..., Any], saves: Callable[..., None]) -> None:
    """Give an operator its derivative."""
    torch.library.register_autograd(operator.name(), backward, setup_context=saves, lib=_LIBRARY)


def _in_float(given: Any) -> Any:
    return given.float() if given is not None and given.dtype in _HALF and not given.is_cuda else given


@operator
def spmm(places: int, turned: bool, values: OptionalTensor, x: Tensor) -> Tensor:
    """The product of a matrix, or of its transpose, with a dense one of shape (columns, k).

    Values of shape (nnz, heads) are each for k / heads adjacent columns.
    """
    with stream_of(x):
        where, (values, operand) = structure(places), (_in_float(one) for one in (values, x))
        pattern = where.pattern(turned)
        out = operand.new_empty((pattern.shape[0], x.shape[1]))
        if out.numel():
            weights, order = (None, None) if values is None else where.weights(turned, values)
            given, half = (array(operand), array(out)), _HALF.get(out.dtype)
            kernels(pattern.device).multiply_dense(pattern, weights, *given, half, order)
    return out.to(x.dtype)


@fake(spmm)
def _(places: int, turned: bool, values: OptionalTensor, x: Tensor) -> Tensor:
    return x.new_empty((structure(places).shape[turned], x.shape[1]))


def _spmm_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    places, ctx.turned, values, x = inputs
    # Alive for as long as a derivative may be asked for.
    ctx.places = structure(places)
    ctx.save_for_backward(values, x)


def _spmm_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    values, x = ctx.saved_tensors
    number, gradient = ctx.places.number, gradient.contiguous()
    to_values = to_x = None
    if values is not None and ctx.needs_input_grad[2]:
        heads = 1 if values.ndim == 1 else values.shape[1]
        left, right = (one.reshape(len(one), heads, one.shape[1] // max(heads, 1))
                       for one in ((x, gradient) if ctx.turned else (gradient, x)))  # fmt: skip
        to_values = sddmm(number, left, right).reshape(values.shape)
    if ctx.needs_input_grad[3]:
        to_x = spmm(number, not ctx.turned, values, gradient)
    return None, None, to_values, to_x


derive(spmm, _spmm_back, _spmm_saves)


@operator
def sddmm(places: int, x: Tensor, y: Tensor) -> Tensor:
    """Dot products of rows of x, of shape (rows, heads, k), and y, of shape (columns, heads, k): shape (nnz, heads)."""
    with stream_of(x):
        csr, (left, right) = structure(places).csr, (_in_float(one) for one in (x, y))
        out = left.new_empty((csr.nnz, x.shape[1]))
        kernels(csr.device).sample_dense(csr, array(left), array(right), array(out), _HALF.get(out.dtype))
    return out.to(x.dtype)


@fake(sddmm)
def _(places: int, x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty((structure(places).nnz, x.shape[1]))


def _sddmm_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    places, *dense = inputs
    ctx.places = structure(places)
    ctx.save_for_backward(*dense)


def _sddmm_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    x, y = ctx.saved_tensors
    number, gradient = ctx.places.number, gradient.contiguous()

    def product(turned: bool, other: Tensor, like: Tensor) -> Tensor:
        return spmm(number, turned, gradient, other.reshape(len(other), math.prod(other.shape[1:]))).reshape(like.shape)

    return (
        None,
        product(False, y, x) if ctx.needs_input_grad[1] else None,
        product(True, x, y) if ctx.needs_input_grad[2] else None,
    )


derive(sddmm, _sddmm_back, _sddmm_saves)


@operator
def at_entries(
    places: int, left: int, left_turned: bool, right: int, right_turned: bool, x: Tensor, y: Tensor
) -> Tensor:
    """The product of two sparse matrices, of values x and y, or of their transposes, at the entries of a third."""
    with stream_of(x):
        csr = structure(places).csr
        one, other = structure(left).matrix(left_turned, x), structure(right).matrix(right_turned, y)
        zeros = array_module(csr.device).zeros(csr.nnz, one.data.dtype)
        out = make_matrix(csr.with_data(zeros, copy=False))
        mxm(make_matrix(one), make_matrix(other), mask=make_matrix(csr), accum="plus", out=out)
        return tensor(out.csr.data.copy())


@fake(at_entries)
def _(places: int, left: int, left_turned: bool, right: int, right_turned: bool, x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty(structure(places).nnz)


def _at_entries_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    places, left, ctx.left_turned, right, ctx.right_turned, x, y = inputs
    ctx.places = [structure(number) for number in (places, left, right)]
    ctx.save_for_backward(x, y)


def _at_entries_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    """With gradient G: of L R to L it is G times the transpose of R, to the transpose of L the transpose of that."""
    (x, y), (places, left, right) = ctx.saved_tensors, (one.number for one in ctx.places)
    turned, other, gradient = ctx.left_turned, ctx.right_turned, gradient.contiguous()
    to_x = to_y = None
    if ctx.needs_input_grad[5]:
        to_x = (at_entries(left, right, other, places, True, y, gradient) if turned
                else at_entries(left, places, False, right, not other, gradient, y))  # fmt: skip
    if ctx.needs_input_grad[6]:
        to_y = (at_entries(right, places, True, left, turned, gradient, x) if other
                else at_entries(right, left, not turned, places, False, x, gradient))  # fmt: skip
    return None, None, None, None, None, to_x, to_y


derive(at_entries, _at_entries_back, _at_entries_saves)


@operator
def sums(places: int, x: Tensor, y: Tensor) -> Tensor:
    """Sums of what rows have, of shape (rows, heads), and what columns have, (columns, heads): shape (nnz, heads)."""
    with stream_of(x):
        csr, (left, right) = structure(places).csr, (_in_float(one) for one in (x, y))
        out = left.new_empty((csr.nnz, x.shape[1]))
        kernels(csr.device).sample_sums(csr, array(left), array(right), array(out), _HALF.get(out.dtype))
    return out.to(x.dtype)


@fake(sums)
def _(places: int, x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty((structure(places).nnz, x.shape[1]))


def _sums_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.places = structure(inputs[0])


def _sums_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    number, gradient = ctx.places.number, gradient.contiguous()
    to_x, to_y = (collect(number, side == 2, gradient) if ctx.needs_input_grad[side] else None for side in (1, 2))
    return None, to_x, to_y


derive(sums, _sums_back, _sums_saves)


@operator
def softmax(places: int, scores: Tensor) -> Tensor:
    """The softmax of each row's entries, of scores of shape (nnz, heads)."""
    with stream_of(scores):
        csr, given = structure(places).csr, _in_float(scores)
        out = torch.empty_like(given)
        kernels(csr.device).row_softmax(csr, array(given), array(out), _HALF.get(out.dtype))
    return out.to(scores.dtype)


@operator
def softmax_derivative(places: int, found: Tensor, gradient: Tensor) -> Tensor:
    """The gradient to the scores of a softmax."""
    with stream_of(found):
        csr, given, other = structure(places).csr, _in_float(found), _in_float(gradient)
        out = torch.empty_like(given)
        kernels(csr.device).softmax_derivative(csr, array(given), array(other), array(out), _HALF.get(out.dtype))
    return out.to(found.dtype)


@fake(softmax)
def _(places: int, scores: Tensor) -> Tensor:
    return torch.empty_like(scores)


@fake(softmax_derivative)
def _(places: int, found: Tensor, gradient: Tensor) -> Tensor:
    return torch.empty_like(found)


def _softmax_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.places = structure(inputs[0])
    ctx.save_for_backward(output)


def _softmax_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return None, softmax_derivative(ctx.places.number, *ctx.saved_tensors, gradient.contiguous())


def _derivative_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.places = structure(inputs[0])
    ctx.save_for_backward(*inputs[1:])


def _derivative_back(ctx: Any, twice: Tensor) -> tuple[Any, ...]:
    """Of y (g - m), with m the sum of y g over a row."""
    (found, gradient), number = ctx.saved_tensors, ctx.places.number

    def row_sums(given: Tensor) -> Tensor:
        return spread(number, False, collect(number, False, given.contiguous()))

    to_found = twice * (gradient - row_sums(found * gradient)) - gradient * row_sums(found * twice)
    return None, to_found, softmax_derivative(number, found, twice.contiguous())


derive(softmax, _softmax_back, _softmax_saves)
derive(softmax_derivative, _derivative_back, _derivative_saves)


@operator
def spread(places: int, turned: bool, x: Tensor) -> Tensor:
    """For each entry what its row, or its column, has."""
    where = structure(places)
    return x.index_select(0, where.column if turned else where.row)


@fake(spread)
def _(places: int, turned: bool, x: Tensor) -> Tensor:
    return x.new_empty((structure(places).nnz, *x.shape[1:]))


@operator
def collect(places: int, turned: bool, x: Tensor) -> Tensor:
    """The sums of what the entries of each row, or of each column, have."""
    with stream_of(x):
        pattern, operand = structure(places).by_entry(turned), _in_float(x)
        out = operand.new_empty((pattern.shape[0], *x.shape[1:]))
        if out.numel():
            given, made = (array(one.reshape(len(one), math.prod(x.shape[1:]))) for one in (operand, out))
            kernels(pattern.device).multiply_dense(pattern, None, given, made, _HALF.get(out.dtype))
    return out.to(x.dtype)


@fake(collect)
def _(places: int, turned: bool, x: Tensor) -> Tensor:
    return x.new_empty((structure(places).shape[turned], *x.shape[1:]))


@operator
def divisors(places: int, like: Tensor) -> Tensor:
    """How many entries each row has, or 1 of none, to divide what has a row for each by."""
    return structure(places).degree.clamp(min=1).to(like.dtype).reshape(-1, *[1] * (like.ndim - 1))


@fake(divisors)
def _(places: int, like: Tensor) -> Tensor:
    return like.new_empty((len(like), *[1] * (like.ndim - 1)))


def means(places: int, sums: Tensor) -> Tensor:
    """What sums over the entries of rows are divided to."""
    return sums / divisors(places, sums.detach())


def _keeps_places(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.places, ctx.turned = structure(inputs[0]), inputs[1]


# Each is the other's derivative.
derive(
    spread,
    lambda ctx, gradient: (None, None, collect(ctx.places.number, ctx.turned, gradient.contiguous())),
    _keeps_places,
)
derive(collect, lambda ctx, gradient: (None, None, spread(ctx.places.number, ctx.turned, gradient)), _keeps_places)


def per_head(product: Callable[[Tensor, Tensor], Tensor], values: Tensor, x: Tensor) -> Tensor:
    """A product for each head: values of shape (nnz, heads), x of shape (columns, heads, k)."""
    return torch.stack([product(values[:, h].contiguous(), x[:, h].contiguous()) for h in range(x.shape[1])], 1)


@operator
def extremes(places: int, largest: bool, values: OptionalTensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For each row and column the extreme message, or 0; the first entry that it comes from, or -1; and its column."""
    with stream_of(x):
        matrix = structure(places).matrix(False, values)
        out = _reduced(matrix, "max" if largest else "min", x)
        first = torch.empty(out.shape, dtype=torch.int64, device=x.device)
        kernels(matrix.device).extreme_entries(matrix, array(x), array(out), array(first))
    column = structure(places).column
    return out, first, column[first.clamp(min=0)] if len(column) else torch.zeros_like(first)


@fake(extremes)
def _(places: int, largest: bool, values: OptionalTensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    out = x.new_empty((structure(places).shape[0], x.shape[1]))
    return out, torch.empty_like(out, dtype=torch.int64), torch.empty_like(out, dtype=torch.int64)


def _extremes_saves(ctx: Any, inputs: Any, output: tuple[Tensor, Tensor, Tensor]) -> None:
    places, _, values, x = inputs
    ctx.any = structure(places).nnz > 0
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(values, x, *output[1:])


def _extremes_back(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Any, ...]:
    values, x, first, column = ctx.saved_tensors
    at = first.clamp(min=0)
    gradient = gradient * (first >= 0)
    to_values = to_x = None
    if values is not None and ctx.needs_input_grad[2]:
        to_values = torch.zeros_like(values)
        if ctx.any:
            to_values = to_values.index_add(0, at.flatten(), (gradient * x.gather(0, column)).flatten())
    if ctx.needs_input_grad[3]:
        to_x = torch.zeros_like(x)
        if ctx.any:
            to_x = to_x.scatter_add(0, column, gradient if values is None else gradient * values[at])
    return None, None, to_values, to_x


derive(extremes, _extremes_back, _extremes_saves)


def _reduced(matrix: CSR, add: str, x: Tensor) -> Tensor:
    """The product over a semiring; 0 in rows without entries."""
    out = x.new_empty((matrix.shape[0], x.shape[1]))
    if not out.numel():
        return out
    operand = array(x)
    semiring = get_semiring(f"{add}_{'second' if matrix.data is None else 'times'}")
    weights = np.dtype(np.bool_) if matrix.data is None else matrix.data.dtype
    gather = semiring.gather(weights, operand.dtype, operand.dtype)
    found = array(out)
    kernels(matrix.device).pull_dense(matrix, gather, semiring.add, (operand,), found)
    if add != "plus":
        found[matrix.degrees == 0] = 0
    return out
