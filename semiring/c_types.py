"""NumPy's dtypes and scalars as C++ types and literals."""

import numpy as np
import numpy.typing as npt

from hpgraph.core.c_types import REAL_TYPES
from hpgraph.semiring.dtypes import check_dtype

_C_TYPES = REAL_TYPES | {
    np.dtype(np.complex64): "hpgraph::op::complex<float>",
    np.dtype(np.complex128): "hpgraph::op::complex<double>",
}


def c_type(dtype: npt.DTypeLike) -> str:
    """The C++ type of a dtype."""
    return _C_TYPES[check_dtype(dtype)]


def c_literal(value: np.generic) -> str:
    """A NumPy scalar as a C++ expression of the same type and the same bits."""
    kind = c_type(value.dtype)
    if value.dtype.kind == "b":
        return "true" if value else "false"
    if value.dtype.kind == "u":
        return f"(({kind}){int(value)}ULL)"
    if value.dtype.kind == "i":
        # The smallest int64 has no literal: in C++ the sign is a separate operator.
        return f"(({kind})(-{-int(value) - 1}LL - 1LL))" if int(value) == -(2**63) else f"(({kind}){int(value)}LL)"
    if value.dtype.kind == "c":
        return f"{kind}({c_literal(value.real)}, {c_literal(value.imag)})"
    if np.isfinite(value):
        return f"(({kind}){float(value).hex()})"
    return f"(({kind})__longlong_as_double({np.float64(value).view(np.int64)}LL))"
