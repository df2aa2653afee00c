"""SciPy's own tests of csgraph, as installed with it, with our functions in place of SciPy's."""

import importlib
import importlib.util
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hpgraph import csgraph

SUITE = "scipy.sparse.csgraph.tests"
MODULES = (
    "test_connected_components", "test_conversions", "test_flow", "test_graph_laplacian", "test_matching",
    "test_reordering", "test_shortest_path", "test_spanning_tree", "test_traversal",
)  # fmt: skip
if importlib.util.find_spec(SUITE) is None:
    pytest.skip("SciPy was installed without its tests", allow_module_level=True)


class OurCsgraph(types.ModuleType):
    """`scipy.sparse.csgraph` with our functions where there are any."""

    def __getattr__(self, name: str) -> Any:
        import scipy.sparse.csgraph

        return getattr(csgraph if name in csgraph.__all__ else scipy.sparse.csgraph, name)


def with_our_functions(name: str) -> Iterator[Callable[..., None]]:
    module = importlib.import_module(f"{SUITE}.{name}")
    for function in csgraph.__all__:
        if hasattr(module, function):
            setattr(module, function, getattr(csgraph, function))
    if hasattr(module, "csgraph"):
        module.csgraph = OurCsgraph("csgraph")
    for test, value in vars(module).items():
        if test.startswith(("test_", "Test")):
            yield value


for _module in MODULES:
    for _test in with_our_functions(_module):
        globals()[f"{_test.__name__}_of_{_module}"] = _test


def test_that_our_functions_are_what_is_tested() -> None:
    module = importlib.import_module(f"{SUITE}.test_shortest_path")
    assert module.dijkstra is csgraph.dijkstra
    assert sum(name.endswith("_of_test_shortest_path") for name in globals()) >= 25
