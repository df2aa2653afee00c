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
def public(name: str) -> Any:
    """What bears a public name: a class, or a package that stands above."""
    return _load(name)


def make_matrix(source: Any) -> Any:
    """``hpgraph.Matrix(source)``."""
    return public("Matrix")(source)


def matrix_of_csr(csr: Any) -> Any:
    """The Matrix of a CSR that is known to have sorted rows free of duplicates."""
    return public("Matrix")._of(csr)


def make_vector(values: Any, present: Any = None) -> Any:
    """``hpgraph.Vector(values, present)``."""
    return public("Vector")(values, present)


def vector_of_values(values: Any, present: Any = None) -> Any:
    """The Vector of an array that serves as it is: one dimension, a type of values, native byte order."""
    return object.__new__(public("Vector"))._set_dense(values, present)


def vector_of_entries(indices: Any, values: Any, size: int, before: str = "list") -> Any:
    """The Vector of entries whose indices rise, which were kept in the format `before`."""
    return public("Vector")._of(indices, values, size, before=before)
