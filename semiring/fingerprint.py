"""A fingerprint of the computation of a Python function, the same in every process.

Compiled kernels are cached on disk under the fingerprints of the functions inlined into them, so two functions may
share one only if they compile to the same machine code. It covers the bytecode, constants and defaults, and,
recursively, everything reached through the closure, the defaults and the globals: scalars, arrays, enums, other
functions, attributes of modules. Line numbers, annotations and the function's own name are left out.
"""

import builtins
import enum
import hashlib
import struct
import sys
import uuid
from functools import lru_cache
from importlib.metadata import version
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from hpgraph.semiring.references import (
    MISSING,
    global_names,
    inner_function,
    is_handle,
    is_known,
    is_named,
    is_numba_type,
    is_of_user,
    is_readable_type,
)
from hpgraph.semiring.snapshot import Ufunc, copy_function

# Prefix of the fingerprint of a function that references an unreadable object.
_UNREADABLE = "unreadable-"
# Handles by address: kept alive, so that no address is reused. They are invalid in other processes.
_HANDLES: dict[int, Any] = {}
_PROCESS = uuid.uuid4().hex


def fingerprint(python: FunctionType) -> str:
    """Hash of everything that determines a function's compiled code."""
    return fingerprint_of_copy(copy_function(python))


def fingerprint_of_copy(python: FunctionType, checks_bounds: bool = True) -> str:
    """`fingerprint` of a copy by `copy_function`, whose references cannot change meanwhile."""
    walk = _Walk(checks_bounds)
    walk.add("hpgraph", *_toolchain())
    walk.function(python)
    return f"{_UNREADABLE}{uuid.uuid4().hex}" if walk.unreadable else walk.hash.hexdigest()[:40]


def is_lasting(key: str) -> bool:
    """Whether code compiled under a fingerprint can be found by another process, and so is worth caching."""
    return not key.startswith(_UNREADABLE)


def shallow_key(python: Any) -> tuple[Any, ...] | None:
    """All that determines the compiled code of a function, if known without a traversal of all references."""
    if not isinstance(python, FunctionType) or python.__defaults__ or python.__kwdefaults__:
        return None
    reached = [python.__globals__.get(name, MISSING) for name in global_names(python.__code__)]
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
        elif value is MISSING or (isinstance(value, ModuleType) and is_known(value.__name__)):
            parts.append(value)
        else:
            return None
    return tuple(parts)


@lru_cache(maxsize=1)
def _toolchain() -> tuple[str, ...]:
    # The library's own version without an import, which would count among the sources of kernels. Bytecode depends on
    # the version of Python, machine code on that of Numba.
    return (sys.modules["hpgraph"].__version__, version("numba"), version("numpy"), sys.version)


class _Walk:
    """One traversal: feeds the hash and remembers visited values, since functions may refer to each other."""

    def __init__(self, checks_bounds: bool = True) -> None:
        self.checks_bounds = checks_bounds
        self.hash = hashlib.sha256()
        self.met: dict[int, int] = {}
        self.unreadable = False

    def add(self, *parts: str | bytes) -> None:
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            self.hash.update(len(data).to_bytes(8, "little"))
            self.hash.update(data)

    def function(self, python: FunctionType) -> None:
        if self.is_met(python):
            return
        self.code(python.__code__)
        if self.checks_bounds and is_of_user(python):
            self.add("checks bounds")
        self.value(python.__defaults__)
        self.value(python.__kwdefaults__)
        for name, cell in zip(python.__code__.co_freevars, python.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # the enclosing function has not assigned it yet
                self.add("empty", name)
            else:
                self.add("closure", name)
                self.value(value)
        for name in global_names(python.__code__):
            if name in python.__globals__:
                self.add("global", name)
                self.value(python.__globals__[name])
            else:
                self.add("builtin" if hasattr(builtins, name) else "missing", name)

    def is_met(self, value: Any) -> bool:
        """Whether a value was visited before; if so, the hash takes its number."""
        if id(value) in self.met:
            self.add("met", str(self.met[id(value)]))
            return True
        self.met[id(value)] = len(self.met)
        return False

    def code(self, code: CodeType) -> None:
        self.add("code", code.co_code, code.co_exceptiontable)
        shape = (code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self.add(repr((shape, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
        self.value(code.co_consts)

    def value(self, value: Any) -> None:
        kind = type(value)
        if value is None or value is Ellipsis or kind in (bool, int, str, bytes):
            self.add(kind.__name__, repr(value))
        elif kind in (float, complex):
            # All bits: -0.0 differs from 0.0, and a NaN has a sign.
            self.add(kind.__name__, struct.pack("dd", value.real, value.imag))
        elif isinstance(value, np.generic) and not value.dtype.hasobject:
            self.add("scalar", repr(value.dtype), value.tobytes())
        elif isinstance(value, np.dtype):
            self.add("dtype", repr(value))
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            # The memory order of the elements may determine the order of a sum.
            layout = value.flags.c_contiguous, value.flags.f_contiguous
            self.add("array", repr((value.dtype, value.shape, layout)), value.tobytes())
        elif isinstance(value, enum.Enum):
            self.add("enum", kind.__qualname__, value.name)
            self.value(value.value)
        elif isinstance(value, (tuple, list, frozenset, set, dict)):
            self.container(value)
        elif isinstance(value, CodeType):
            self.code(value)
        elif isinstance(value, ModuleType):
            self.module(value)
        elif is_readable_type(value):
            self.type(value)
        elif isinstance(value, Ufunc):
            self.add("ufunc", repr(value.form))
            self.function(value.python)
        elif is_named(value):
            self.add("named", getattr(value, "__module__", None) or "", value.__name__)
        elif is_handle(value):
            _HANDLES[id(value)] = value
            self.add("handle", _PROCESS, str(id(value)))
        elif is_numba_type(value):
            self.add("numba", str(value))
        elif (inner := inner_function(value)) is not None:
            self.add("function")
            self.function(inner)
        else:
            self.unreadable = True

    def container(self, value: Any) -> None:
        kind = type(value)
        self.add(kind.__name__, repr(getattr(kind, "_fields", ())), str(len(value)))
        if not isinstance(value, tuple) and self.is_met(value):  # a list may contain itself
            return
        if isinstance(value, dict):
            for key, item in value.items():
                self.value(key)
                self.value(item)
        else:
            # The order of a set depends on the process; the order of its members' hashes of strings does too.
            for item in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
                self.value(item)

    def module(self, module: ModuleType) -> None:
        self.add("module", module.__name__, str(getattr(module, "__version__", "")))
        # The copy of any other module has only the attributes that are read.
        if is_known(module.__name__) or self.is_met(module):
            return
        for name in sorted(vars(module)):
            if not (name.startswith("__") and name.endswith("__")):
                self.add("attribute", name)
                self.value(vars(module)[name])

    def type(self, value: Any) -> None:
        self.add("type", value.__module__, value.__qualname__, repr(getattr(value, "_fields", ())))
        if is_known(value.__module__) or self.is_met(value):
            return
        self.value(getattr(value, "_field_defaults", None))
        if issubclass(value, enum.Enum):
            for name, member in value.__members__.items():
                self.add("member", name)
                self.value(member.value)
