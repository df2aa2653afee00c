"""What compilers read of a `Function`."""

from types import FunctionType
from typing import Any, Protocol


class Compilable(Protocol):
    """A Python function with its own copy of all that it refers to."""

    name: str
    python: FunctionType

    @property
    def dispatcher(self) -> Any:
        """The function as Numba's ``njit`` makes it."""

    def __hash__(self) -> int:
        """By the key."""
