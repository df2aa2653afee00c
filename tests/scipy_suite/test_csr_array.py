"""SciPy's own tests of csr_array, run on Matrix; they are imported from the installed SciPy, not copied.

Every test of ``scipy/sparse/tests/test_base.py::TestCSR`` runs but for those in `LEFT_OUT`, with two changes. They go
through the value types that Matrix has, so complex and extended ones are missing; and where a test makes a complex
matrix among others, that one is SciPy's, which also shows the two classes in one expression.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.formats.checks import VALUE_DTYPES

base = pytest.importorskip("scipy.sparse.tests.test_base", reason="SciPy was installed without its tests")

COMPLEX = "joins a Matrix with complex values, which it refuses by name"
ONE_DIMENSION = "asks for SciPy's class where a result of one dimension is a Vector"
MADE_CANONICAL = "a Matrix is sorted and free of duplicates from the start, and its flags say so"
INSIDE = "looks into __dict__ for the arrays of SciPy's class"
SHOWN = "a Matrix is shown in its own words"

LEFT_OUT = {
    "test_add_sub": COMPLEX,
    "test_constructor1_base": INSIDE,
    "test_constructor_smallcol": "64-bit ids that fit 32 bits are stored in 32",
    "test_copy": "tocsr() gives SciPy's class, not the matrix itself",
    "test_dtype_check": "an unfit type of values is a TypeError, not a ValueError",
    "test_elementwise_multiply": COMPLEX,
    "test_has_canonical_format": MADE_CANONICAL,
    "test_has_sorted_indices": MADE_CANONICAL,
    "test_inplace_dense": "array *= A writes to the array; SciPy binds the name to a sparse one",
    "test_maximum_minimum": COMPLEX,
    "test_minmax_container_type": ONE_DIMENSION,
    "test_mu": COMPLEX,
    "test_nanminmax": ONE_DIMENSION,
    "test_pickle": INSIDE,
    "test_pow": COMPLEX,
    "test_repr": SHOWN,
    "test_resize": ONE_DIMENSION,
    "test_str": SHOWN,
    "test_str_maxprint": SHOWN,
}


def _left_out(reason: str) -> Any:
    @pytest.mark.skip(reason=reason)
    def test(self: Any) -> None:
        """Never run."""

    return test


class TestMatrix(type("Kept", (base.TestCSR,), {name: _left_out(reason) for name, reason in LEFT_OUT.items()})):
    math_dtypes: ClassVar[list[Any]] = [np.bool_, np.int_, np.float64]

    @classmethod
    def spcreator(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return hpg.Matrix(*args, **kwargs)
        except TypeError as error:
            if "not complex" not in str(error):
                raise
            return scipy.sparse.csr_array(*args, **kwargs)

    # What the tests of CSR's own methods make their matrices with.
    csr_container = spcreator

    @classmethod
    def setup_class(cls) -> None:
        cls.before = base.supported_dtypes
        base.supported_dtypes = [dtype.type for dtype in VALUE_DTYPES]
        cls.init_class()
        cls.is_array_test = True

    @classmethod
    def teardown_class(cls) -> None:
        base.supported_dtypes = cls.before


def test_what_is_left_out_exists() -> None:
    assert all(hasattr(base.TestCSR, name) for name in LEFT_OUT)
