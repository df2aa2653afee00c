"""Binary operators of values and positions: GxB_IndexBinaryOp of SuiteSparse:GraphBLAS 9.4."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.function import Function
from hpgraph.semiring.operators import BinaryOp, Kind, Python, check_held

_PLACE = np.dtype(np.int64)


class IndexBinaryOp(BinaryOp):
    """A function of two entries and their positions, with a parameter theta.

    For `ewise_add`, `ewise_mult`, `ewise_union` and `apply`, where both entries have the same position, and as the
    multiplication of a `Semiring`: for A[i, k] and B[k, j] the arguments are ``(a, i, k, b, k, j, theta)``. The entry
    of a vector is in column 0; in `vxm` it is in row 0.

    Parameters
    ----------
    name : str
    python : function
        ``f(a, i, j, b, k, l, theta)``, the value, row and column of both entries; theta may be left out.
    result : {"returned", "bool", "index", "first", "second"}
        Type of the result: the function's return type; bool; int64; that of the first or of the second value.
    theta : number, default 0
        The parameter; `with_theta` returns the same operator with another.

    Raises
    ------
    TypeError
        If the function has another number of arguments, or theta is not a number.

    Examples
    --------
    The column in which each row has its largest entry, and of several the first:

    >>> import hpgraph as hpg
    >>> from hpgraph.semiring import IndexBinaryOp, Semiring, get_monoid
    >>> A = hpg.Matrix([[1, 7, 7], [5, 0, 2]])
    >>> weigh = IndexBinaryOp("weigh", lambda a, i, j, b, k, l, theta: theta * a - j)
    >>> best = A.mxv(hpg.Vector([1, 1, 1]), Semiring(get_monoid("max"), weigh.with_theta(100)))
    >>> (-best.values % 100).tolist()
    [1, 0]
    """

    kinds = ("returned", "bool", "index", "first", "second")

    def __init__(
        self, name: str, python: Python | Function, result: Kind = "returned", *, theta: Any = 0, swapped: bool = False
    ) -> None:
        super().__init__(name, python, result, position="places")
        if self.function.n_arguments not in (6, 7):
            raise TypeError(
                f"{name}() takes {self.function.n_arguments} arguments; an index-binary operator has "
                "(a, i, j, b, k, l) or (a, i, j, b, k, l, theta)"
            )
        held = np.asarray(theta)
        if held.ndim or held.dtype.kind not in "biufc":
            raise TypeError(f"theta must be a number, not {theta!r}")
        self.theta = held.item()
        # Whether the operands are swapped: a product has the matrix's entry first.
        self.swapped = swapped

    def with_theta(self, theta: Any) -> "IndexBinaryOp":
        """The same operator with another parameter."""
        return IndexBinaryOp(self.name, self.function, self.result, theta=theta)

    def with_operands_turned(self) -> "IndexBinaryOp":
        """The operator of a product with the vector on the left, whose kernels pass the matrix's entry first."""
        return IndexBinaryOp(self.name, self.function, self.result, theta=self.theta, swapped=not self.swapped)

    def result_dtype(self, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike) -> np.dtype:
        """The dtype of the result; `CompileError` if the function does not compile or does not return a number."""
        a, b = check_dtype(a_dtype), check_dtype(b_dtype)
        if self.swapped:
            a, b = b, a
        operands = a, _PLACE, _PLACE, b, _PLACE, _PLACE, np.asarray(self.theta).dtype
        returned = self._returns(self.function.python, operands[: self.function.n_arguments])
        return {"bool": np.dtype(bool), "index": _PLACE, "first": a, "second": b}.get(self.result, returned)

    def typed(
        self, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike, result_dtype: npt.DTypeLike | None = None
    ) -> Function:
        """Raises: the operator also needs positions."""
        raise TypeError(f"{self.name} needs the places of two entries: it serves ewise operations and semirings")

    def placed(self, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike, result_dtype: npt.DTypeLike) -> Function:
        """The operator for types of the kernel's operands, ``f(a, i, j, b, k, l)``, also if they are swapped."""
        natural, final = self.result_dtype(a_dtype, b_dtype), check_dtype(result_dtype, "result_dtype")
        check_held(natural, final, self.name)
        key = check_dtype(a_dtype), check_dtype(b_dtype), final
        if key not in self._typed:
            self._typed[key] = self._placed(natural.type, final.type)
        return self._typed[key]

    def _placed(self, natural: Any, final: Any) -> Function:
        python, theta, whole = self.function.python, self.theta, np.int64
        if self.function.n_arguments == 6:

            def given(a: Any, i: Any, j: Any, b: Any, k: Any, l: Any) -> Any:  # noqa: E741
                return final(natural(python(a, whole(i), whole(j), b, whole(k), whole(l))))
        else:

            def given(a: Any, i: Any, j: Any, b: Any, k: Any, l: Any) -> Any:  # noqa: E741
                return final(natural(python(a, whole(i), whole(j), b, whole(k), whole(l), theta)))

        return Function(given, self.name)

    def gather(self, matrix: np.dtype, vector: np.dtype, final: np.dtype) -> Python:
        """``gather(state, source, weight, target)`` of a product with the vector in `state`."""
        if self.swapped:
            left = self.with_operands_turned().placed(vector, matrix, final)
            return lambda state, source, weight, target: left(state[0][source], 0, source, weight, source, target)
        right = self.placed(matrix, vector, final)
        return lambda state, source, weight, target: right(weight, target, source, state[0][source], source, 0)

    def __call__(self, a: Any, i: int, j: int, b: Any, k: int, l: int) -> Any:  # type: ignore[override]  # noqa: E741
        """The value for two entries, as a NumPy scalar."""
        types = np.asarray(a).dtype, np.asarray(b).dtype
        with np.errstate(all="ignore"):
            return self.placed(*types, self.result_dtype(*types))(a, i, j, b, k, l)
