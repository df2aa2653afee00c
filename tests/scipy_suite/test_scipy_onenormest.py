"""SciPy's own tests of onenormest, on our matrices."""

from substitution import adopt

# Left out: what SciPy runs only when asked, 5,000 inverses each to see how often the estimate is exact. They pass.
TABLES = ("TestOnenormest.test_onenormest_table_3_t_2", "TestOnenormest.test_onenormest_table_4_t_7")
globals().update(
    adopt(
        "scipy.sparse.linalg.tests.test_onenormest",
        ("onenormest", "_onenormest_core", "_algorithm_2_2"),
        leave=TABLES,
    )
)
