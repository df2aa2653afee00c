"""How what stands below `hpgraph.Matrix` and `hpgraph.Vector` makes one, and how a graph is saved.

The classes are put together above the operations that are their methods (`hpgraph.scipy_api`); operations make them
here, of classes that the package hands down: `hpgraph/__init__.py` says how they are loaded.
"""

import functools
from collections.abc import Callable
from typing import Any

_load: Callable[[str], Any]


def register_loader(load: Callable[[str], Any]) -> None:
    """Say how what bears a public name is loaded: called once, by the package."""
    global _load
    _load = load


@functools.cache
def _public(name: str) -> Any:
    return _load(name)


def save_graph(graph: Any, path: Any, **options: Any) -> None:
    """``hpgraph.io.write(graph, path)``, which stands above graphs."""
    _public("io").write(graph, path, **options)


def edges_given(data: Any, source: Any, target: Any, weight: Any, names: Any) -> dict[str, Any] | None:
    """``hpgraph.interop.edges_given(...)``: other libraries' tables and graphs, which are known above graphs."""
    return _public("interop").edges_given(data, source, target, weight, names)


def columns_given(data: Any) -> dict[Any, Any] | None:
    """``hpgraph.interop.columns_given(data)``: the columns of a table by title."""
    return _public("interop").columns_given(data)


def divide_graph(graph: Any, devices: Any) -> Any:
    """A `hpgraph.DividedGraph`, which is a `Graph` itself."""
    return _public("DividedGraph").of(graph, devices)


def divide_matrix(matrix: Any, devices: Any) -> Any:
    """A `hpgraph.DividedMatrix`."""
    return _public("DividedMatrix").of(matrix, devices)


def make_matrix(source: Any) -> Any:
    """``hpgraph.Matrix(source)``."""
    return _public("Matrix")(source)


def matrix_of_csr(csr: Any) -> Any:
    """The Matrix of a CSR that is known to have sorted rows free of duplicates."""
    return _public("Matrix")._of(csr)


def make_vector(values: Any, present: Any = None) -> Any:
    """``hpgraph.Vector(values, present)``."""
    return _public("Vector")(values, present)


def vector_of_values(values: Any, present: Any = None) -> Any:
    """The Vector of an array that serves as it is: one dimension, a type of values, native byte order."""
    return object.__new__(_public("Vector"))._set_dense(values, present)


def vector_of_entries(indices: Any, values: Any, size: int, before: str = "list") -> Any:
    """The Vector of entries whose indices rise, which were kept in the format `before`."""
    return _public("Vector")._of(indices, values, size, before=before)
