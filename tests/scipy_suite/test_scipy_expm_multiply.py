"""SciPy's own tests of expm_multiply, on our matrices."""

from substitution import adopt

# Left out for the sake of time: 144 pairs of types, complex ones among them; and intervals of a dense A in all their
# forms, of which those of a sparse A make the same products.
globals().update(
    adopt(
        "scipy.sparse.linalg.tests.test_expm_multiply",
        ("expm_multiply",),
        leave=(
            "test_expm_multiply_dtype",
            "TestExpmActionInterval.test_expm_multiply_interval_vector",
            "TestExpmActionInterval.test_expm_multiply_interval_matrix",
        ),
    )
)
