"""SciPy's own tests of lobpcg, on our matrices."""

import numpy as np
import pytest
from substitution import adopt

# Left out: a test of an inner function, which takes no A, and types of diagonals, whose pairs each compile a product.
LEFT_OUT = ("test_b_orthonormalize", "test_diagonal_data_types")
tests = adopt("scipy.sparse.linalg._eigen.lobpcg.tests.test_lobpcg", ("lobpcg",), leave=LEFT_OUT)
# Each pair of types compiles a product of its own: a few stand for SciPy's 72.
FEW = {"vdtype": [np.float32, np.float64, np.complex128], "mdtype": [np.int32, np.float32, np.complex64]}
marks = [mark for mark in tests["test_dtypes"].pytestmark if mark.args[0] not in FEW]
tests["test_dtypes"].pytestmark = [*marks, *(pytest.mark.parametrize(*pair).mark for pair in FEW.items())]
globals().update(tests)
