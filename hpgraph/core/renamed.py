"""Arguments under the names that they had a minor version ago."""

import warnings
from typing import TypeVar

T = TypeVar("T")


def renamed(former: str, name: str, given: T, stacklevel: int = 4) -> T:
    """What was `given` under a former name: by default for an argument of a function under `naming_arguments`."""
    message = f"{former} is called {name} now: 0.3 removes the former name"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
    return given


def gathers(apart: bool) -> bool:
    """`gather`, where it was given under its former name; for functions under `naming_arguments`."""
    warnings.warn("apart is called gather now: apart=True is gather=False", DeprecationWarning, stacklevel=4)
    return not apart
