"""Operators, monoids and semirings, by name or as objects.

Every ``<monoid>_<operator>`` is a semiring and an attribute of this package: ``hpgraph.semiring.min_plus``. Arguments
that are operators, monoids or semirings may be given by name, and an operator as a plain Python function.

Examples
--------
>>> import hpgraph as hpg
>>> hpg.semiring.min_plus
<Semiring min_plus>
>>> hpg.semiring.get_monoid("max").identity_for("uint8")
np.uint8(0)
"""

from hpgraph.semiring.dtypes import DTYPES
from hpgraph.semiring.function import Function
from hpgraph.semiring.index_binary import IndexBinaryOp
from hpgraph.semiring.monoid import Monoid
from hpgraph.semiring.operators import BinaryOp, IndexUnaryOp, UnaryOp
from hpgraph.semiring.registry import (
    get_binary,
    get_index_unary,
    get_monoid,
    get_semiring,
    get_unary,
    register_binary,
    register_index_binary,
    register_index_unary,
    register_monoid,
    register_semiring,
    register_unary,
    semiring_names,
)
from hpgraph.semiring.semiring import Semiring

__all__ = [
    "DTYPES",
    "BinaryOp",
    "Function",
    "IndexBinaryOp",
    "IndexUnaryOp",
    "Monoid",
    "Semiring",
    "UnaryOp",
    "get_binary",
    "get_index_unary",
    "get_monoid",
    "get_semiring",
    "get_unary",
    "register_binary",
    "register_index_binary",
    "register_index_unary",
    "register_monoid",
    "register_semiring",
    "register_unary",
    "semiring_names",
]


def __getattr__(name: str) -> Semiring:
    if "_" in name and not name.startswith("_"):
        try:
            return get_semiring(name)
        except ValueError as error:
            raise AttributeError(f"module 'hpgraph.semiring' has no attribute {name!r}: {error}") from None
    raise AttributeError(f"module 'hpgraph.semiring' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *semiring_names()})
