"""Python functions as LTO-IR under a C name, for nvJitLink to inline into CUDA C++ kernels. Imports numba-cuda.

No GPU is needed. numba-cuda itself compiles a function called by another for the GPU that is present; here all are
compiled for the requested architecture.
"""

import operator
from collections.abc import Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.cuda import cgutils
from numba.cuda import compile as compile_device_function
from numba.cuda.compiler import compile_cuda
from numba.cuda.core.imputils import fix_returning_optional
from numba.cuda.datamodel.models import PointerModel
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda.extending import lower_builtin, register_model
from numba.cuda.types.ext_types import CUDADispatcher as DispatcherType
from numba.cuda.typing.templates import AbstractTemplate, infer_global, signature

from hpgraph.core.errors import CompileError
from hpgraph.core.patches import checking_bounds, complete_numba_cuda, for_architecture
from hpgraph.semiring.compilable import Compilable
from hpgraph.semiring.compile_errors import reason
from hpgraph.semiring.snapshot import copy_function


def compile_ltoir(
    function: Compilable,
    argument_dtypes: Sequence[Any],
    return_dtype: Any,
    symbol: str,
    arch: tuple[int, int],
    fault: int,
) -> bytes:
    """LTO-IR of a `Function`; see `Function.cuda` for parameters and errors."""
    arguments = tuple(_numba_type(dtype) for dtype in argument_dtypes)
    result = None if return_dtype is None else _numba_type(return_dtype)
    return _compile(function, arguments, result, symbol, tuple(arch), fault)


@lru_cache(maxsize=1024)
def _compile(
    function: Compilable, arguments: tuple[Any, ...], result: Any, symbol: str, arch: tuple[int, int], fault: int
) -> bytes:
    inner = copy_function(function.python, lambda python: _DeviceFunction(python, arch))
    inner.fault = fault
    wrapper, parameters = _c_function(inner, arguments, result)
    try:
        with for_architecture(arch), checking_bounds(fault != 0):
            ltoir, _ = compile_device_function(
                wrapper, parameters, device=True, abi="c", abi_info={"abi_name": symbol}, output="ltoir", cc=arch
            )
    except CompileError as error:
        raise CompileError(function.name, error.reason) from error
    except Exception as error:  # NVVM, libdevice and Numba's passes each raise their own
        raise CompileError(function.name, reason(error)) from error
    return bytes(ltoir)


class _BoolPointer(types.CPointer):
    """Pointer to bool: numba-cuda's reads and writes the byte in memory as if it were LLVM's one bit."""

    def __init__(self) -> None:
        super().__init__(types.boolean)
        self.name = "bool*"


register_model(_BoolPointer)(PointerModel)


@lower_builtin(operator.getitem, _BoolPointer, types.Integer)
def _read_bool(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    element = builder.gep(args[0], [args[1]])
    return context.data_model_manager[types.boolean].from_data(builder, builder.load(element))


@lower_builtin(operator.setitem, _BoolPointer, types.Integer, types.Any)
def _write_bool(context: Any, builder: Any, sig: Any, args: Any) -> None:
    element = builder.gep(args[0], [args[1]])
    builder.store(context.data_model_manager[types.boolean].as_data(builder, args[2]), element)


complete_numba_cuda()


class _DeviceFunction(CUDADispatcher):
    """A function called from device code, compiled for a given architecture rather than for the GPU present."""

    def __init__(self, python: FunctionType, arch: tuple[int, int]) -> None:
        super().__init__(python, {"device": True, "opt": True, "debug": False})
        self.arch = arch
        # The argument of `hpgraph_fault` if a call by `_call` ends with an exception.
        self.fault = 0

    def compile_device(self, args: tuple[Any, ...], return_type: Any = None) -> Any:
        if args not in self.overloads:
            with self._compiling_counter:
                compiled = compile_cuda(self.py_func, return_type, args, nvvm_options={"opt": 3}, cc=self.arch)
                self.overloads[args] = compiled
                compiled.target_context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        return self.overloads[args]


def _call(function: Any, *args: Any) -> Any:
    """Call a `_DeviceFunction`; if it ends by an exception, report that, and return zero."""


@infer_global(_call)
class _CallTemplate(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        try:
            inner = args[0].get_call_type(self.context, args[1:], {})
        except Exception as error:  # Numba treats its own errors as a template mismatch
            raise CompileError(args[0].dispatcher.py_func.__name__, reason(error)) from error
        return signature(inner.return_type, args[0], *inner.args[: len(args) - 1])


@lower_builtin(_call, DispatcherType, types.VarArg(types.Any))
def _lower_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    function = sig.args[0].dispatcher
    inner = sig.args[0].get_call_type(context.typing_context, sig.args[1:], {})
    compiled = function.compile_device(inner.args)
    context.active_code_library.add_linking_library(compiled.library)
    defaults = [context.get_dummy_value()] * (len(inner.args) - len(args) + 1)
    status, found = context.call_internal_no_propagate(builder, compiled.fndesc, inner, [*args[1:], *defaults])
    number = ir.IntType(32)
    report = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [number]), "hpgraph_fault")
    with cgutils.if_unlikely(builder, status.is_error):
        builder.call(report, [number(function.fault)])
    return fix_returning_optional(context, builder, inner, status, found)


def _c_function(function: Any, arguments: tuple[Any, ...], result: Any) -> tuple[FunctionType, tuple[Any, ...]]:
    """The Python function with the C name: reassembles tuples and booleans, and converts the result."""
    names: list[str] = []
    parameters: list[Any] = []

    def argument(numba_type: Any) -> str:
        if isinstance(numba_type, tuple):
            return "(" + "".join(argument(member) + ", " for member in numba_type) + ")"
        name = f"a{len(names)}"
        names.append(name)
        # One byte, not LLVM's one bit, to match NVRTC's type for the C declaration.
        is_bool = numba_type == types.boolean
        parameters.append(types.uint8 if is_bool else numba_type)
        return f"({name} != 0)" if is_bool else name

    called = "call(function, " if function.fault else "function("
    value = f"{called}{', '.join(argument(numba_type) for numba_type in arguments)})"
    if result is None:
        body = value
    elif result == types.boolean:
        body = f"return convert(1) if {value} else convert(0)"
    else:
        body = f"return convert({value})"
    namespace = {"call": _call, "function": function, "convert": types.uint8 if result == types.boolean else result}
    exec(f"def wrapper({', '.join(names)}):\n    {body}\n", namespace)
    return namespace["wrapper"], tuple(parameters)


def _numba_type(dtype: Any) -> Any:
    if isinstance(dtype, types.Type):
        return dtype
    if isinstance(dtype, tuple):
        return tuple(_numba_type(member) for member in dtype)
    if isinstance(dtype, str) and dtype.rstrip().endswith("*"):
        pointee = _numba_type(dtype.rstrip()[:-1].strip())
        return _BoolPointer() if pointee == types.boolean else types.CPointer(pointee)
    return from_dtype(np.dtype(dtype))
