"""Fixtures of all tests: the devices to run on and the folder of real graphs."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hpgraph.core.device import cuda_available

# Files that take tens of seconds with an empty cache, the longest first. To several processes a file is one piece of
# work, and one that begins last keeps all of them waiting. What is not listed follows, in the usual order.
LONGEST = (
    "test_doctests.py", "test_notebooks.py", "algebra/test_mxm.py", "algebra/test_against_graphblas.py",
    "test_benchmark_commands.py", "test_warmup.py", "kernels/test_lanes_compile.py", "scipy_suite/test_csr_array.py",
    "algorithms/test_triangles.py", "engine/test_run.py", "engine/test_stale.py", "engine/test_streaming.py",
    "kernels/test_product.py", "algebra/test_elementwise.py", "algebra/test_mxm_against_graphblas.py",
    "engine/test_edge_programs.py", "test_complex.py", "algorithms/test_sssp.py", "test_interrupt.py",
    "algorithms/test_in_pages.py", "algorithms/test_pagerank.py", "fuzz/test_compiled_code.py", "test_mxv.py",
    "kernels/test_edges_compile.py", "kernels/test_traversal_compile.py", "cluster/test_faults.py",
    "kernels/test_cpu_cache.py", "engine/test_forms.py", "algebra/test_types_of_functions.py",
    "algorithms/test_centrality.py", "cluster/test_algorithms.py", "test_cache_folder.py",
    "test_concurrency.py", "cli/test_cli.py",
)  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected lives as long as the process: no collection of garbage looks through 15,000 tests.

    Nor again and again while they are collected.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


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


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt; what a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
