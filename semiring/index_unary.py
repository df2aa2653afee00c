"""Index-unary operators (GraphBLAS's GrB_IndexUnaryOp): a function of an entry's value, row, column, and a thunk."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.function import Function
from hpgraph.semiring.operators import Kind, Op, Python, check_held


class IndexUnaryOp(Op):
    """A function of an entry and of where it stands, with a parameter that is called thunk.

    Parameters
    ----------
    name : str
    python : function
        ``f(a, i, j, thunk)`` with value, row and column, or ``f(a, i, j)``, ``f(a, thunk)``, ``f(a)``.
    result : {"returned", "same", "bool", "index"}
        Type of the result: what the function returns; that of the value; bool; int64.
    cpp : str, optional
        Name of the equivalent in ``index_unary.cuh``; without it the GPU uses `python`.

    Examples
    --------
    >>> from hpgraph.semiring import get_index_unary
    >>> get_index_unary("diagindex")(7.5, 2, 5)
    np.int64(3)
    """

    kinds = ("returned", "same", "bool", "index")

    def __init__(
        self, name: str, python: Python | Function, result: Kind = "returned", *, cpp: str | None = None
    ) -> None:
        super().__init__(name, python, result, cpp=cpp)
        if not 1 <= self.function.n_arguments <= 4:
            raise TypeError(
                f"{name}() takes {self.function.n_arguments} arguments; an index-unary operator has (value), "
                "(value, thunk), (value, row, column) or (value, row, column, thunk)"
            )

    @property
    def uses_position(self) -> bool:
        """Whether the function is given row and column."""
        return self.function.n_arguments > 2

    def result_dtype(self, dtype: npt.DTypeLike, thunk_dtype: npt.DTypeLike = np.int64) -> np.dtype:
        """The dtype of the result for a value and a thunk of these dtypes.

        Raises
        ------
        CompileError
            If it is a user's, and does not compile for them or returns no number.
        """
        given, thunk = check_dtype(dtype), check_dtype(thunk_dtype)
        if self.is_users:
            place = np.dtype(np.int64)
            operands = {1: (given,), 2: (given, thunk), 3: (given, place, place)}
            taken = operands.get(self.function.n_arguments, (given, place, place, thunk))
            returned = self._returns(self.function.python, taken)
            if self.result == "returned":
                return returned
        return {"bool": np.dtype(bool), "index": np.dtype(np.int64)}.get(self.result, given)

    def typed(
        self, dtype: npt.DTypeLike, thunk_dtype: npt.DTypeLike = np.int64, result_dtype: npt.DTypeLike | None = None
    ) -> Function:
        """The operator for one type of values, as a `Function` for kernels.

        Returns
        -------
        Function
            ``f(a, i, j, thunk)``.
        """
        natural = self.result_dtype(dtype, thunk_dtype)
        final = natural if result_dtype is None else check_dtype(result_dtype, "result_dtype")
        check_held(natural, final, self.name)
        key = (check_dtype(dtype), check_dtype(thunk_dtype), final)
        if key not in self._typed:
            python = self.function.python
            self._typed[key] = _convert_index_unary(
                self.name, python, self.function.n_arguments, natural.type, final.type
            )
        return self._typed[key]

    def __call__(self, a: Any, i: int = 0, j: int = 0, thunk: Any = 0) -> Any:
        """The value for a scalar at a place, as a NumPy scalar."""
        with np.errstate(all="ignore"):
            return self.typed(np.asarray(a).dtype, np.asarray(thunk).dtype)(a, i, j, thunk)


def _convert_index_unary(name: str, python: Python, arguments: int, natural: Any, final: Any) -> Function:
    # What is computed in the type of the values is rounded to it before it is converted.
    if arguments == 1:
        return Function(lambda a, i, j, thunk: final(natural(python(a))), name)
    if arguments == 2:
        return Function(lambda a, i, j, thunk: final(natural(python(a, thunk))), name)
    if arguments == 3:
        return Function(lambda a, i, j, thunk: final(natural(python(a, i, j))), name)
    return Function(lambda a, i, j, thunk: final(natural(python(a, i, j, thunk))), name)
