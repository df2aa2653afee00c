"""Access to public classes from the layers below them.

`hpgraph.Matrix` and `hpgraph.Vector` are defined above the operations that are their methods (`hpgraph.scipy_api`);
operations construct them by these functions, through the loader that `hpgraph/__init__.py` registers.
"""

import functools
from collections.abc import Callable
from typing import Any

_load: Callable[[str], Any]


def register_loader(load: Callable[[str], Any]) -> None:
    """Register the loader of public names; called once, by the package."""
    global _load
    _load = load


@functools.cache
def public(name: str) -> Any:
    """The object of a public name: a class, or a package."""
    return _load(name)


def make_matrix(source: Any) -> Any:
    """``hpgraph.Matrix(source)``."""
    return public("Matrix")(source)


def matrix_of_csr(csr: Any) -> Any:
    """The Matrix of a CSR with sorted rows free of duplicates, unchecked."""
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
