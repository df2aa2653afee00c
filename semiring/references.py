"""References in the code of a function, and properties of the referenced values."""

import ctypes
import dis
import enum
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np

# Numba compiles functions of these packages from their names, never from their Python bodies.
_KNOWN_BY_NAME = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator"})
# Names that compiled functions may call as ``hpgraph.name``; other names are not resolved: `vertex.id` is not
# `hpgraph.id`.
OWN_NAMES = frozenset({"random_bits", "uniform", "uniform32"})
# Types whose values never change.
ATOMS = frozenset({NoneType, EllipsisType, bool, int, float, complex, str, bytes})
# The file of functions that this library writes, and the folder of its own.
GENERATED = "<hpgraph>"
_LIBRARY = str(Path(__file__).parents[1])
# Marks a missing global: a built-in name of Python, or an error.
MISSING = object()


def global_names(code: CodeType) -> tuple[str, ...]:
    """Names that a code object, or one nested in it, loads from the globals, sorted."""
    return _global_names(code)


@lru_cache(maxsize=1024)
def _global_names(code: CodeType) -> tuple[str, ...]:
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_global_names(constant))
    return tuple(sorted(names))


def attribute_names(code: CodeType) -> set[str]:
    """Names that a code object, or one nested in it, may read as attributes."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= attribute_names(constant)
    return names


def is_known(module: str) -> bool:
    """Whether Numba compiles the functions of this module from their names."""
    return module.partition(".")[0] in _KNOWN_BY_NAME


def is_known_by_name(value: Any) -> bool:
    """Whether Numba compiles this object from its name (``math.sqrt``, ``np.minimum``) rather than from a body."""
    return is_known(getattr(value, "__module__", None) or type(value).__module__)


def is_of_user(function: FunctionType) -> bool:
    """Whether a function is not part of this library, whose own indices are correct."""
    file = function.__code__.co_filename
    return not (file == GENERATED or file.startswith(_LIBRARY))


def inner_function(value: Any) -> FunctionType | None:
    """The plain function inside a `Function` or a Numba dispatcher; a plain function itself; otherwise None."""
    if isinstance(value, FunctionType):
        return value
    for name in ("python", "py_func"):
        inner = getattr(value, name, None)
        if isinstance(inner, FunctionType):
            return inner
    return None


def is_numba_ufunc(value: Any) -> bool:
    """Whether it is the result of ``@numba.vectorize`` or ``@numba.guvectorize``."""
    return type(value).__module__.startswith("numba.") and type(value).__name__ in ("DUFunc", "GUFunc")


def is_numba_type(value: Any) -> bool:
    """Whether it is a Numba type, which its string identifies."""
    root = "numba.core.types.abstract", "Type"
    return any((kind.__module__, kind.__name__) == root for kind in type(value).__mro__)


def is_handle(value: Any) -> bool:
    """Whether it is machine code at an address: immutable, and invalid in another process."""
    if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return True
    return (type(value).__module__, type(value).__name__) == ("numba.core.ccallback", "CFunc")


def is_named(value: Any) -> bool:
    """Whether its name identifies it: a function of a compiled extension or of a package that Numba knows."""
    if isinstance(value, BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, ModuleType)
    if isinstance(value, np.ufunc):
        return True
    # A function of a known package, not an object whose class is of that package (a dispatcher).
    return callable(value) and is_known_by_name(value) and hasattr(value, "__name__") and not hasattr(value, "py_func")


def is_readable_type(value: Any) -> bool:
    """Whether name and members identify the class: Numba's and NumPy's, named tuples, enums, exceptions."""
    if not isinstance(value, type):
        return False
    if is_known(value.__module__) or issubclass(value, (enum.Enum, BaseException)):
        return True
    return issubclass(value, tuple) and hasattr(value, "_fields")


def is_constant(value: Any) -> bool:
    """Whether the object is readable and immutable."""
    return (
        type(value) in ATOMS
        or (isinstance(value, np.generic) and not isinstance(value, np.void))
        or isinstance(value, (np.dtype, enum.Enum))
        or (isinstance(value, ModuleType) and is_known(value.__name__))
        or is_readable_type(value)
        or is_handle(value)
        or is_numba_type(value)
        or is_named(value)
    )
