"""NumPy's dtypes and scalars as C++ types and literals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.dtypes import check_dtype

_C_TYPES = {
    np.dtype(name): text
    for name, text in {
        "bool": "bool",
        "int8": "signed char",
        "int16": "short",
        "int32": "int",
        "int64": "long long",
        "uint8": "unsigned char",
        "uint16": "unsigned short",
        "uint32": "unsigned int",
        "uint64": "unsigned long long",
        "float32": "float",
        "float64": "double",
        "complex64": "hpgraph::op::complex<float>",
        "complex128": "hpgraph::op::complex<double>",
    }.items()
}


def c_type(dtype: npt.DTypeLike) -> str:
    """The C++ type of a dtype.

    Parameters
    ----------
    dtype : dtype-like

    Returns
    -------
    str

    Examples
    --------
    >>> c_type("uint16")
    'unsigned short'
    """
    return _C_TYPES[check_dtype(dtype)]


def c_literal(value: np.generic) -> str:
    """A NumPy scalar as a C++ expression of the same type and the same bits.

    Parameters
    ----------
    value : numpy scalar

    Returns
    -------
    str

    Examples
    --------
    >>> c_literal(np.int8(-128)), c_literal(np.float32(0.1))
    ('((signed char)-128LL)', '((float)0x1.99999a0000000p-4)')
    """
    kind = c_type(value.dtype)
    if value.dtype.kind == "b":
        return "true" if value else "false"
    if value.dtype.kind == "u":
        return f"(({kind}){int(value)}ULL)"
    if value.dtype.kind == "i":
        # The smallest int64 cannot be written: C++ reads the sign apart from the digits.
        return f"(({kind})(-{-int(value) - 1}LL - 1LL))" if int(value) == -(2**63) else f"(({kind}){int(value)}LL)"
    if value.dtype.kind == "c":
        return f"{kind}({c_literal(value.real)}, {c_literal(value.imag)})"
    if np.isfinite(value):
        return f"(({kind}){float(value).hex()})"
    return f"(({kind})__longlong_as_double({np.float64(value).view(np.int64)}LL))"
