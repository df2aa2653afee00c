"""Memory words that stop the kernels of one run, on all of its threads. Imports Numba.

A run stops by Ctrl-C, or by an exception in one of its user functions. Its kernels then take no further work and
return; their output is invalid, and the block around them raises (`hpgraph.kernels.runtime.cpu.threads`).

Kernels read one word of the process, which is set if any run is stopped. Only if it is set do they read the word of
their own run: a run belongs to a Python thread, and the operating system keeps a pointer for each thread. Parallel
regions pass the pointer on to the helping threads (`hpgraph.kernels.runtime.cpu.machine_code`).
"""

import ctypes
import threading
import weakref
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils

from hpgraph.core.platform import thread_pointer
from hpgraph.semiring.intrinsic import intrinsic

# Memory of a run: 0 or the reason of its stop, the exception that Numba describes there, and whether a block that
# raises is open.
WHY, EXCEPTION, INSIDE = range(3)
# Reason of the stop: Ctrl-C; any other number is that of a function.
INTERRUPTED = 1

# Aligned, and alone on two cache lines, which processors fetch in pairs: every thread reads it all the time.
_MEMORY = (ctypes.c_int64 * 48)()
word = ctypes.c_int64.from_address((ctypes.addressof(_MEMORY) + 127) // 128 * 128)

_pointer, _get, _set = thread_pointer()

# Compiled code, also from the cache of another process, finds these by name.
_WORD, _POINTER, _GET, _SET = "hpgraph_stop", "hpgraph_run_pointer", "hpgraph_get_pointer", "hpgraph_set_pointer"
binding.add_symbol(_WORD, ctypes.addressof(word))
binding.add_symbol(_POINTER, ctypes.addressof(_pointer))
for _name, _function in ((_GET, _get), (_SET, _set)):
    binding.add_symbol(_name, ctypes.cast(_function, ctypes.c_void_p).value)

_INTEGER = ir.IntType(64)
_runs: weakref.WeakSet[Any] = weakref.WeakSet()


class _Memory(ctypes.c_int64 * 3):  # type: ignore[misc]
    """The memory of one run."""

    __hash__ = object.__hash__


class Run(threading.local):
    """The run of the calling Python thread: its `memory` of three int64 (see `WHY`), at `address`."""

    def __init__(self) -> None:
        # A view is faster to read than ctypes's array.
        owner = _Memory()
        self.memory = memoryview(owner).cast("B").cast("q")
        self.address = ctypes.addressof(owner)
        _runs.add(owner)
        _set(_pointer, self.address)

    def go_on(self) -> None:
        """Clear the stop of the run."""
        self.memory[WHY] = 0
        word.value = 0
        # In this order: another run that is stopped meanwhile sets the word after its own.
        if any(memory[WHY] for memory in list(_runs)):
            word.value = 1


run = Run()


def is_set(builder: Any) -> Any:
    """Emit a check of whether the thread's run is stopped."""
    found = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
    # Atomic, so that it is read from memory each time.
    word = builder.load_atomic(_variable(builder, _WORD), "monotonic", 8)
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", word, ir.Constant(_INTEGER, 0))):
        own = get_pointer(builder)
        with builder.if_then(cgutils.is_not_null(builder, own)):
            why = builder.load_atomic(own, "monotonic", 8)
            builder.store(builder.icmp_signed("!=", why, ir.Constant(_INTEGER, 0)), found)
    return builder.load(found)


def stop_by(builder: Any, number: int, exception: Any) -> Any:
    """Emit a stop of the thread's run by a function's exception, and a check of whether there is a run."""
    own = get_pointer(builder)
    stopped = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
    with builder.if_then(cgutils.is_not_null(builder, own)):
        inside = builder.load(builder.gep(own, [ir.Constant(_INTEGER, INSIDE)]))
        with builder.if_then(builder.icmp_signed("!=", inside, ir.Constant(_INTEGER, 0))):
            builder.store(ir.Constant(ir.IntType(1), 1), stopped)
            # The first of several exceptions is reported.
            zero, why = ir.Constant(_INTEGER, 0), ir.Constant(_INTEGER, number)
            is_first = builder.extract_value(builder.cmpxchg(own, zero, why, "seq_cst", "seq_cst"), 1)
            with builder.if_then(is_first):
                described = builder.ptrtoint(exception, _INTEGER)
                builder.store(described, builder.gep(own, [ir.Constant(_INTEGER, EXCEPTION)]))
            builder.store_atomic(ir.Constant(_INTEGER, 1), _variable(builder, _WORD), "seq_cst", 8)
    return builder.load(stopped)


def get_pointer(builder: Any) -> Any:
    """Emit a load of the address of the thread's run; null for a thread without a run."""
    kind = ir.FunctionType(_INTEGER.as_pointer(), [_INTEGER])
    get = cgutils.get_or_insert_function(builder.module, kind, _GET)
    return builder.call(get, [builder.load(_variable(builder, _POINTER))])


def set_pointer(builder: Any, run: Any) -> None:
    """Emit the assignment of a run to the thread."""
    kind = ir.FunctionType(ir.IntType(32), [_INTEGER, _INTEGER.as_pointer()])
    give = cgutils.get_or_insert_function(builder.module, kind, _SET)
    builder.call(give, [builder.load(_variable(builder, _POINTER)), run])


def _variable(builder: Any, name: str) -> Any:
    return builder.module.globals.get(name) or ir.GlobalVariable(builder.module, _INTEGER, name)


@intrinsic(lambda: run.memory[WHY] != 0)
def is_stopped(typingctx: Any) -> Any:
    """Whether the kernels of this run are to stop."""
    return types.boolean(), lambda context, builder, sig, args: is_set(builder)
