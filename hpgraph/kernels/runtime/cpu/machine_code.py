"""Two functions in machine code of their own, for places without Python: a signal handler, a thread pool.

`stop_on_signal` is a signal handler that stops a run. `run_in_parallel` stands between compiled kernels and the
threading library: it makes the library's threads work for the run of the calling thread, and runs a loop in that thread
alone once `alone` is set.
"""

import ctypes
import functools
from typing import Any

from llvmlite import binding, ir
from numba.core.compiler_lock import global_compiler_lock

from hpgraph.semiring import stop

# Not 0: parallel loops run in the calling thread.
alone = ctypes.c_int64(0)
# Address of the memory of the run that the signal stops.
interrupted = ctypes.c_int64(0)

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_POINTER = _BYTE.as_pointer()


@functools.cache
def stop_on_signal() -> int:
    """Address of the handler, a C function ``void (int)``."""
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [_INT]), "hpgraph_stop_on_signal")
    builder = ir.IRBuilder(function.append_basic_block())
    run = builder.inttoptr(builder.load_atomic(_at(interrupted), "monotonic", 8), _WORD.as_pointer())
    builder.store_atomic(ir.Constant(_WORD, stop.INTERRUPTED), run, "seq_cst", 8)
    builder.store_atomic(ir.Constant(_WORD, 1), _at(stop.word), "seq_cst", 8)
    builder.ret_void()
    return _compiled(function)


def run_in_parallel(library: int) -> int:
    """Address of a function that stands in for Numba's ``numba_parallel_for``."""
    size = ir.IntType(8 * ctypes.sizeof(ctypes.c_size_t))
    whole = ir.FunctionType(ir.VoidType(), [_POINTER] * 5 + [size, size, _INT])
    body = ir.FunctionType(ir.VoidType(), [_POINTER] * 4)
    module = ir.Module()
    worker = ir.Function(module, body, "hpgraph_work")
    builder = ir.IRBuilder(worker.append_basic_block())
    # In place of `data`: the loop's body, the run, and the `data` of the body.
    loop, run, data = (builder.load(place) for place in _places(builder, worker.args[3]))
    stop.set_pointer(builder, builder.inttoptr(run, _WORD.as_pointer()))
    builder.call(builder.inttoptr(loop, body.as_pointer()), [*worker.args[:3], builder.inttoptr(data, _POINTER)])
    builder.ret_void()
    function = ir.Function(module, whole, "hpgraph_run_in_parallel")
    builder = ir.IRBuilder(function.append_basic_block())
    given = builder.bitcast(builder.alloca(_WORD, 3), _POINTER)
    is_alone = builder.icmp_signed("!=", builder.load_atomic(_at(alone), "monotonic", 8), ir.Constant(_WORD, 0))
    with builder.if_else(is_alone) as (then, otherwise):
        with then:
            builder.call(builder.bitcast(function.args[0], body.as_pointer()), function.args[1:5])
        with otherwise:
            handed = function.args[0], stop.get_pointer(builder), function.args[4]
            for value, place in zip(handed, _places(builder, given), strict=True):
                builder.store(builder.ptrtoint(value, _WORD), place)
            builder.call(
                builder.inttoptr(ir.Constant(_WORD, library), whole.as_pointer()),
                [builder.bitcast(worker, _POINTER), *function.args[1:4], given, *function.args[5:]],
            )
    builder.ret_void()
    return _compiled(function)


def _places(builder: Any, data: Any) -> list[Any]:
    words = builder.bitcast(data, _WORD.as_pointer())
    return [builder.gep(words, [ir.Constant(_WORD, i)]) for i in range(3)]


def _at(word: ctypes.c_int64) -> Any:
    return ir.Constant(_WORD, ctypes.addressof(word)).inttoptr(_WORD.as_pointer())


# The addresses stay valid as long as the process.
_engines: list[Any] = []


@global_compiler_lock  # type: ignore[untyped-decorator]  # a fork waits for it
def _compiled(function: Any) -> int:
    module = binding.parse_assembly(str(function.module))
    # Numba has done this already, unless compilation is disabled.
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    _engines.append(binding.create_mcjit_compiler(module, machine))
    _engines[-1].finalize_object()
    return int(_engines[-1].get_function_address(function.name))
