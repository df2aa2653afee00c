"""The part of a `Function` that compilers read."""

from types import FunctionType
from typing import Any, Protocol


class Compilable(Protocol):
    """A Python function with its own copy of everything that it references."""

    name: str
    python: FunctionType

    @property
    def dispatcher(self) -> Any:
        """The function compiled by Numba's ``njit``."""

    def __hash__(self) -> int:
        """The hash of the key."""
