"""Messages along the entries of a sparse matrix, written as Python functions and compiled, with their derivatives.

A program is an expression of operands that columns, entries and rows of the matrix have, summed over the entries of
each row, of each column, or of none. Its derivative by an operand is another program, summed over what the operand
belongs to: so there are derivatives of any order.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

import hpgraph.torch.operators as operators
from hpgraph.core.number import one_of
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_monoid
from hpgraph.semiring.function import TypedFunction
from hpgraph.torch.adjacency import Adjacency
from hpgraph.torch.expressions import Expression, apply, cpp_text, derivative, text, traced, variable
from hpgraph.torch.pattern import Pattern, array, pattern_of, stream_of, widened
from hpgraph.torch.products import checked_dense

# For each reduction, the operands that are a kernel's arguments u (a column), w (an entry) and v (a row).
_ARGUMENTS = {
    "target": {"source": "u", "edge": "w", "target": "v"}, "source": {"source": "v", "edge": "w", "target": "u"},
    "edge": {"source": "u", "edge": "v", "target": "state[-1][v]"},
}  # fmt: skip


@dataclass(eq=False)
class Program:
    """A message: of which kind each operand is, for what messages are reduced, and how."""

    expression: Expression
    kinds: tuple[str, ...]
    over: str
    summed: bool
    add: str = "plus"
    # Index in PROGRAMS.
    number: int = field(init=False)

    def __post_init__(self) -> None:
        arguments = _ARGUMENTS[self.over]
        variables = [f"state[{i}][{arguments[kind]}]" for i, kind in enumerate(self.kinds)]
        self.body, self.constants = text(self.expression, variables)
        self._by: dict[tuple[int, bool], Program | None] = {}

    @functools.cache  # noqa: B019  programs are kept for good: operators know them by number
    def compiled(self, dtype: np.dtype[Any]) -> TypedFunction:
        """The compiled message for a type."""
        names = {f"c{i}": dtype.type(value) for i, value in enumerate(self.constants)}
        lines = self.body.replace("\n", "\n    ")
        exec(f"def message(state, u, w, v):\n    {lines}\n", names := {"np": np, **names})
        return TypedFunction(names["message"], "message", (dtype, self.over))

    def cpp(self, variables: Sequence[str], kind: str) -> str:
        """The message as lines of C++ that return it, from what variables are called, in a type."""
        return cpp_text(self.expression, variables, kind)

    def by(self, operand: int, one_dimension: bool, wide: bool) -> Program | None:
        """The program of the gradient to an operand, of which the last operand is the gradient of the result."""
        summed = one_dimension and wide
        if (operand, summed) not in self._by:
            product = apply("multiply", variable(len(self.kinds)), derivative(self.expression, operand))
            none = product.operator == "constant"
            self._by[operand, summed] = (
                None if none else program(product, (*self.kinds, self.over), self.kinds[operand], summed)
            )
        return self._by[operand, summed]


PROGRAMS: list[Program] = []
_LOCK = threading.Lock()
_KNOWN: dict[Any, Program] = {}


def program(expression: Expression, kinds: tuple[str, ...], over: str, summed: bool, add: str = "plus") -> Program:
    """The program of an expression: the same one for the same text."""
    compiled = Program(expression, kinds, over, summed, add)
    key = compiled.body, tuple(compiled.constants), kinds, over, summed, add
    # Several threads may trace and derive messages at once.
    with _LOCK:
        registered = _KNOWN.setdefault(key, compiled)
        if registered is compiled:
            compiled.number = len(PROGRAMS)
            PROGRAMS.append(compiled)
    return registered


def _width(operands: Sequence[Tensor]) -> int | None:
    """Columns of the messages; None if each is one number."""
    return next((one.shape[1] for one in operands if one.ndim == 2), None)


def _shape(pattern: Pattern, made: Program, operands: Sequence[Tensor]) -> tuple[int, ...]:
    rows, columns = pattern.csr.shape
    size, width = {"target": rows, "source": columns, "edge": pattern.csr.nnz}[made.over], _width(operands)
    return (size,) if made.summed or width is None else (size, width)


@operators.Operator
def messages(pattern: int, number: int, operands: Sequence[Tensor]) -> Tensor:
    """The reduced messages of a program; rows of operands are columns, entries and rows of the matrix."""
    compiled, where = PROGRAMS[number], pattern_of(pattern)
    with stream_of(operands[0]):
        out = operands[0].new_empty(_shape(where, compiled, operands))
        if not out.numel() or _width(operands) == 0:
            return out.zero_()
        state, result, csr = tuple(map(array, operands)), array(out), where.numbered(compiled.over)
        rows = array(where.row) if compiled.over == "edge" else None
        kernels(csr.device).reduce_messages(csr, compiled, get_monoid(compiled.add), state, rows, result)
        if compiled.add != "plus":
            result[csr.degrees == 0] = 0
    return out


@messages.fake
def _(pattern: int, number: int, operands: Sequence[Tensor]) -> Tensor:
    return operands[0].new_empty(_shape(pattern_of(pattern), PROGRAMS[number], operands))


def _saves(ctx: Any, inputs: Any, output: Tensor) -> None:
    pattern, ctx.number, operands = inputs
    ctx.pattern = pattern_of(pattern)
    ctx.save_for_backward(*operands)


def _back(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    operands, compiled = ctx.saved_tensors, PROGRAMS[ctx.number]
    width, result = _width(operands), list[Tensor | None]()
    for at, one in enumerate(operands):
        by = compiled.by(at, one.ndim == 1, width is not None) if ctx.needs_input_grad[2][at] else None
        inputs = [*operands, gradient.contiguous()]
        result.append(None if by is None else messages(ctx.pattern.number, by.number, inputs))
    return None, None, result


messages.derive(_back, _saves)


@torch.compiler.disable
def gather_scatter(
    A: Any, message: Callable[..., Any], *, source: Any = None, edge: Any = None, target: Any = None,
    reduce: str = "sum",
) -> Tensor:  # fmt: skip
    """Messages along the entries of a sparse matrix, by a Python function, reduced by rows.

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
    message : function of (source, edge, target)
        The message of one entry, and column of the operands, from numbers: with operators, branches, NumPy's functions
        as ``numpy.exp`` and loops of a fixed number of rounds. It is compiled; its derivatives are found from it.
    source, edge, target : tensor or dict of tensors, optional
        What the column, the entry and the row of each entry have: of shape (m, ...), (nnz, ...) in the order of A, and
        (n, ...); of one type, and of one shape but for the first dimension, or without others. Of a dict, the function
        reads attributes: ``source.x``. For `edge` by default the values of A.
    reduce : {"sum", "mean", "max", "min"}
        A row without entries gets 0. Entries that attain an extreme share its gradient.

    Returns
    -------
    tensor of shape (n, ...)

    Notes
    -----
    No message is stored, but on the CPU one number an entry for gradients to what entries have. Derivatives of any
    order exist; where a function has none, as at a branch, they are those of one side. A new message is compiled in
    some seconds. `torch.compile` leaves the call to Python.

    Examples
    --------
    >>> import numpy as np, torch
    >>> import hpgraph.torch
    >>> A, X = torch.tensor([[0, 0, 1], [1, 2, 0]]), torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    >>> found = hpgraph.torch.gather_scatter(
    ...     A, lambda source, edge, target: (source - target) ** 2, source=X, target=X)
    >>> found.tolist(), torch.autograd.grad(found.sum(), X)[0].tolist()
    ([10.0, 1.0, 0.0], [-10.0, 4.0, 6.0])
    """
    A = Adjacency.of(A)
    one_of(reduce, "reduce", ("sum", "mean", "max", "min"))
    if not callable(message):
        raise TypeError(f"message must be a function of source, edge and target, not {type(message).__name__}")
    sizes = {"source": A.shape[1], "edge": A.nnz, "target": A.shape[0]}
    kinds, operands, arguments = list[str](), list[Tensor](), list[Any]()
    for kind, given in (("source", source), ("edge", A.values if edge is None else edge), ("target", target)):
        named = given if isinstance(given, Mapping) else {} if given is None else {None: given}
        symbols = {name: variable(len(operands) + at) for at, name in enumerate(named)}
        arguments.append(symbols.get(None) if None in symbols else SimpleNamespace(**symbols) if symbols else None)
        for name, one in named.items():
            checked_dense(A, one, kind if name is None else f"{kind}[{name!r}]", sizes[kind])
        operands += named.values()
        kinds += [kind] * len(named)
    if not operands:
        raise ValueError("give source=, edge= or target=: a message is a function of what they have")
    shape = _common(operands)
    given_type, flat = operands[0].dtype, [widened(one.flatten(1) if one.ndim > 1 else one) for one in operands]
    expression = traced(message, *arguments)
    number = A.pattern.number
    if reduce in ("sum", "mean"):
        result = messages(number, program(expression, tuple(kinds), "target", False).number, flat)
        if reduce == "mean":
            result = operators.means(A.pattern.number, result)
    else:
        result = _extreme(number, expression, tuple(kinds), flat, reduce)
    return result.reshape(A.shape[0], *shape).to(given_type)


def _extreme(
    number: int, expression: Expression, kinds: tuple[str, ...], operands: list[Tensor], reduce: str
) -> Tensor:
    """The extreme message of each row; its derivative is the mean of those of the entries that attain it."""
    plain = [one.detach() for one in operands]
    extreme = messages(number, program(expression, kinds, "target", False, reduce).number, plain)
    if not (torch.is_grad_enabled() and any(one.requires_grad for one in operands)):
        return extreme
    attains = apply("equal", expression, variable(len(kinds)))
    kinds = (*kinds, "target")
    ties = messages(
        number, program(apply("where", attains, 1.0, 0.0), kinds, "target", False).number, [*plain, extreme]
    )
    chosen = program(apply("where", attains, expression, 0.0), kinds, "target", False)
    mean = messages(number, chosen.number, [*operands, extreme]) / ties.clamp(min=1)
    return _WithGradientOf.apply(extreme, mean)


class _WithGradientOf(torch.autograd.Function):
    """The first operand with the gradient of the second, which may be infinite, or have overflowed."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, other: Tensor) -> Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, gradient


def _common(operands: list[Tensor]) -> tuple[int, ...]:
    """The shape of a row of the operands."""
    shapes, types = {tuple(one.shape[1:]) for one in operands} - {()}, {one.dtype for one in operands}
    if len(types) > 1:
        raise TypeError(f"operands must have one type, not {', '.join(sorted(map(str, types)))}")
    if len(shapes) > 1:
        raise ValueError(f"rows of operands must have one shape, or be numbers, not {sorted(shapes)}")
    return shapes.pop() if shapes else ()
