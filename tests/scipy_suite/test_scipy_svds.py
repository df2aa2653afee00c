"""SciPy's own tests of svds, on our matrices."""

from substitution import adopt

# Left out: the same tests once more, with another solver each, for the sake of time.
globals().update(
    adopt("scipy.sparse.linalg._eigen.tests.test_svds", ("svds",), leave=("Test_SVDS_PROPACK", "Test_SVDS_LOBPCG"))
)
