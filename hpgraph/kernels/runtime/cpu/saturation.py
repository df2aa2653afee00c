"""Plain sums in place of saturating ones where no sum can overflow: the checks cost a third of a product's time."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, attached
from hpgraph.semiring.arithmetic import BINARY
from hpgraph.semiring.semiring import Gather

# Entries below which a search for the vector's extremes costs more than the checks.
_SEARCH_ENTRIES = 4096


def checked_where_needed(gather: Any, rows: CSR, state: tuple[Any, ...]) -> Any:
    """The gather, with plain sums if the extremes of matrix and vector rule out overflow."""
    if not isinstance(gather, Gather) or not (gather.semiring.multiply.cpp or "").startswith("saturated_"):
        return gather
    if rows.nnz < _SEARCH_ENTRIES or state[0].size == 0:
        return gather
    name = gather.semiring.multiply.name
    kind = gather.semiring.multiply.computing_dtype(gather.matrix_dtype, gather.vector_dtype)
    if kind.kind not in "iu":
        return gather
    low, high = _extremes(rows)
    least, largest = int(state[0].min()), int(state[0].max())
    if name != "plus":
        # A difference is a sum with a negated operand.
        low, high, least, largest = (low, high, -largest, -least) if name == "minus" else (-high, -low, least, largest)
    ends = np.iinfo(kind)
    return gather.with_multiply(BINARY[name]) if ends.min <= low + least and high + largest <= ends.max else gather


@attached
def _extremes(rows: CSR) -> tuple[int, int]:
    """The least and the largest value of a matrix."""
    return (0, 1) if rows.data is None else (int(rows.data.min()), int(rows.data.max()))
