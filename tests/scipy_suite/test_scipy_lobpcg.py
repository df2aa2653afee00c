"""SciPy's own tests of lobpcg, on our matrices."""

from substitution import adopt

# Left out: a test of an inner function, which takes no A.
globals().update(
    adopt("scipy.sparse.linalg._eigen.lobpcg.tests.test_lobpcg", ("lobpcg",), leave=("test_b_orthonormalize",))
)
