"""A name for what a Python function computes, the same in every process.

Compiled kernels are cached on disk under the fingerprints of the functions inlined into them, so two functions may
share one only if they compile to the same machine code. It covers the bytecode, constants and defaults, and,
recursively, whatever the function reaches through its closure and its globals: scalars, arrays, other functions,
attributes of modules. It leaves out what does not matter: line numbers, annotations, the function's own name.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import sys
import uuid
from functools import lru_cache
from importlib.metadata import version
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

# Functions of these packages are compiled from their names by Numba, never from their Python bodies.
_KNOWN_BY_NAME = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator"})
# What stands for a global that is not there: a name of Python's own, or a mistake.
_missing = object()


def fingerprint(python: FunctionType) -> str:
    """Hash of everything that decides what a function compiles to.

    Parameters
    ----------
    python : function
        A plain Python function.

    Returns
    -------
    str
        40 hexadecimal digits. A function that reaches an object whose value cannot be read gets a new one every time,
        so that nothing stale is ever found under it.

    Examples
    --------
    >>> fingerprint(lambda a, b: a + b) == fingerprint(lambda a, b: a + b)
    True
    >>> scale = 2
    >>> before = fingerprint(lambda a: a * scale)
    >>> scale = 3
    >>> fingerprint(lambda a: a * scale) == before
    False
    """
    walk = _Walk()
    walk.add("hpgraph", *_toolchain())
    walk.function(python)
    return walk.hash.hexdigest()[:40]


def at_a_glance(python: Any) -> tuple[Any, ...] | None:
    """What decides what a function compiles to, where that is seen without walking through all it refers to.

    Parameters
    ----------
    python : object

    Returns
    -------
    tuple or None
        The code of a plain function without defaults, and what it takes from its closure and its globals, if these are
        numbers and modules that Numba knows by name: equal ones have equal fingerprints. Otherwise None.
    """
    if not isinstance(python, FunctionType) or python.__defaults__ or python.__kwdefaults__:
        return None
    reached = [python.__globals__.get(name, _missing) for name in global_names(python.__code__)]
    try:
        reached += [cell.cell_contents for cell in python.__closure__ or ()]
    except ValueError:  # the enclosing function has not assigned it yet
        return None
    parts: list[Any] = [python.__code__]
    for value in reached:
        kind = type(value)
        if kind in (bool, int, float):
            # 1, 1.0 and True are equal, and so are both zeros, but they compile to different code.
            parts += (kind, repr(value))
        elif isinstance(value, np.generic):
            parts += (value.dtype, value.tobytes())
        elif value is _missing or (isinstance(value, ModuleType) and _is_known(value.__name__)):
            parts.append(value)
        else:
            return None
    return tuple(parts)


def is_known_by_name(value: Any) -> bool:
    """Whether Numba compiles this object from its name (``math.sqrt``, ``np.minimum``) rather than from a body."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return _is_known(module)


def _is_known(module: str) -> bool:
    return module.partition(".")[0] in _KNOWN_BY_NAME


def global_names(code: CodeType) -> tuple[str, ...]:
    """Names a code object, or one nested in it, looks up among the globals, sorted."""
    return tuple(sorted(_global_names(code)))


@lru_cache(maxsize=1024)
def _global_names(code: CodeType) -> frozenset[str]:
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _global_names(constant)
    return frozenset(names)


@lru_cache(maxsize=1)
def _toolchain() -> tuple[str, ...]:
    # Bytecode means what this Python says it means, and machine code is what this Numba makes of it.
    return (version("hpgraph"), version("numba"), version("numpy"), sys.version)


class _Walk:
    """One traversal: feeds the hash and remembers what it has met, since functions may refer to each other."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.met: dict[int, int] = {}

    def add(self, *parts: str | bytes) -> None:
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            self.hash.update(len(data).to_bytes(8, "little"))
            self.hash.update(data)

    def function(self, python: FunctionType) -> None:
        if id(python) in self.met:
            self.add("met", str(self.met[id(python)]))
            return
        self.met[id(python)] = len(self.met)
        self.code(python.__code__)
        self.value(python.__defaults__)
        self.value(python.__kwdefaults__)
        for name, cell in zip(python.__code__.co_freevars, python.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # the enclosing function has not assigned it yet
                self.add("empty", name)
            else:
                self.add("closure", name)
                self.value(value, python.__code__)
        for name in global_names(python.__code__):
            if name in python.__globals__:
                self.add("global", name)
                self.value(python.__globals__[name], python.__code__)
            else:
                self.add("builtin" if hasattr(builtins, name) else "missing", name)

    def code(self, code: CodeType) -> None:
        self.add("code", code.co_code, code.co_exceptiontable)
        shape = (code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self.add(repr((shape, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
        self.value(code.co_consts)

    def value(self, value: Any, code: CodeType | None = None) -> None:
        kind = type(value)
        if value is None or value is Ellipsis or kind in (bool, int, float, complex, str, bytes):
            self.add(kind.__name__, repr(value))
        elif isinstance(value, np.generic):
            self.add("scalar", value.dtype.str, value.tobytes())
        elif isinstance(value, np.dtype):
            self.add("dtype", repr(value))
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.add("array", value.dtype.str, repr(value.shape), value.tobytes())
        elif isinstance(value, enum.Enum):
            self.add("enum", kind.__qualname__, value.name)
            self.value(value.value)
        elif isinstance(value, (tuple, list, frozenset, set, dict)):
            self.container(value)
        elif isinstance(value, CodeType):
            self.code(value)
        elif isinstance(value, ModuleType):
            self.module(value, code)
        elif isinstance(value, type):
            self.add("type", value.__module__, value.__qualname__, repr(getattr(value, "_fields", ())))
        elif isinstance(value, (BuiltinFunctionType, np.ufunc)) or (callable(value) and _is_named(value)):
            self.add("named", getattr(value, "__module__", None) or "", value.__name__)
        elif isinstance(value, FunctionType):
            self.add("function")
            self.function(value)
        elif isinstance(getattr(value, "python", None), FunctionType):  # our own Function
            self.add("function")
            self.function(value.python)
        elif isinstance(getattr(value, "py_func", None), FunctionType):  # a Numba dispatcher
            self.add("dispatcher", repr(sorted(getattr(value, "targetoptions", {}).items())))
            self.function(value.py_func)
        elif kind.__module__.partition(".")[0] == "numba":  # a Numba type prints as what it is
            self.add("numba", str(value))
        else:
            self.add("unreadable", uuid.uuid4().hex)

    def container(self, value: Any) -> None:
        kind = type(value)
        self.add(kind.__name__, repr(getattr(kind, "_fields", ())), str(len(value)))
        if isinstance(value, dict):
            for key, item in value.items():
                self.value(key)
                self.value(item)
        else:
            # The order of a set depends on the process; the order of its members' hashes of strings does too.
            for item in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
                self.value(item)

    def module(self, module: ModuleType, code: CodeType | None) -> None:
        self.add("module", module.__name__, str(getattr(module, "__version__", "")))
        if _is_known(module.__name__) or code is None:
            return
        if id(module) in self.met:
            return
        self.met[id(module)] = len(self.met)
        for name in _attribute_names(code):
            if hasattr(module, name):
                self.add("attribute", name)
                self.value(getattr(module, name), code)


def _is_named(value: Any) -> bool:
    """A known package's function proper, not an object that merely has a class of that package (a dispatcher)."""
    return is_known_by_name(value) and hasattr(value, "__name__") and not hasattr(value, "py_func")


def _attribute_names(code: CodeType) -> list[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_attribute_names(constant))
    return sorted(names)
