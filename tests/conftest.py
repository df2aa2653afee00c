"""Fixtures of all tests: the devices to run on and the folder of real graphs."""

import gc
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hpgraph.core.device import cuda_available

# Files that take tens of seconds with an empty cache, the longest first. To several processes a file is one piece of
# work, and one that begins last keeps all of them waiting. Files that begin together compile different kernels: the
# same would be compiled by each process. What is not listed follows, in the usual order.
LONGEST = (
    "test_docs.py", "algebra/test_against_graphblas.py", "test_doctests.py", "test_warmup.py",
    "engine/test_placements.py", "algorithms/test_triangles.py", "scipy_suite/test_csr_array.py", "engine/test_run.py",
    "algebra/test_mxm.py", "algorithms/test_distances.py", "algorithms/test_communities.py", "test_complex.py",
    "kernels/test_kernels_compile.py", "cli/test_cli.py", "test_interrupt.py", "algebra/test_mxv.py",
    "test_notebooks.py", "test_benchmark_commands.py", "interop/test_torch_messages.py",
    "interop/test_torch_examples.py", "algorithms/test_betweenness.py", "interop/test_torch.py",
    "kernels/test_edges_compile.py", "test_out_of_bounds.py", "algorithms/test_sssp.py", "algebra/test_elementwise.py",
    "engine/test_concurrent_runs.py", "engine/test_divided.py", "kernels/test_multi_source_compile.py",
    "engine/test_streaming.py", "io/test_convert.py",
    "engine/test_edge_programs.py", "engine/test_forms.py", "semiring/test_operators.py", "engine/test_stale.py",
    "io/test_untrusted.py", "test_threads.py", "kernels/test_cpu_cache.py", "csgraph/test_against_scipy.py",
    "engine/test_joint_traversal.py", "interop/test_networkx_backend.py", "test_cache_folder.py",
    "algebra/test_types_of_functions.py", "algorithms/test_in_pages.py", "algorithms/test_similarity.py",
    "engine/test_streaming_memory.py", "kernels/test_windows_compile.py", "io/test_replace.py",
    "engine/test_buckets.py", "kernels/test_programs_compile.py", "algorithms/test_sssp_lanes.py",
)  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected lives as long as the process: no collection of garbage looks through 15,000 tests.

    Nor again and again while they are collected, or compiled code makes and drops objects by the hundred.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tests of the public interface alone, which hold whatever becomes of the library's inside."""
    parser.addoption("--public", action="store_true", help="frozen tests alone, each with its first parameters")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest files."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
    if config.getoption("public"):
        first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
        config.hook.pytest_deselected(items=[item for item in items if item not in first.values()])
        items[:] = sorted(first.values(), key=items.index)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of the files of tests only the frozen ones, where these are asked for; None leaves the choice to pytest."""
    asked = config.getoption("public") and collection_path.suffix == ".py"
    return True if asked and not is_public(collection_path) else None


# What users import; tests ask `core.device` where arrays lie, and `core.errors` has errors that users meet.
PUBLIC = {
    "cli", "cluster", "core.device", "core.errors", "csgraph", "datasets", "formats", "io", "linalg", "semiring", "viz"
}  # fmt: skip


def is_public(path: Path) -> bool:
    """Whether a test file imports only the public interface, patches nothing and starts no process: it is frozen."""
    text = path.read_text(encoding="utf-8")
    modules = set(re.findall(r"^\s*(?:from|import) hpgraph\.?([\w.]*)", text, re.MULTILINE))
    others = r"monkeypatch\.set(attr|item)|patch\.object|subprocess|new_process|nbclient"
    return bool(modules) and modules <= {"", *PUBLIC} and not re.search(others, text)


def pytest_report_header() -> str | None:
    """Tests that are not there are not seen among those skipped: 4,500 without a GPU."""
    return None if cuda_available() else "no CUDA GPU here: tests that take a device run on the CPU alone"


@pytest.fixture(params=["cpu", "cuda"] if cuda_available() else ["cpu"])
def device(request: pytest.FixtureRequest) -> str:
    """Each device in turn; one test body serves both."""
    if request.param == "cuda" and not cuda_available():
        pytest.skip("no CUDA GPU here")
    return str(request.param)


# Files of tests in which kernels with parallel loops run as on large graphs; elsewhere few entries take one thread.
_IN_PARALLEL = {
    "test_bfs", "test_communities", "test_forms", "test_graph", "test_graph_parts", "test_graph_sets", "test_greedy",
    "test_matrix_products", "test_nearest_neighbors", "test_pagerank_lanes", "test_random_graphs", "test_run",
    "test_similarity", "test_spanning_forest", "test_torch", "test_torch_transforms",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _parallel_loops(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ in _IN_PARALLEL:
            patch.setattr("hpgraph.kernels.runtime.cpu.kernel.ParallelKernel.serial", 0)
        yield


@pytest.fixture
def gpu() -> str:
    """The GPU, for what the CPU has no counterpart of."""
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    return "cuda"


@pytest.fixture
def two_gpus(gpu: str) -> None:
    """Skips where there are not two."""
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU alone")


@pytest.fixture(params=[["cpu", "cpu"], ["cuda", "cuda"], ["cuda:0", "cuda:1"]], ids=["cpu", "cuda", "two GPUs"])
def places(request: pytest.FixtureRequest) -> list[str]:
    """Where two parts lie."""
    if request.param[0] == "cuda" and not cuda_available():
        pytest.skip("no CUDA GPU here")
    if request.param[1] == "cuda:1":
        request.getfixturevalue("two_gpus")
    return list(request.param)


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
