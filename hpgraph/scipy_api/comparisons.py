"""Comparisons of a Matrix, as SciPy's sparse arrays have them: a sparse matrix of bool wherever that is sparse."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from hpgraph.algebra.mask import without_zeros
from hpgraph.algebra.operands import is_number
from hpgraph.scipy_api.arithmetic import Arithmetic, warn_of_density

# Each operator's name in the algebra, its sign, and the sign of its negation.
_NAMES: dict[Callable[[Any, Any], Any], tuple[str, str, str]] = {
    operator.eq: ("eq", "==", "!="),
    operator.ne: ("ne", "!=", "=="),
    operator.lt: ("lt", "<", ">="),
    operator.le: ("le", "<=", ">"),
    operator.gt: ("gt", ">", "<="),
    operator.ge: ("ge", ">=", "<"),
}


class Comparisons(Arithmetic):
    """``== != < <= > >=`` of a `Matrix` and a number, an array or a sparse matrix."""

    # As for any class with entry-by-entry comparison.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def _compare(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        op, sign, negation = _NAMES[function]
        if is_number(other):
            if not bool(function(0, other)):
                return self._with(without_zeros(self._map(lambda data: function(data, other)).csr))
            warn_of_density(f"A {sign} {other} holds where A has no entry: A {negation} {other} is sparse", 4)
            return type(self)(function(self.toarray(), other))
        other = self._beside(other)
        if other is NotImplemented:
            return other
        if not isinstance(other, Arithmetic):
            return function(self.toarray(), other)
        if other.shape != self.shape:
            if function in (operator.eq, operator.ne):
                return function is operator.ne
            raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}")
        if not function(0, 0):
            return self._union(other, op)
        warn_of_density(f"A {sign} B holds where neither has an entry: A {negation} B is sparse", 4)
        return type(self)(function(self.toarray(), other.toarray()))
