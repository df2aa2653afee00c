"""A plain Python function that both backends compile into their kernels.

On the CPU a kernel takes a `Function` as an ordinary argument: its Numba type carries its key, so the kernel is compiled
once per function, the function is inlined into it, and the next process finds the compiled kernel on disk again
(`hpgraph.semiring.jit`). On the GPU the function becomes LTO-IR that nvJitLink inlines into a CUDA C++ kernel.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.errors import CompileError, MissingExtraError
from hpgraph.semiring.fingerprint import fingerprint, global_names, is_known_by_name

if TYPE_CHECKING:
    import hpgraph.semiring.jit

# LTO-IR of the oldest supported architecture links into code for every newer one.
OLDEST_ARCHITECTURE = (7, 5)


class Function:
    """A Python function for use inside kernels, fixed at the moment it is made.

    The function may use scalars, tuples, named tuples, ``math``, NumPy's scalar functions, array elements, and other
    plain Python functions reached by name. Values it finds among its globals or in its closure are taken when the
    `Function` is made; a later change of theirs needs a new `Function`.

    Parameters
    ----------
    python : function or Function
        The function; a Numba ``@njit`` function counts as the function inside it.
    name : str, optional
        What messages call it. Default: the function's own name.

    Attributes
    ----------
    python : function
        The function, with its own copy of all it refers to.
    name : str
    key : str
        Fingerprint of the code and of all it refers to, the same in every process.

    Raises
    ------
    TypeError
        If `python` is not a plain Python function.

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
        self.python: FunctionType = _copy(inner, lambda function: function, {})
        self.name: str = name or inner.__name__
        self.key: str = fingerprint(self.python)

    def __call__(self, *args: Any) -> Any:
        """Run the function in Python itself."""
        return self.python(*args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<Function {self.name} {self.key[:8]}>"

    @property
    def n_arguments(self) -> int:
        """Number of positional parameters."""
        return self.python.__code__.co_argcount

    @cached_property
    def _numba_type_(self) -> hpgraph.semiring.jit.FunctionType:
        # Numba asks for this attribute whenever a kernel is called with the object.
        from hpgraph.semiring.jit import FunctionType

        return FunctionType(self.key, self)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as Numba's ``njit`` makes it, and so every plain Python function it refers to.

        Division by zero follows NumPy (0 for integers, inf or nan for floats): a kernel's threads cannot raise.
        """
        from numba import njit

        return _copy(self.python, njit(error_model="numpy"), {})

    def cuda(
        self,
        argument_dtypes: Sequence[Any],
        return_dtype: Any,
        symbol: str,
        arch: tuple[int, int] = OLDEST_ARCHITECTURE,
    ) -> bytes:
        """Compile for the GPU, to be linked into a CUDA C++ kernel under a C name.

        Parameters
        ----------
        argument_dtypes : sequence
            One entry a parameter: a NumPy dtype, ``"float32*"`` for a pointer to such, a Numba type, or a tuple of
            these. A tuple's members are separate parameters of the C function and reach Python as one tuple.
        return_dtype : dtype, Numba type or None
            What the result is converted to; None for a function that returns nothing.
        symbol : str
            Name of the C function: ``extern "C" __device__ R symbol(A0, A1, ...)``. A bool is an ``unsigned char``
            there, as argument and as result; other types are those of the same size.
        arch : (int, int)
            Compute capability to compile for, at most that of the GPU.

        Returns
        -------
        bytes
            LTO-IR, for ``cuda.core.ObjectCode.from_ltoir`` and a ``Linker`` with link-time optimization.

        Raises
        ------
        CompileError
            If Numba cannot compile the function for these types.
        MissingExtraError
            If numba-cuda is not installed.
        """
        # Checked here because lru_cache would otherwise complain of an unhashable argument, not of a wrong one.
        return _ltoir(self, tuple(_hashable(d) for d in argument_dtypes), _hashable(return_dtype), symbol, tuple(arch))


def _copy(function: FunctionType, convert: Callable[[FunctionType], Any], copies: dict[int, Any]) -> Any:
    """A function over its own copy of the globals and closure it uses, with `convert` applied to it and, within it,
    to every plain function it refers to. Recursion and mutual recursion are kept."""
    if id(function) in copies:
        return copies[id(function)]
    code = function.__code__
    namespace: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
    cells = tuple(CellType() for _ in code.co_freevars)
    copy = FunctionType(code, namespace, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__doc__ = function.__doc__
    converted = copies[id(function)] = convert(copy)

    def value(original: Any) -> Any:
        if isinstance(original, Function):
            original = original.python
        if isinstance(original, FunctionType) and not is_known_by_name(original):
            return _copy(original, convert, copies)
        return original

    for name in global_names(code):
        if name in function.__globals__:
            namespace[name] = value(function.__globals__[name])
    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        try:
            cell.cell_contents = value(original.cell_contents)
        except ValueError:  # not assigned yet in the enclosing function
            continue
    return converted


def _hashable(dtype: Any) -> Any:
    """A dtype in a form that equal dtypes share: Numba types as they are, the rest by name."""
    if dtype is None or type(dtype).__module__.startswith("numba"):
        return dtype
    if isinstance(dtype, tuple):
        return tuple(_hashable(d) for d in dtype)
    if isinstance(dtype, str) and dtype.endswith("*"):
        return np.dtype(dtype[:-1].strip()).name + "*"
    return np.dtype(dtype).name


@lru_cache(maxsize=1024)
def _ltoir(function: Function, arguments: tuple[Any, ...], result: Any, symbol: str, arch: tuple[int, int]) -> bytes:
    try:
        from numba import cuda
        from numba.core.errors import NumbaError
    except ImportError:
        raise MissingExtraError("numba-cuda", "cuda13", "a Python function on the GPU") from None
    wrapper, types = _c_function(function, arguments, result)
    try:
        ltoir, _ = cuda.compile(
            wrapper, types, device=True, abi="c", abi_info={"abi_name": symbol}, output="ltoir", cc=arch
        )
    except NumbaError as error:
        raise CompileError(function.name, reason(error)) from error
    return bytes(ltoir)


def _c_function(function: Function, arguments: tuple[Any, ...], result: Any) -> tuple[FunctionType, tuple[Any, ...]]:
    """The Python function that is compiled under the C name: rebuilds tuples and booleans, converts the result."""
    from numba import types

    names: list[str] = []
    parameters: list[Any] = []
    namespace: dict[str, Any] = {"function": function.dispatcher, "convert": None}

    def argument(dtype: Any) -> str:
        if isinstance(dtype, tuple):
            return "(" + "".join(argument(d) + ", " for d in dtype) + ")"
        name = f"a{len(names)}"
        names.append(name)
        numba_type = _numba_type(dtype)
        # One byte, not LLVM's one bit, so that the type is the one NVRTC gives the C declaration.
        is_bool = numba_type == types.boolean
        parameters.append(types.uint8 if is_bool else numba_type)
        return f"({name} != 0)" if is_bool else name

    expression = f"function({', '.join(argument(d) for d in arguments)})"
    if result is None:
        body = expression
    else:
        numba_type = _numba_type(result)
        if numba_type == types.boolean:
            # Not bool(): what NumPy calls true is what differs from zero.
            body = f"return convert(1) if {expression} else convert(0)"
            namespace["convert"] = types.uint8
        else:
            body = f"return convert({expression})"
            namespace["convert"] = numba_type
    exec(f"def wrapper({', '.join(names)}):\n    {body}\n", namespace)
    return namespace["wrapper"], tuple(parameters)


def _numba_type(dtype: Any) -> Any:
    from numba import from_dtype, types

    if not isinstance(dtype, str):
        return dtype
    if dtype.endswith("*"):
        return types.CPointer(from_dtype(np.dtype(dtype[:-1])))
    return from_dtype(np.dtype(dtype))


def reason(error: BaseException) -> str:
    """The part of a Numba error that the author of the function can act on, in a few lines."""
    noise = ("Failed in", "- Resolution failure", "There are", "During:", "raised from", "Enable logging", "<source")
    lines = [line.strip() for line in inspect.cleandoc(str(error)).splitlines()]
    kept = [line for line in lines if line and not line.startswith(noise)]
    return " ".join(kept)[:500]
