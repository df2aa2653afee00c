"""SciPy's own tests of onenormest, on our matrices."""

from substitution import adopt

# Left out: what SciPy runs only when asked, 5,000 inverses each to see how often the estimate is exact. They pass.
TABLES = tuple(f"TestOnenormest.test_onenormest_table_{table}" for table in ("3_t_2", "4_t_7", "6_t_2"))
globals().update(
    adopt(
        "scipy.sparse.linalg.tests.test_onenormest", ("onenormest", "_onenormest_core", "_algorithm_2_2"), leave=TABLES
    )
)
