"""Copies of functions with everything that they reference, and checks whether the originals have changed.

Compiled code holds the values that its function referenced at compilation. So a function is copied together with them,
transitively, before compilation: globals, closure cells, defaults, other functions, attributes of modules, arrays. The
copy never changes. A `Snapshot` remembers the origin of each value, so that one flat loop checks whether a copy made
now would be the same.
"""

import builtins
from collections.abc import Callable, Iterable
from functools import cached_property
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from hpgraph.semiring.references import (
    ATOMS,
    MISSING,
    OWN_NAMES,
    attribute_names,
    global_names,
    inner_function,
    is_constant,
    is_known_by_name,
    is_named,
    is_numba_ufunc,
)

# Arrays up to this many bytes are compared as byte strings, larger ones without a copy.
_SMALL = 1 << 16
_CONTAINERS = (list, dict, set, frozenset)


class Snapshot:
    """Origins of the values of copied functions."""

    def __init__(self) -> None:
        # Whether some value is unreadable, and so may change at any time.
        self.unreadable = False
        self._items: list[tuple[Any, Any, Any]] = []
        self._attributes: list[tuple[Any, str, Any]] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._containers: list[tuple[Any, list[Any]]] = []

    def holds(self) -> bool:
        """Whether a copy made now would be the same: identical objects, and arrays of equal content."""
        if self.unreadable:
            return False
        for namespace, key, value in self._items:
            if namespace.get(key, MISSING) is not value:
                return False
        try:
            for owner, name, value in self._attributes:
                if getattr(owner, name) is not value:
                    return False
        except (AttributeError, ValueError):  # ValueError: a closure's cell that was emptied
            return False
        for container, members in self._containers:
            now = _members(container)
            if len(now) != len(members) or not all(a is b for a, b in zip(now, members, strict=True)):
                return False
        return all(_same_array(original, copy) for original, copy in self._arrays)

    def item(self, namespace: Any, key: Any) -> Any:
        """The value of a key, or `MISSING`; remembered."""
        value = namespace.get(key, MISSING)
        self._items.append((namespace, key, value))
        return value

    def attribute(self, owner: Any, name: str) -> Any:
        """The value of an attribute; remembered. Errors are those of `getattr`."""
        value = getattr(owner, name)
        self._attributes.append((owner, name, value))
        return value

    def members(self, container: Any) -> None:
        """Remember the content of a list, dict or set."""
        self._containers.append((container, _members(container)))

    def array(self, original: Any, copy: Any) -> None:
        """Remember the content of an array; `copy` has the same content."""
        self._arrays.append((original, copy))


def copy_function(
    function: FunctionType, convert: Callable[[FunctionType], Any] | None = None, snapshot: Snapshot | None = None
) -> Any:
    """Copy a function with all its references; `convert` is applied to it and to each function reached."""
    return copy_functions((function,), convert, snapshot)[0]


def copy_functions(
    functions: Iterable[FunctionType],
    convert: Callable[[FunctionType], Any] | None = None,
    snapshot: Snapshot | None = None,
) -> list[Any]:
    """`copy_function` for several functions, whose copies share what the originals share."""
    copier = _Copier(convert, Snapshot() if snapshot is None else snapshot)
    copies = [copier.function(function) for function in functions]
    copier.complete_modules()
    return copies


class Ufunc:
    """A copy of a ``@numba.vectorize`` function, recompiled: Numba keeps the values of its first compilation."""

    def __init__(self, original: Any, python: FunctionType) -> None:
        self.python = python
        self.form: tuple[Any, ...]
        self._make: Callable[[Any], Any]
        if isinstance(original, Ufunc):
            self._make, self.form = original._make, original.form
            return
        kind, states = type(original), original._reduce_states()
        if kind.__name__ == "GUFunc":
            signatures = [] if states["is_dynamic"] else list(states["typesigs"])
            states = {**states, "cache": False, "typesigs": signatures}
            self._make = lambda python: kind._rebuild(**{**states, "py_func": python})
            self.form = (kind.__name__, states["signature"], states["identity"], str(signatures))
            return
        signatures = list(states["siglist"]) if states["frozen"] else []

        def make(python: Any) -> Any:
            made = kind(python, identity=states["identity"], targetoptions=original.targetoptions)
            for signature in signatures:
                made.add(signature)
            if signatures:
                made.disable_compile()
            return made

        self._make = make
        self.form = (kind.__name__, states["identity"], str(signatures))

    def compiled(self, convert: Callable[[FunctionType], Any]) -> Any:
        """The Numba ufunc; `convert` is applied to the functions that it calls."""
        copier = _Copier(convert, Snapshot())
        python = copier.function(self.python, bare=True)
        copier.complete_modules()
        return self._make(python)

    @cached_property
    def _compiled(self) -> Any:
        from numba import njit

        return self.compiled(njit)

    def __call__(self, *args: Any) -> Any:
        """Call it in Python."""
        return self._compiled(*args)


class _Copier:
    """One traversal; remembers visited values, since functions may refer to each other."""

    def __init__(self, convert: Callable[[FunctionType], Any] | None, snapshot: Snapshot) -> None:
        self.convert = convert
        self.snapshot = snapshot
        self.copies: dict[int, Any] = {}
        # Keeps objects in `copies` alive, so that their addresses are not reused.
        self.kept: list[Any] = []
        # Modules may be passed between functions: each copy gets all names that any function reads.
        self.modules: list[tuple[ModuleType, ModuleType]] = []
        self.names: set[str] = set()

    def function(self, function: FunctionType, bare: bool = False) -> Any:
        if id(function) in self.copies:
            return self.copies[id(function)]
        read = self.snapshot.attribute
        code = read(function, "__code__")
        self.names |= attribute_names(code)
        namespace: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
        cells = tuple(CellType() for _ in code.co_freevars)
        # Defaults come first: `convert` may read the signature of a function. Calls without any compile the same if
        # some are set later.
        defaults = function.__defaults__ and read(function, "__defaults__")
        keyword_defaults = function.__kwdefaults__ and read(function, "__kwdefaults__")
        copy = FunctionType(code, namespace, function.__name__, self.value(defaults), cells)
        copy.__kwdefaults__ = self.value(keyword_defaults)
        copy.__qualname__ = function.__qualname__
        copy.__doc__ = function.__doc__
        converted = copy if bare or self.convert is None else self.convert(copy)
        # Before its references, which may refer to it.
        self.copies[id(function)] = converted
        for name in global_names(code):
            value = self.snapshot.item(function.__globals__, name)
            if value is not MISSING:
                namespace[name] = self.value(value)
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            try:
                value = read(original, "cell_contents")
            except ValueError:  # not assigned yet in the enclosing function
                self.snapshot.unreadable = True
                continue
            cell.cell_contents = self.value(value)
        return converted

    def value(self, original: Any) -> Any:
        if type(original) in ATOMS:
            return original
        if id(original) in self.copies:
            return self.copies[id(original)]
        if isinstance(original, FunctionType) and not is_named(original):
            return self.function(original)
        made = self._made(original)
        self.copies[id(original)] = made
        self.kept.append(original)
        return made

    def _made(self, original: Any) -> Any:
        if isinstance(original, (np.ndarray, np.void)) and not original.dtype.hasobject:
            return self.array(original)
        if isinstance(original, (tuple, *_CONTAINERS)):
            return self.container(original)
        if is_numba_ufunc(original) or isinstance(original, Ufunc):
            return self.ufunc(original)
        if is_constant(original):
            return original
        if isinstance(original, ModuleType):
            copy = ModuleType(original.__name__)
            copy.__dict__["__version__"] = str(getattr(original, "__version__", ""))
            self.modules.append((original, copy))
            return copy
        inner = inner_function(original)
        if inner is not None:
            return original if is_known_by_name(inner) else self.function(inner)
        self.snapshot.unreadable = True
        return original

    def array(self, original: Any) -> Any:
        if isinstance(original, np.void):
            copy = original.copy()
            self.snapshot.array(original, copy)
            return copy
        if type(original) is np.ndarray and not original.flags.writeable and original.base is None:
            return original
        array = np.array(original, order="K", subok=False)
        array.flags.writeable = False
        self.snapshot.array(original, array)
        return array

    def container(self, original: Any) -> Any:
        kind = type(original)
        if kind is tuple or (isinstance(original, tuple) and hasattr(kind, "_make")):
            members = [self.value(member) for member in original]
            if all(a is b for a, b in zip(members, original, strict=True)):
                return original
            return tuple(members) if kind is tuple else kind._make(members)
        if kind not in _CONTAINERS:
            self.snapshot.unreadable = True
            return original
        self.snapshot.members(original)
        # A list or a dict may contain itself.
        if kind is list:
            listed = self.copies[id(original)] = []
            listed.extend(self.value(member) for member in original)
            return listed
        if kind is dict:
            table = self.copies[id(original)] = {}
            table.update((self.value(key), self.value(value)) for key, value in original.items())
            return table
        return kind(self.value(member) for member in original)

    def ufunc(self, original: Any) -> Any:
        inner = original.python if isinstance(original, Ufunc) else original.__wrapped__
        if self.convert is not None:
            return Ufunc(original, inner).compiled(self.convert)
        return Ufunc(original, self.function(inner))

    def complete_modules(self) -> None:
        """Copy the attributes that are read of modules; these may lead to more functions and modules."""
        given = 0
        while given < (wanted := len(self.modules) * len(self.names)):
            given = wanted
            for module, copy in tuple(self.modules):
                for name in sorted(self.names):
                    if name not in copy.__dict__ and _has(module, name):
                        read = self.snapshot.item if name in vars(module) else self.snapshot.attribute
                        copy.__dict__[name] = self.value(read(vars(module) if name in vars(module) else module, name))


def _has(module: ModuleType, name: str) -> bool:
    if module.__name__ == "hpgraph" and name not in OWN_NAMES:
        return False
    # Modules with ``__getattr__`` are queried only for missing attributes.
    return name in vars(module) or ("__getattr__" in vars(module) and hasattr(module, name))


def _members(container: Any) -> list[Any]:
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)


def _same_array(original: Any, copy: Any) -> bool:
    if original.dtype != copy.dtype or original.shape != copy.shape:
        return False
    if original.nbytes <= _SMALL:
        return bool(original.tobytes() == copy.tobytes())
    return bool(_bytes(original).data == _bytes(copy).data)


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
