"""Functions as arguments of Numba kernels. Imported by kernels only: it imports Numba.

A kernel calls ``call(reduce, a, b)``, where its argument ``reduce`` is a `Function`. The argument has no content at
run time; its type identifies the function, which Numba compiles on its first use and LLVM inlines. Because the type is
identified by the function's fingerprint, the next process finds ``cache=True`` kernels, but never those of a function
that was edited.
"""

import ctypes
import hashlib
import pickle
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import NativeValue, models, register_model, unbox

from hpgraph.core.errors import CompileError, OutOfBoundsError
from hpgraph.semiring.compilable import Compilable
from hpgraph.semiring.compile_errors import reason
from hpgraph.semiring.fingerprint import is_lasting
from hpgraph.semiring.stop import stop_by

# Each `Function` by its key: Numba requests its body by type, possibly after the Function itself was deleted.
_FUNCTIONS: dict[str, Compilable] = {}


class FunctionType(types.Opaque):
    """Numba type of a `Function`: equal for functions of equal key."""

    def __init__(self, function_key: str, function: Compilable | None = None) -> None:
        self.function_key = function_key
        if function is not None:
            _FUNCTIONS.setdefault(function_key, function)
        super().__init__(name=f"hpgraph.Function({function_key})")

    @property
    def key(self) -> str:
        """Key by which Numba compares types."""
        return self.function_key

    def __reduce__(self) -> tuple[Any, ...]:
        return FunctionType, (self.function_key,)

    def resolve(self, context: Any, arguments: tuple[types.Type, ...]) -> tuple[types.Dispatcher, Any]:
        """The compiled function's type, and its signature, which includes defaults of missing arguments."""
        function = _FUNCTIONS[self.function_key]
        dispatcher = types.Dispatcher(function.dispatcher)
        try:
            inner = dispatcher.get_call_type(context, tuple(types.unliteral(a) for a in arguments), {})
        except Exception as error:  # Numba's passes, and LLVM, raise any type
            raise CompileError(function.name, reason(error)) from error
        return dispatcher, inner


register_model(FunctionType)(models.OpaqueModel)


@unbox(FunctionType)
def _unbox_function(typ: Any, obj: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


def call(function: Any, *args: Any) -> Any:
    """Call a `Function` that is an argument of the kernel; any number of arguments, of any Numba type."""
    return function(*args)


@infer_global(call)
class _CallTemplate(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if kws or not args or not isinstance(args[0], FunctionType):
            return None
        _, inner = args[0].resolve(self.context, args[1:])
        return signature(inner.return_type, args[0], *inner.args[: len(args) - 1])


@lower_builtin(call, FunctionType, types.VarArg(types.Any))
def _lower_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    dispatcher, inner = sig.args[0].resolve(context.typing_context, sig.args[1:])
    if not is_lasting(sig.args[0].key):
        _keep_off_disk(context, builder)
    defaults = [context.get_dummy_value()] * (len(inner.args) - len(args) + 1)
    compiled = dispatcher.dispatcher.overloads[inner.args]
    context.active_code_library.add_linking_library(compiled.library)
    status, found = context.call_internal_no_propagate(builder, compiled.fndesc, inner, [*args[1:], *defaults])
    with cgutils.if_unlikely(builder, status.is_error):
        # The threads of a parallel loop cannot raise: the run stops, and the result is zero.
        is_recorded = stop_by(builder, _number(sig.args[0].key), status.excinfoptr)
        with cgutils.if_unlikely(builder, builder.not_(is_recorded)):
            context.call_conv.return_status_propagate(builder, status)
    return found


def _number(key: str) -> int:
    """Number of a function in the report of a stopped run, the same in every process."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:15], 16) | 2


def exception_of(number: int, described: int) -> Exception:
    """The exception by which a function stopped a run."""
    name = next((function.name for key, function in list(_FUNCTIONS.items()) if _number(key) == number), "a function")
    about = _Described.from_address(described)
    kind, arguments, _ = pickle.loads(ctypes.string_at(about.pickled, about.length))
    if kind is IndexError:
        return OutOfBoundsError(name)
    # Arguments computed at run time are lost.
    return kind(*(() if about.is_dynamic else arguments))


class _Described(ctypes.Structure):
    """Numba's ``excinfo_t``."""

    _fields_ = (
        ("pickled", ctypes.c_void_p), ("length", ctypes.c_int32), ("arguments", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p), ("is_dynamic", ctypes.c_int32),
    )  # fmt: skip


def _keep_off_disk(context: Any, builder: Any) -> None:
    """Keep Numba from caching the enclosing kernel on disk, by an address of this process in an empty instruction."""
    address = context.add_dynamic_addr(builder, id(_FUNCTIONS), info="hpgraph.Function")
    signature = ir.FunctionType(ir.VoidType(), [address.type])
    builder.asm(signature, "", "r", [address], True)
