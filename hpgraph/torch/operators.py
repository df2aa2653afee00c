"""The operators that PyTorch knows, with their derivatives, each in terms of the others: second ones follow.

A product's gradient to its values is a product of dense matrices at the entries (SDDMM), and to its operand a product
with the transpose; those of an SDDMM are two products.
"""

import math
import types
from collections.abc import Callable
from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from hpgraph.algebra.mxm import mxm
from hpgraph.containers.public import make_matrix
from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_semiring
from hpgraph.torch.pattern import HALVES, array, pattern_of, stream_of, tensor, widened

# Not Tensor | None: the site is built with a stand-in for PyTorch, which has no `|`.
OptionalTensor = Optional[Tensor]  # noqa: UP045


# Calls take some 15 microseconds less than those of `torch.library.custom_op`.
_LIBRARY = torch.library.Library("hpgraph", "FRAGMENT")


_PLAIN = frozenset((Tensor, torch.nn.Parameter, int, bool, type(None)))
# PyTorch's own tests for modes and function transforms; in versions without them, all calls are dispatched.
_modes: Callable[[], int] = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)
_transforms: Callable[[], bool] = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_batched: Callable[[Tensor], bool] = getattr(torch._C._functorch, "is_legacy_batchedtensor", lambda one: False)


def _watched() -> bool:
    """Whether a mode or transform other than autograd intercepts calls."""
    forward = getattr(forward_ad, "_current_level", 0) >= 0
    return bool(forward or _modes() or _transforms() or torch.jit.is_tracing())


class Operator:
    """A function that is an operator of PyTorch, of its name; decorator.

    Where nothing but autograd watches calls they skip the dispatcher, which takes the host 15 to 50 microseconds.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        schema = torch.library.infer_schema(function, mutates_args=())
        _LIBRARY.define(f"{function.__name__}{schema}", tags=torch.Tag.pt2_compliant_tag)
        _LIBRARY.impl(function.__name__, function, "CompositeExplicitAutograd")
        self.dispatched = getattr(torch.ops.hpgraph, function.__name__).default
        self._function = function
        self._derived: Any = None
        self._transformed: Any = None

    def __call__(self, *given: Any) -> Any:
        """Compute the result, with a node of the autograd graph if needed."""
        if isinstance(given[-1], list) and _transforms():
            raise NotImplementedError("torch.func transforms no messages here: take torch.autograd.grad, or a loop")
        if torch.compiler.is_compiling() or not _PLAIN.issuperset(map(type, given)):
            return self.dispatched(*given)
        tensors = [one for one in given if isinstance(one, Tensor)]
        if _watched() or any(map(_batched, tensors)):
            # PyTorch treats an operator without a rule for dual numbers as a constant.
            if any(forward_ad.unpack_dual(one).tangent is not None for one in tensors):
                raise NotImplementedError("no forward-mode derivatives here: take torch.autograd.grad or backward()")
            transformed = self._transformed if _transforms() else None
            return self.dispatched(*given) if transformed is None else transformed.apply(*given)
        if torch.is_grad_enabled():
            for one in tensors:
                if one.requires_grad:
                    return self.dispatched(*given) if self._derived is None else self._derived.apply(*given)
        return self._function(*given)

    def _by_element(self, info: Any, batched_by: tuple[int | None, ...], *given: Any) -> tuple[Any, Any]:
        """The rule for `torch.vmap`: results for each element of a batch, stacked."""
        # Of an empty batch, whose sum is zeros, one result shows the shape.
        size = info.batch_size
        sides = [[one] * max(size, 1) if by is None else one.unbind(by) or [one.sum(by)]
                 for one, by in zip(given, batched_by, strict=True)]  # fmt: skip
        results = [self(*element) for element in zip(*sides, strict=True)]
        if isinstance(results[0], Tensor):
            return torch.stack(results)[:size], 0
        return tuple(torch.stack(part)[:size] for part in zip(*results, strict=True)), (0,) * len(results[0])

    def fake(self, shape: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the shape and type of the result, for `torch.compile`."""
        return torch.library.register_fake(self.dispatched.name(), shape, lib=_LIBRARY)

    def derive(self, backward: Callable[..., Any], saves: Callable[..., None]) -> None:
        """Register the derivative."""
        torch.library.register_autograd(self.dispatched.name(), backward, setup_context=saves, lib=_LIBRARY)

        # With a `setup_context` of its own, calls bind arguments by the signature: some 30 microseconds.
        def forward(ctx: Any, *given: Any) -> Any:
            result = self._function(*given)
            saves(ctx, given, result)
            return result

        plain = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        # Not type(): the site is built with a stand-in for PyTorch, whose classes are no types.
        name, bases = self._function.__name__, (torch.autograd.Function,)
        self._derived = types.new_class(name, bases, exec_body=lambda members: members.update(plain))
        apart: dict[str, Any] = {"forward": self, "setup_context": saves, "vmap": self._by_element}
        methods = plain | {title: staticmethod(method) for title, method in apart.items()}
        self._transformed = types.new_class(name, bases, exec_body=lambda members: members.update(methods))


def keeping(*places: int, result: bool = False) -> Callable[..., None]:
    """What a derivative finds in its context: the pattern, flags, and tensors among the arguments, or the result."""

    def saves(ctx: Any, inputs: Any, output: Any) -> None:
        # Kept alive until the derivative is released.
        ctx.pattern, ctx.flags = pattern_of(inputs[0]), [one for one in inputs if isinstance(one, bool)]
        ctx.save_for_backward(*(inputs[at] for at in places), *([output] if result else []))

    return saves


def _in_float(given: Any) -> Any:
    return given if given is None or given.is_cuda else widened(given)


@Operator
def spmm(pattern: int, transposed: bool, values: OptionalTensor, x: Tensor) -> Tensor:
    """The product with a dense matrix, or of the transpose; values (nnz, heads) are each for k / heads columns."""
    with stream_of(x):
        where, (values, operand) = pattern_of(pattern), (_in_float(one) for one in (values, x))
        csr = where.oriented(transposed)
        out = operand.new_empty((csr.shape[0], x.shape[1]))
        if out.numel():
            weights, order = (None, None) if values is None else where.weights(transposed, values)
            arrays, half = (array(operand), array(out)), HALVES.get(out.dtype)
            kernels(csr.device).multiply_dense(csr, weights, *arrays, half, order)
    return out.to(x.dtype)


@spmm.fake
def _(pattern: int, transposed: bool, values: OptionalTensor, x: Tensor) -> Tensor:
    return x.new_empty((pattern_of(pattern).shape[transposed], x.shape[1]))


def _spmm_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    (values, x), (transposed,) = ctx.saved_tensors, ctx.flags
    number, gradient = ctx.pattern.number, gradient.contiguous()
    to_values = to_x = None
    if values is not None and ctx.needs_input_grad[2]:
        heads = 1 if values.ndim == 1 else values.shape[1]
        left, right = (one.reshape(len(one), heads, one.shape[1] // max(heads, 1))
                       for one in ((x, gradient) if transposed else (gradient, x)))  # fmt: skip
        to_values = sddmm(number, left, right).reshape(values.shape)
    if ctx.needs_input_grad[3]:
        to_x = spmm(number, not transposed, values, gradient)
    return None, None, to_values, to_x


spmm.derive(_spmm_back, keeping(2, 3))


def _sampled(kernel: str, pattern: int, x: Tensor, y: Tensor) -> Tensor:
    """Result of a kernel for each entry and head, from a row of x and a row of y."""
    with stream_of(x):
        csr, (left, right) = pattern_of(pattern).csr, (_in_float(one) for one in (x, y))
        out = left.new_empty((csr.nnz, x.shape[1]))
        getattr(kernels(csr.device), kernel)(csr, array(left), array(right), array(out), HALVES.get(out.dtype))
    return out.to(x.dtype)


@Operator
def sddmm(pattern: int, x: Tensor, y: Tensor) -> Tensor:
    """Dot products of rows of x, of shape (rows, heads, k), and y, of shape (columns, heads, k): shape (nnz, heads)."""
    return _sampled("sample_dense", pattern, x, y)


@Operator
def sums(pattern: int, x: Tensor, y: Tensor) -> Tensor:
    """Sums of what rows have, of shape (rows, heads), and what columns have, (columns, heads): shape (nnz, heads)."""
    return _sampled("sample_sums", pattern, x, y)


@sddmm.fake
@sums.fake
def _(pattern: int, x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty((pattern_of(pattern).nnz, x.shape[1]))


def _sddmm_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    x, y = ctx.saved_tensors
    number, gradient = ctx.pattern.number, gradient.contiguous()

    def product(transposed: bool, other: Tensor, like: Tensor) -> Tensor:
        flat = other.reshape(len(other), math.prod(other.shape[1:]))
        return spmm(number, transposed, gradient, flat).reshape(like.shape)

    return (
        None,
        product(False, y, x) if ctx.needs_input_grad[1] else None,
        product(True, x, y) if ctx.needs_input_grad[2] else None,
    )


sddmm.derive(_sddmm_back, keeping(1, 2))


@Operator
def at_entries(
    pattern: int, left: int, left_transposed: bool, right: int, right_transposed: bool, x: Tensor, y: Tensor
) -> Tensor:
    """The product of two sparse matrices, of values x and y, or of their transposes, at the entries of a third."""
    with stream_of(x):
        csr = pattern_of(pattern).csr
        one, other = pattern_of(left).matrix(left_transposed, x), pattern_of(right).matrix(right_transposed, y)
        zeros = array_module(csr.device).zeros(csr.nnz, one.data.dtype)
        out = make_matrix(csr.with_data(zeros, copy=False))
        mxm(make_matrix(one), make_matrix(other), mask=make_matrix(csr), accum="plus", out=out)
        return tensor(out.csr.data.copy())


@at_entries.fake
def _(
    pattern: int, left: int, left_transposed: bool, right: int, right_transposed: bool, x: Tensor, y: Tensor
) -> Tensor:
    return x.new_empty(pattern_of(pattern).nnz)


def _at_entries_saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    pattern, left, ctx.left_transposed, right, ctx.right_transposed, x, y = inputs
    ctx.patterns = [pattern_of(number) for number in (pattern, left, right)]
    ctx.save_for_backward(x, y)


def _at_entries_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    """With gradient G: of L R to L it is G times the transpose of R, to the transpose of L the transpose of that."""
    (x, y), (pattern, left, right) = ctx.saved_tensors, (one.number for one in ctx.patterns)
    transposed, other, gradient = ctx.left_transposed, ctx.right_transposed, gradient.contiguous()
    to_x = to_y = None
    if ctx.needs_input_grad[5]:
        to_x = (at_entries(left, right, other, pattern, True, y, gradient) if transposed
                else at_entries(left, pattern, False, right, not other, gradient, y))  # fmt: skip
    if ctx.needs_input_grad[6]:
        to_y = (at_entries(right, pattern, True, left, transposed, gradient, x) if other
                else at_entries(right, left, not transposed, pattern, False, x, gradient))  # fmt: skip
    return None, None, None, None, None, to_x, to_y


at_entries.derive(_at_entries_back, _at_entries_saves)


def _sums_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    number, gradient = ctx.pattern.number, gradient.contiguous()
    to_x, to_y = (collect(number, side == 2, gradient) if ctx.needs_input_grad[side] else None for side in (1, 2))
    return None, to_x, to_y


sums.derive(_sums_back, keeping())


@Operator
def softmax(pattern: int, scores: Tensor) -> Tensor:
    """The softmax of each row's entries, of scores of shape (nnz, heads)."""
    with stream_of(scores):
        csr, given = pattern_of(pattern).csr, _in_float(scores)
        out = torch.empty_like(given)
        kernels(csr.device).row_softmax(csr, array(given), array(out), HALVES.get(out.dtype))
    return out.to(scores.dtype)


@Operator
def softmax_derivative(pattern: int, found: Tensor, gradient: Tensor) -> Tensor:
    """The gradient to the scores of a softmax."""
    with stream_of(found):
        csr, given, other = pattern_of(pattern).csr, _in_float(found), _in_float(gradient)
        out = torch.empty_like(given)
        kernels(csr.device).softmax_derivative(csr, array(given), array(other), array(out), HALVES.get(out.dtype))
    return out.to(found.dtype)


@softmax.fake
def _(pattern: int, scores: Tensor) -> Tensor:
    return torch.empty_like(scores)


@softmax_derivative.fake
def _(pattern: int, found: Tensor, gradient: Tensor) -> Tensor:
    return torch.empty_like(found)


def _softmax_back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return None, softmax_derivative(ctx.pattern.number, *ctx.saved_tensors, gradient.contiguous())


def _derivative_back(ctx: Any, twice: Tensor) -> tuple[Any, ...]:
    """Of y (g - m), with m the sum of y g over a row."""
    (result, gradient), number = ctx.saved_tensors, ctx.pattern.number

    def row_sums(given: Tensor) -> Tensor:
        return spread(number, False, collect(number, False, given.contiguous()))

    to_found = twice * (gradient - row_sums(result * gradient)) - gradient * row_sums(result * twice)
    return None, to_found, softmax_derivative(number, result, twice.contiguous())


softmax.derive(_softmax_back, keeping(result=True))
softmax_derivative.derive(_derivative_back, keeping(1, 2))


@Operator
def spread(pattern: int, transposed: bool, x: Tensor) -> Tensor:
    """For each entry what its row, or its column, has."""
    where = pattern_of(pattern)
    return x.index_select(0, where.column if transposed else where.row)


@spread.fake
def _(pattern: int, transposed: bool, x: Tensor) -> Tensor:
    return x.new_empty((pattern_of(pattern).nnz, *x.shape[1:]))


@Operator
def collect(pattern: int, transposed: bool, x: Tensor) -> Tensor:
    """The sums of what the entries of each row, or of each column, have."""
    with stream_of(x):
        csr, operand = pattern_of(pattern).by_entry(transposed), _in_float(x)
        out = operand.new_empty((csr.shape[0], *x.shape[1:]))
        if out.numel():
            source, made = (array(one.reshape(len(one), math.prod(x.shape[1:]))) for one in (operand, out))
            kernels(csr.device).multiply_dense(csr, None, source, made, HALVES.get(out.dtype))
    return out.to(x.dtype)


@collect.fake
def _(pattern: int, transposed: bool, x: Tensor) -> Tensor:
    return x.new_empty((pattern_of(pattern).shape[transposed], *x.shape[1:]))


@Operator
def divisors(pattern: int, like: Tensor) -> Tensor:
    """Number of entries of each row, at least 1, as divisors of an array with that many rows."""
    return pattern_of(pattern).degree.clamp(min=1).to(like.dtype).reshape(-1, *[1] * (like.ndim - 1))


@divisors.fake
def _(pattern: int, like: Tensor) -> Tensor:
    return like.new_empty((len(like), *[1] * (like.ndim - 1)))


# A constant, but with the rule for `torch.vmap`.
divisors.derive(lambda ctx, gradient: (None, None), keeping())


def means(pattern: int, sums: Tensor) -> Tensor:
    """What sums over the entries of rows are divided to."""
    return sums / divisors(pattern, sums.detach())


# Each is the other's derivative.
spread.derive(
    lambda ctx, gradient: (None, None, collect(ctx.pattern.number, *ctx.flags, gradient.contiguous())), keeping()
)
collect.derive(lambda ctx, gradient: (None, None, spread(ctx.pattern.number, *ctx.flags, gradient)), keeping())


def per_head(product: Callable[[Tensor, Tensor], Tensor], values: Tensor, x: Tensor) -> Tensor:
    """A product for each head: values of shape (nnz, heads), x of shape (columns, heads, k)."""
    return torch.stack([product(values[:, h].contiguous(), x[:, h].contiguous()) for h in range(x.shape[1])], 1)


@Operator
def extremes(pattern: int, largest: bool, values: OptionalTensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For each row and column the extreme message, or 0; the first entry that it comes from, or -1; and its column."""
    with stream_of(x):
        matrix = pattern_of(pattern).matrix(False, values)
        out = _reduced(matrix, "max" if largest else "min", x)
        first = torch.empty(out.shape, dtype=torch.int64, device=x.device)
        kernels(matrix.device).extreme_entries(matrix, array(x), array(out), array(first))
    column = pattern_of(pattern).column
    return out, first, column[first.clamp(min=0)] if len(column) else torch.zeros_like(first)


@extremes.fake
def _(pattern: int, largest: bool, values: OptionalTensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    out = x.new_empty((pattern_of(pattern).shape[0], x.shape[1]))
    return out, torch.empty_like(out, dtype=torch.int64), torch.empty_like(out, dtype=torch.int64)


def _extremes_saves(ctx: Any, inputs: Any, output: tuple[Tensor, Tensor, Tensor]) -> None:
    pattern, _, values, x = inputs
    ctx.any = pattern_of(pattern).nnz > 0
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


extremes.derive(_extremes_back, _extremes_saves)


def _reduced(matrix: CSR, add: str, x: Tensor) -> Tensor:
    """The product over a semiring; 0 in rows without entries."""
    out = x.new_empty((matrix.shape[0], x.shape[1]))
    if not out.numel():
        return out
    operand = array(x)
    semiring = get_semiring(f"{add}_{'second' if matrix.data is None else 'times'}")
    weights = np.dtype(np.bool_) if matrix.data is None else matrix.data.dtype
    gather = semiring.gather(weights, operand.dtype, operand.dtype)
    result = array(out)
    kernels(matrix.device).pull_dense(matrix, gather, semiring.add, (operand,), result)
    if add != "plus":
        result[matrix.degrees == 0] = 0
    return out
