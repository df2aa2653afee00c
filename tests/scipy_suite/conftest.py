"""What the installed SciPy's tests find in SciPy's own conftest.py: its marks, and two of its fixtures.

That file is read, not imported: it would load settings for Hypothesis and change how processes start, for all tests.
"""

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy


def pytest_configure(config: pytest.Config) -> None:
    theirs = Path(scipy.__file__).with_name("conftest.py")
    # Distributions may leave it out along with the tests.
    source = theirs.read_text(encoding="utf-8") if theirs.exists() else ""
    for name in re.findall(r"""addinivalue_line\(\s*["']markers["'],\s*\(*["'](\w+)""", source):
        config.addinivalue_line("markers", f"{name}: a mark of SciPy's tests")


@pytest.fixture
def num_parallel_threads() -> int:
    """What SciPy's tests ask pytest-run-parallel for."""
    return 1


@pytest.fixture
def xp() -> ModuleType:
    """The array library, in SciPy's tests that run on several."""
    return np
