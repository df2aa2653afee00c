"""Semirings: the addition and multiplication of a matrix product."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.arithmetic import BINARY, SATURATED
from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.function import TypedFunction
from hpgraph.semiring.index_binary import IndexBinaryOp
from hpgraph.semiring.monoid import ANY_INDEX, Monoid
from hpgraph.semiring.operators import BinaryOp, ByName, Python, check_held


class Gather(TypedFunction):
    """The product of a semiring for one entry, ``gather(state, source, weight, target)`` with the vector in `state`."""

    def __init__(
        self, python: Python, semiring: "Semiring", matrix_dtype: np.dtype, vector_dtype: np.dtype, dtype: np.dtype
    ) -> None:
        super().__init__(python, f"{semiring.name}_gather", (matrix_dtype, vector_dtype, dtype))
        self.semiring = semiring
        self.matrix_dtype = matrix_dtype
        self.vector_dtype = vector_dtype
        self.dtype = dtype
        self._others: dict[str, Gather] = {}

    def with_multiply(self, multiply: BinaryOp) -> "Gather":
        """The same product with another multiplication, even if the semiring would replace it."""
        if multiply.name not in self._others:
            types = self.matrix_dtype, self.vector_dtype, self.dtype
            function = multiply.typed(*types)
            self._others[multiply.name] = Gather(
                lambda state, source, weight, target: function(weight, state[0][source]), self.semiring, *types
            )
        return self._others[multiply.name]


class Semiring(ByName):
    """A semiring: a monoid for addition and a binary operator for multiplication.

    Parameters
    ----------
    add : Monoid
    multiply : BinaryOp
        ``f(matrix entry, vector entry)``.
    name : str, optional
        Default: the two names joined by an underscore.

    Notes
    -----
    If `add` is min or max, the built-in sums and differences of integers saturate; with other monoids (and in
    SuiteSparse:GraphBLAS) they wrap around. Otherwise the length of a path that is too long, or that leads through an
    unreached vertex, whose value is the largest of the type, would wrap to a small number.

    Examples
    --------
    >>> from hpgraph.semiring import get_semiring
    >>> tropical = get_semiring("min_plus")
    >>> tropical.add.name, tropical.multiply.name
    ('min', 'plus')
    >>> tropical.result_dtype("int32", "float32")
    dtype('float64')
    >>> tropical.multiply(np.int8(100), np.int8(100))
    np.int8(127)
    """

    def __init__(self, add: Monoid, multiply: BinaryOp, name: str | None = None) -> None:
        if not isinstance(add, Monoid):
            raise TypeError(f"add must be a Monoid, not {type(add).__name__}; get_monoid(name) gives one")
        if not isinstance(multiply, BinaryOp):
            raise TypeError(f"multiply must be a BinaryOp, not {type(multiply).__name__}; get_binary(name) gives one")
        self.name = name or f"{add.name}_{multiply.name}"
        self.add = ANY_INDEX if multiply.position not in (None, "places") and add.op.cpp == "any" else add
        tropical = self.add.op.cpp in ("min", "max") and BINARY.get(multiply.name) is multiply
        self.multiply = SATURATED.get(multiply.name, multiply) if tropical else multiply
        self._gathers: dict[tuple[np.dtype, ...], Gather] = {}

    def __repr__(self) -> str:
        return f"<Semiring {self.name}>"

    @property
    def counts(self) -> bool:
        """Whether a product counts entries: 1 for each pair, summed."""
        return self.add.op.cpp == "plus" and self.multiply.cpp == "pair"

    def result_dtype(self, matrix_dtype: npt.DTypeLike, vector_dtype: npt.DTypeLike) -> np.dtype:
        """The dtype of a product: that of `multiply`, then of `add`; `TypeError` if one does not support the types.

        Counting (plus_pair) over bool gives int64, since the operands' type is unrelated to the count; other sums of
        bool are bool.
        """
        product = self.multiply.result_dtype(matrix_dtype, vector_dtype)
        if self.counts and product.kind == "b":
            return np.dtype(np.int64)
        return self.add.op.result_dtype(product, product)

    def gather(
        self, matrix_dtype: npt.DTypeLike, vector_dtype: npt.DTypeLike, dtype: npt.DTypeLike | None = None
    ) -> Gather:
        """The product for one entry, as a `Function` ``gather(state, source, weight, target)``.

        It is the entry times ``state[0][source]``; a positional operator returns ``source`` or ``target`` itself.
        """
        matrix, vector = check_dtype(matrix_dtype, "matrix_dtype"), check_dtype(vector_dtype, "vector_dtype")
        final = self.result_dtype(matrix, vector) if dtype is None else check_dtype(dtype)
        if self.multiply.cpp != "pair":
            check_held(self.multiply.result_dtype(matrix, vector), final, self.name)
        key = (matrix, vector, final)
        if key not in self._gathers:
            self._gathers[key] = Gather(self._gather(*key), self, *key)
        return self._gathers[key]

    def _gather(self, matrix: np.dtype, vector: np.dtype, final: np.dtype) -> Python:
        convert: Any = final.type
        if isinstance(self.multiply, IndexBinaryOp):
            return self.multiply.gather(matrix, vector, final)
        if self.multiply.position == "source":
            return lambda state, source, weight, target: convert(source)
        if self.multiply.position == "target":
            return lambda state, source, weight, target: convert(target)
        if self.multiply.position == "column":
            # A vector has one column.
            return lambda state, source, weight, target: convert(0)
        if self.multiply.cpp == "pair":
            return lambda state, source, weight, target: convert(1)
        if self.multiply.cpp == "first":
            # The vector is not read, and may be anything.
            return lambda state, source, weight, target: convert(weight)
        multiply = self.multiply.typed(matrix, vector, final)
        return lambda state, source, weight, target: multiply(weight, state[0][source])


class Product(TypedFunction):
    """``f(a, b, i, k, j)``: the contribution of a = A[i, k] and b = B[k, j] to entry [i, j], with its semiring."""

    def __init__(
        self, python: Python, semiring: Semiring, a_dtype: np.dtype, b_dtype: np.dtype, dtype: np.dtype
    ) -> None:
        super().__init__(python, f"{semiring.name}_product", (a_dtype, b_dtype, dtype))
        self.semiring = semiring
        self.a_dtype = a_dtype
        self.b_dtype = b_dtype
        self.dtype = dtype

    @property
    def index(self) -> str | None:
        """The index that a positional operator returns, "i", "k" or "j"; None for other operators."""
        return {"target": "i", "source": "k", "column": "j"}.get(self.semiring.multiply.position or "")

    @property
    def reads_columns(self) -> bool:
        """Whether the product reads column numbers."""
        return self.semiring.multiply.position in ("column", "places")

    @property
    def reads_a(self) -> bool:
        """Whether the product reads values of A."""
        op = self.semiring.multiply
        return self.index is None and op.cpp not in ("pair", "second")

    @property
    def reads_b(self) -> bool:
        """Whether the product reads values of B."""
        op = self.semiring.multiply
        return self.index is None and op.cpp not in ("pair", "first")


def product_of(
    semiring: Semiring, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike, dtype: npt.DTypeLike | None = None
) -> Product:
    """The multiplication of a semiring for given types; cached for the same semiring and types."""
    final = None if dtype is None else check_dtype(dtype)
    return _product(semiring, check_dtype(a_dtype, "a_dtype"), check_dtype(b_dtype, "b_dtype"), final)


@functools.lru_cache(maxsize=1024)
def _product(semiring: Semiring, a: np.dtype, b: np.dtype, dtype: np.dtype | None) -> Product:
    final = semiring.result_dtype(a, b) if dtype is None else dtype
    return Product(_python(semiring, a, b, final), semiring, a, b, final)


def _python(semiring: Semiring, a_dtype: np.dtype, b_dtype: np.dtype, final: np.dtype) -> Python:
    convert: Any = final.type
    op = semiring.multiply
    if isinstance(op, IndexBinaryOp):
        placed = op.placed(a_dtype, b_dtype, final)
        return lambda a, b, i, k, j: placed(a, i, k, b, k, j)
    if op.position == "target":
        return lambda a, b, i, k, j: convert(i)
    if op.position == "source":
        return lambda a, b, i, k, j: convert(k)
    if op.position == "column":
        return lambda a, b, i, k, j: convert(j)
    if op.cpp == "pair":
        return lambda a, b, i, k, j: convert(1)
    multiply = op.typed(a_dtype, b_dtype, final)
    return lambda a, b, i, k, j: multiply(a, b)
