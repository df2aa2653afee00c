"""Fixtures of all tests: the devices to run on and the folder of real graphs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hpgraph.core.device import cuda_available


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> str:
    """Each device in turn; one test body serves both."""
    if request.param == "cuda" and not cuda_available():
        pytest.skip("no CUDA GPU here")
    return str(request.param)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real graphs, named by HPGRAPH_DATA."""
    folder = os.environ.get("HPGRAPH_DATA")
    if not folder:
        pytest.skip("HPGRAPH_DATA names no folder of graphs")
    path = Path(folder)
    # A folder that was named and is not there is a mistake, not a reason to pass over the tests.
    assert path.is_dir(), f"HPGRAPH_DATA={folder} is not a folder"
    return path
