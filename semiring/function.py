"""A plain Python function that both backends inline into their kernels.

On the CPU a kernel takes a `Function` as an ordinary argument: its Numba type contains its key, so the kernel is
compiled once per function, the function is inlined into it, and the next process finds the compiled kernel on disk
(`hpgraph.semiring.jit`). On the GPU the function is translated to C++ (`hpgraph.semiring.tracing`), or compiled to
LTO-IR that nvJitLink inlines into a CUDA C++ kernel (`hpgraph.semiring.lto`).
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from pickle import PicklingError
from types import FunctionType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from hpgraph.core.config import config
from hpgraph.core.device import cuda_core
from hpgraph.core.errors import MissingExtraError
from hpgraph.semiring.fingerprint import fingerprint_of_copy, is_lasting
from hpgraph.semiring.function_checks import check_function
from hpgraph.semiring.references import is_of_user
from hpgraph.semiring.snapshot import copy_function

if TYPE_CHECKING:
    import hpgraph.semiring.jit

# LTO-IR of the oldest supported architecture links into code for every newer one.
OLDEST_ARCHITECTURE = (7, 5)


class Function:
    """A Python function for use inside kernels, copied when the `Function` is made.

    The function may use scalars, tuples, named tuples, ``math``, NumPy's scalar functions, array elements, and other
    plain Python functions referenced by name. Values of globals, closures and modules are copied when the `Function`
    is made, arrays with their content; after a later change, make a new `Function`.

    Parameters
    ----------
    python : function or Function
        The function; for a Numba ``@njit`` function, the Python function that it compiles.
    name : str, optional
        Name in messages. Default: the function's own name.

    Attributes
    ----------
    python : function
        The function, with its own copy of everything that it references.
    name : str
    checks_bounds : bool
        Whether array indices are checked: ``config.check_bounds`` when the `Function` was made.

    Raises
    ------
    TypeError
        If `python` is not a plain Python function.
    CompileError
        If it, or a function it calls, uses an operation that kernels do not support: random numbers, the time, imports,
        assignment to globals or attributes, yield, reads of a list, a dict or an undefined name.

    Examples
    --------
    >>> relax = Function(lambda distance, weight: distance + weight, "relax")
    >>> relax(2, 0.5)
    2.5
    >>> relax == Function(lambda distance, weight: distance + weight)
    True
    """

    def __init__(self, python: Callable[..., Any] | Function, name: str | None = None) -> None:
        inner: Any = python
        if isinstance(inner, Function):
            name = name or inner.name
            inner = inner.python
        inner = getattr(inner, "py_func", inner)
        if not isinstance(inner, FunctionType):
            raise TypeError(
                f"a kernel's function must be a plain Python function, not {type(python).__name__} {python!r}; "
                "wrap it: lambda a, b: ..."
            )
        self.name: str = name or inner.__name__
        self._origin: tuple[str, str] = getattr(python, "_origin", (inner.__module__, inner.__qualname__))
        check_function(inner, self.name)
        self.python: FunctionType = copy_function(inner)
        self.checks_bounds: bool = config.check_bounds

    @cached_property
    def key(self) -> str:
        """Fingerprint of the code and of everything that it references, the same in every process."""
        return fingerprint_of_copy(self.python, self.checks_bounds)

    @cached_property
    def _may(self) -> set[str]:
        """Possible failures of a user's function: an index may be out of bounds, or there is a ``raise``."""
        found: set[str] = set()

        def note(python: FunctionType) -> FunctionType:
            if is_of_user(python):
                for step in dis.get_instructions(python):
                    # Since Python 3.14 indexing is a binary operator.
                    if step.opname == "BINARY_SUBSCR" or step.argrepr == "[]":
                        found.add("index")
                    elif step.opname == "RAISE_VARARGS":
                        found.add("raise")
            return python

        copy_function(self.python, note)
        return found

    @cached_property
    def fault(self) -> int:
        """Number by which the GPU reports an exception in the function; 0 if none is possible, or none is checked."""
        return crc32(self.key.encode()) | 1 if self.checks_bounds and self._may else 0

    @property
    def raises(self) -> bool:
        """Whether the function, or one that it calls, has a ``raise`` or an ``assert``."""
        return "raise" in self._may

    @property
    def is_lasting(self) -> bool:
        """Whether another process, or another `Function`, may have the same key."""
        return is_lasting(self.key)

    def __call__(self, *args: Any) -> Any:
        """Call the function in Python."""
        return self.python(*args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<Function {self.name} {self.key[:8]}>"

    def __reduce__(self) -> Any:
        # cloudpickle, whose frame calls this, writes functions by value.
        if "cloudpickle" in sys._getframe(1).f_globals.get("__name__", ""):
            return Function, (self.python, self.name)
        module, path = self._origin
        try:
            found = imported(module, path, self.name)
            found.checks_bounds = self.checks_bounds
            same = found == self
        except (ImportError, AttributeError, TypeError):
            same = False
        if not same:
            raise PicklingError(
                f"{self.name} cannot be pickled, as {path} cannot be imported from {module} as it was: "
                "define it there by def, outside functions, or use cloudpickle"
            )
        return imported, (module, path, self.name)

    @property
    def n_arguments(self) -> int:
        """Number of positional parameters."""
        return self.python.__code__.co_argcount

    @cached_property
    def _numba_type_(self) -> hpgraph.semiring.jit.FunctionType:
        # Numba reads this attribute whenever a kernel is called with the object.
        from hpgraph.semiring.jit import FunctionType

        return FunctionType(self.key, self)

    @cached_property
    def dispatcher(self) -> Any:
        """The function and those it references, by Numba's ``njit``, with NumPy's division by zero."""
        from numba import njit

        from hpgraph.semiring.stoppable import StoppableCompiler

        # Always inlined: a call would have to pass all arrays, which costs more than most functions.
        options = {"error_model": "numpy", "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        # It may allocate arrays, in a kernel that allocates none and counts no references.
        options["_nrt"] = True

        def compiled(python: FunctionType) -> Any:
            checks = self.checks_bounds and is_of_user(python)
            return njit(python, pipeline_class=StoppableCompiler, boundscheck=checks, **options)

        return copy_function(self.python, compiled)

    def cuda(
        self,
        argument_dtypes: Sequence[Any],
        return_dtype: Any,
        symbol: str,
        arch: tuple[int, int] = OLDEST_ARCHITECTURE,
        fault: int = 0,
    ) -> bytes:
        """Compile for the GPU, as LTO-IR to be linked into a CUDA C++ kernel under a C name.

        ``argument_dtypes``: a NumPy dtype, ``"float32*"`` for a pointer to such, a Numba type, or a tuple of these,
        whose members are separate parameters of the C function ``extern "C" __device__ R symbol(A0, A1, ...)``. A bool
        is an ``unsigned char`` there. ``arch``: compute capability, at most that of the GPU; if `fault` is not 0, array
        indices are checked, and a call that ends by an exception calls ``hpgraph_fault(fault)``, of ``faults.cuh``, and
        returns zero. Raises CompileError if Numba cannot compile the function, MissingExtraError without numba-cuda.
        """
        cuda_core()
        try:
            from hpgraph.semiring.lto import compile_ltoir
        except ImportError:
            raise MissingExtraError("numba-cuda", "cuda13", "a Python function on the GPU") from None
        return compile_ltoir(self, argument_dtypes, return_dtype, symbol, arch, fault)


def imported(module: str, path: str, name: str) -> Function:
    """Unpickle a `Function` of a function in a module."""
    return Function(attrgetter(path)(import_module(module)), name)


class TypedFunction(Function):
    """A `Function` for given types, equal only to one of the same types: GPU code is separate for each."""

    def __init__(self, python: Callable[..., Any], name: str, dtypes: tuple[Any, ...]) -> None:
        super().__init__(python, name)
        self.dtypes = dtypes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedFunction) and self.dtypes == other.dtypes and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.key, self.dtypes))
