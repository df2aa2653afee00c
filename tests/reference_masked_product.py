"""GraphBLAS's masked product with dictionaries: an index that is not a key is an absent entry."""

from collections.abc import Callable
from typing import Any

Entries = dict[tuple[int, int], float]
Sparse = dict[int, float]
Binary = Callable[[Any, Any], Any]


def mxv(A: Entries, x: Sparse, add: Binary, multiply: Callable[[Any, Any, int, int], Any]) -> Sparse:
    """t = A ⊕.⊗ x; `multiply` is told the row and the column of the matrix's entry too."""
    t: Sparse = {}
    for (i, j), a in sorted(A.items()):
        if j in x:
            product = multiply(a, x[j], i, j)
            t[i] = add(t[i], product) if i in t else product
    return t


def write(out: Sparse, t: Sparse, allowed: set[int], accum: Binary | None) -> Sparse:
    """out⟨allowed⟩ accum= t, without replacing what the mask leaves out."""
    result = {i: value for i, value in out.items() if i not in allowed or accum is not None}
    for i in allowed & t.keys():
        result[i] = accum(out[i], t[i]) if accum is not None and i in out else t[i]
    return result
