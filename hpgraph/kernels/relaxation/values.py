"""A relaxation's functions over values instead of arrays, for kernels that keep a vertex's values in registers.

A relaxation has one property, so a vertex is its id and the value of one source.
"""

from functools import lru_cache
from typing import NamedTuple

from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function

_ARC = "u, source, weight, v, target"


class ValueFunctions(NamedTuple):
    """Functions over values of one source: message of an arc, join of two, and whether one passes the conditions."""

    gather: Function
    reduce: Function
    allows: Function


@lru_cache(maxsize=256)
def value_functions(code: ProgramCode) -> ValueFunctions:
    """The functions of a program of one property, over values; cached."""
    source, target = "Vertex(u, source)", "Vertex(v, target)"
    gather = code.wrap(
        "gather_value", _ARC, f"return cast(gather({source}, weight, {target}))",
        gather=code.gather, cast=code.message.type,
    )  # fmt: skip
    asked, names = [], {}
    if code.cond is not None:
        asked.append(f"cond({target})")
        names["cond"] = code.cond
    if code.edge_cond is not None:
        asked.append(f"edge_cond({source}, weight, {target})")
        names["edge_cond"] = code.edge_cond
    allows = code.wrap("allows_value", _ARC, f"return bool({' and '.join(asked) or True})", **names)
    return ValueFunctions(gather, functions_of(code).reduce, allows)
