"""SciPy's own tests of csr_array, run on Matrix; they are imported from the installed SciPy, not copied.

Every test of ``scipy/sparse/tests/test_base.py::TestCSR`` runs but for those in `LEFT_OUT`, through the value types
that Matrix has, so extended ones are missing.
"""

from typing import Any, ClassVar

import numpy as np
import pytest
import scipy

import hpgraph as hpg
from hpgraph.formats.checks import VALUE_DTYPES

base = pytest.importorskip("scipy.sparse.tests.test_base", reason="SciPy was installed without its tests")

ONE_DIMENSION = "asks for SciPy's class where a result of one dimension is a Vector"
MADE_CANONICAL = "a Matrix is sorted and free of duplicates from the start, and its flags say so"
INSIDE = "looks into __dict__ for the arrays of SciPy's class"
SHOWN = "a Matrix is shown in its own words"

LEFT_OUT = {
    "test_constructor1_base": INSIDE, "test_constructor_smallcol": "64-bit ids that fit 32 bits are stored in 32",
    "test_copy": "tocsr() gives SciPy's class, not the matrix itself",
    "test_dtype_check": "an unfit type of values is a TypeError, not a ValueError",
    "test_has_canonical_format": MADE_CANONICAL, "test_has_sorted_indices": MADE_CANONICAL,
    "test_inplace_dense": "array *= A writes to the array; SciPy binds the name to a sparse one",
    "test_minmax_container_type": ONE_DIMENSION, "test_nanminmax": ONE_DIMENSION, "test_pickle": INSIDE,
    "test_repr": SHOWN, "test_resize": ONE_DIMENSION, "test_str": SHOWN, "test_str_maxprint": SHOWN,
}  # fmt: skip
if np.lib.NumpyVersion(scipy.__version__) < "1.17.0":
    LEFT_OUT |= dict.fromkeys(
        ("test_ellipsis_fancy_bool", "test_fancy_indexing", "test_set_slice"),
        "indices that do not fit raise what SciPy 1.17 raises",
    )
# Each type, and each pair of types, compiles kernels of its own, so a few stand for all: tests/test_matrix.py and
# tests/semiring hold every type against NumPy.
OF_PAIRS = ("test_add_sub", "test_elementwise_multiply", "test_mu", "test_fancy_assignment_dtypes")


def _left_out(reason: str) -> Any:
    @pytest.mark.skip(reason=reason)
    def test(self: Any) -> None:
        """Never run."""

    return test


class TestMatrix(type("Kept", (base.TestCSR,), {name: _left_out(reason) for name, reason in LEFT_OUT.items()})):
    math_dtypes: ClassVar[list[Any]] = [np.bool_, np.float64, np.complex128]

    @classmethod
    def spcreator(cls, *args: Any, **kwargs: Any) -> Any:
        return hpg.Matrix(*args, **kwargs)

    # What the tests of CSR's own methods make their matrices with.
    csr_container = spcreator

    @pytest.fixture(autouse=True)
    def _few_pairs(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        if request.node.originalname in OF_PAIRS:
            monkeypatch.setattr(base, "supported_dtypes", [np.bool_, np.float64])
        if request.node.originalname in ("test_maximum_minimum", "test_lt", "test_gt"):
            # Each with int8, float64 and complex128; test_complex.py has the order of complex numbers.
            monkeypatch.setattr(type(self), "math_dtypes", [np.float64])
            monkeypatch.setattr(type(self), "checked_dtypes", {np.bool_, np.float64})

    @classmethod
    def setup_class(cls) -> None:
        cls.before = base.supported_dtypes
        base.supported_dtypes = [dtype.type for dtype in VALUE_DTYPES]
        cls.init_class()
        cls.checked_dtypes = set(cls.math_dtypes)
        cls.is_array_test = True

    @classmethod
    def teardown_class(cls) -> None:
        base.supported_dtypes = cls.before


def test_what_is_left_out_exists() -> None:
    assert all(hasattr(base.TestCSR, name) for name in LEFT_OUT)
