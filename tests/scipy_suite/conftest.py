"""SciPy marks its tests in ways of its own."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    own = ("fail_slow", "thread_unsafe", "parallel_threads", "parallel_threads_limit", "slow", "xslow")
    for name in (*own, "skip_xp_backends"):
        config.addinivalue_line("markers", f"{name}: a mark of SciPy's tests")


@pytest.fixture
def num_parallel_threads() -> int:
    """What SciPy's tests ask pytest-run-parallel for."""
    return 1
