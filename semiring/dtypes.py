"""The value types that kernels support."""

import numpy as np
import numpy.typing as npt

from hpgraph.core.number import value_type

DTYPES = tuple(
    np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "complex64", "complex128",
    )
)  # fmt: skip


def check_dtype(dtype: npt.DTypeLike, argument: str = "dtype", *, real: bool = False) -> np.dtype:
    """The dtype as a NumPy object, checked to be supported by kernels."""
    found = value_type(dtype, argument).newbyteorder("=")
    if found not in DTYPES or (real and found.kind == "c"):
        names = ", ".join(d.name for d in DTYPES if not (real and d.kind == "c"))
        hint = "take .real or abs()" if found.kind == "c" else "convert with .astype"
        raise TypeError(f"{argument} is {found}; supported are {names} ({hint})")
    return found


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The type of a complex number's parts; other types themselves."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
