"""Two functions in machine code of their own, as they run where Python cannot: in a signal handler, in a thread pool.

`stop_on_signal` is a signal handler that sets the word at which kernels stop. `run_in_parallel` stands between compiled
kernels and the threading library, and runs a loop in the calling thread alone once `alone` is set.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from llvmlite import binding, ir

from hpgraph.semiring import stop

# Not 0: parallel loops run in the thread that calls.
alone = ctypes.c_int64(0)

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_POINTER = _BYTE.as_pointer()


@functools.cache
def stop_on_signal() -> int:
    """Address of the handler, a C function ``void (int)``.

    Returns
    -------
    int
    """
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [_INT]), "hpgraph_stop_on_signal")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.store_atomic(ir.Constant(_WORD, 1), _at(stop.word), "monotonic", 8)
    builder.ret_void()
    return _compiled(function)


def run_in_parallel(library: int) -> int:
    """Address of a function that stands in for Numba's ``numba_parallel_for``.

    Parameters
    ----------
    library : int
        Address of the threading library's, of which ``fn``, ``args``, ``dims``, ``steps`` and ``data`` come first: the
        loop's compiled body, which does the iterations 0..dims[0], and what it is to be given.

    Returns
    -------
    int
    """
    size = ir.IntType(8 * ctypes.sizeof(ctypes.c_size_t))
    whole = ir.FunctionType(ir.VoidType(), [_POINTER] * 5 + [size, size, _INT])
    body = ir.FunctionType(ir.VoidType(), [_POINTER] * 4)
    function = ir.Function(ir.Module(), whole, "hpgraph_run_in_parallel")
    builder = ir.IRBuilder(function.append_basic_block())
    is_alone = builder.icmp_signed("!=", builder.load_atomic(_at(alone), "monotonic", 8), ir.Constant(_WORD, 0))
    with builder.if_else(is_alone) as (here, there):
        with here:
            builder.call(builder.bitcast(function.args[0], body.as_pointer()), function.args[1:5])
        with there:
            builder.call(builder.inttoptr(ir.Constant(_WORD, library), whole.as_pointer()), function.args)
    builder.ret_void()
    return _compiled(function)


def _at(word: ctypes.c_int64) -> Any:
    return ir.Constant(_WORD, ctypes.addressof(word)).inttoptr(_WORD.as_pointer())


# What the addresses lead to lives as long as the process.
_engines: list[Any] = []


def _compiled(function: Any) -> int:
    module = binding.parse_assembly(str(function.module))
    # Numba has done so, unless it does not compile.
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    _engines.append(binding.create_mcjit_compiler(module, machine))
    _engines[-1].finalize_object()
    return int(_engines[-1].get_function_address(function.name))
