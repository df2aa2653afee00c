"""The multiplication of a semiring as kernels of matrix products call it: for a pair of entries that share an index."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.function import TypedFunction
from hpgraph.semiring.operators import Python
from hpgraph.semiring.semiring import Semiring


class Product(TypedFunction):
    """``f(a, b, i, k, j)``: what a = A[i, k] and b = B[k, j] contribute to entry [i, j], with its semiring."""

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
        """The index that a positional operator gives, "i", "k" or "j"; None for other operators."""
        position = self.semiring.multiply.position
        return None if position is None else {"target": "i", "source": "k", "column": "j"}[position]

    @property
    def reads_a(self) -> bool:
        """Whether the value of A's entry matters."""
        op = self.semiring.multiply
        return op.position is None and op.cpp not in ("pair", "second")

    @property
    def reads_b(self) -> bool:
        """Whether the value of B's entry matters."""
        op = self.semiring.multiply
        return op.position is None and op.cpp not in ("pair", "first")


def product_of(
    semiring: Semiring, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike, dtype: npt.DTypeLike | None = None
) -> Product:
    """The multiplication of a semiring for given types; made once for the same semiring and types."""
    final = None if dtype is None else check_dtype(dtype)
    return _product(semiring, check_dtype(a_dtype, "a_dtype"), check_dtype(b_dtype, "b_dtype"), final)


@functools.lru_cache(maxsize=1024)
def _product(semiring: Semiring, a: np.dtype, b: np.dtype, dtype: np.dtype | None) -> Product:
    final = semiring.result_dtype(a, b) if dtype is None else dtype
    return Product(_python(semiring, a, b, final), semiring, a, b, final)


def _python(semiring: Semiring, a_dtype: np.dtype, b_dtype: np.dtype, final: np.dtype) -> Python:
    convert: Any = final.type
    op = semiring.multiply
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
