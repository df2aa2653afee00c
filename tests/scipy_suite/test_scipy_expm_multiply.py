"""SciPy's own tests of expm_multiply, on our matrices."""

from substitution import adopt

# Left out: 144 pairs of types, complex ones among them, for the sake of time.
globals().update(
    adopt("scipy.sparse.linalg.tests.test_expm_multiply", ("expm_multiply",), leave=("test_expm_multiply_dtype",))
)
