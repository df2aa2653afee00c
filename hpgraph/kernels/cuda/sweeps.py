"""Runs of supersteps over all vertices on the GPU, without the host between them.

The first superstep is launched as usual; the launches of the second are captured in a CUDA graph that the later ones replay. The host
stays a little behind: it looks whether the program has converged while the next superstep is running.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.errors import CompileError
from hpgraph.formats import CSR, HYB
from hpgraph.kernels.cuda.blocked import unread
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.kernels.cuda.product import pull
from hpgraph.kernels.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.functions import functions_of
from hpgraph.kernels.program import ProgramCode
from hpgraph.semiring.cuda import LinkedCode

# As in apply.cuh.
SPAN, THREADS = 2048, 256
# Supersteps launched beyond the one whose outcome is known: enough to keep the device busy, few enough to waste little.
AHEAD = 2
KERNELS = tuple(f"hpgraph::{name}<Sweeping>" for name in ("sweep", "conclude"))


def sources_only(code: ProgramCode) -> bool:
    """Whether a program's message depends on the vertex that sends it alone, so that it can be made once.

    Parameters
    ----------
    code : ProgramCode

    Returns
    -------
    bool
    """
    if code.edge_cond is not None or code.gather.__code__.co_argcount != 3:
        return False
    return set(code.gather.__code__.co_varnames[1:3]) <= unread(code.gather)


class SweepCode:
    """C++ text and code of a program that can sweep.

    Parameters
    ----------
    code : ProgramCode
    stop : function or None
        The program's `converged`.
    """

    def __init__(self, code: ProgramCode, stop: Callable[..., Any] | None) -> None:
        program: CUDAProgram = cuda_program(code, None)
        types = tuple(dtype for _, dtype in code.parameters)
        fixed = len(types) - code.aggregates
        members = [f"w{i}" for i in range(len(types))]
        takes = "".join(f" {member} = sums[{i}];" for i, member in enumerate(members[fixed:]))
        declaration, call, self.ltoir = "", "false", program.ltoir
        if stop is not None:
            world = "".join(f", world[{i}]" for i in range(len(types)))
            function = code.wrap(
                "converged_at", "world, step", f"return True if converged(World(step{world})) else False", converged=stop
            )
            name, arguments = "hpg_converged", (types, np.dtype(np.int64))
            self.ltoir += (
                LinkedCode(
                    f"{name}{arguments}:{function.key}", lambda: function.cuda(arguments, np.dtype(np.bool_), name)
                ),
            )
            parameters = ", ".join([*(_c(dtype) for dtype in types), "long long"])
            declaration = f'extern "C" __device__ unsigned char {name}({parameters});\n'
            call = f"{name}({', '.join([*members, 'step'])})"
        self.prologue = (
            f"{program.prologue}{declaration}struct Sweeping : Program {{\n"
            f"    __device__ void take(const double* sums) {{{takes} }}\n"
            f"    __device__ bool converged(long long step) const {{ return {call}; }}\n}};\n"
        )
        self.program = program
        self.title = code.name

    def load(self) -> Module | None:
        """The kernels for the current device; None where `converged` is no function Numba can compile."""
        try:
            return load("sweep.cuh", prologue=self.prologue, ltoir=self.ltoir, names=KERNELS, title=self.title)
        except CompileError:
            return None


def _c(dtype: np.dtype[Any]) -> str:
    from hpgraph.semiring.cuda import c_type

    return "unsigned char" if dtype == np.bool_ else c_type(dtype)


@lru_cache(maxsize=256)
def sweep_code(code: ProgramCode, stop: Callable[..., Any] | None) -> SweepCode:
    """The C++ form of a program and its `converged`; made once.

    Parameters
    ----------
    code : ProgramCode
    stop : function or None

    Returns
    -------
    SweepCode
    """
    return SweepCode(code, stop)


def sweeps(
    code: ProgramCode,
    rows: CSR | HYB,
    state: tuple[Any, ...],
    world: tuple[Any, ...],
    stop: Callable[..., Any] | None,
    limit: int,
) -> tuple[int, bool, np.ndarray, int] | None:
    """Run supersteps in which every vertex sends and is updated, until the program stops.

    Parameters
    ----------
    code : ProgramCode
        Of a program without `cond`.
    rows : CSR or HYB
        The arcs by the vertex that gathers.
    state : tuple of CuPy arrays
        The properties; changed in place.
    world : tuple of scalars
        Parameters, then sums.
    stop : function or None
        The program's `converged`.
    limit : int
        Supersteps at the most.

    Returns
    -------
    steps : int
        Supersteps done.
    stopped : bool
        Whether the program ended, rather than reaching the limit.
    sums : float64 array
        Those of the last superstep.
    nanoseconds : int
        Time of all supersteps.
    None
        If the program cannot run so; nothing was done then.

    Notes
    -----
    Waits for the device, two supersteps behind it.
    """
    import cupy

    made = sweep_code(code, stop)
    module = made.load()
    if module is None:
        return None
    n = len(state[0])
    columns = code.aggregates + 2
    begin = np.zeros(2 + columns)
    begin[2 : 2 + code.aggregates] = world[len(world) - code.aggregates :]
    standing = cupy.asarray(begin)
    sums, message = cupy.empty((-(-n // SPAN), columns), np.float64), cupy.empty(n, code.message)
    program = made.program.struct(state, world)
    offer, once = functions_of(code).offer, sources_only(code)

    def superstep() -> None:
        pull(rows, offer, code.reduce, state, message, sources_only=once)
        arguments = program, np.int64(n), message, standing, sums
        module.function(KERNELS[0])((len(sums),), (THREADS,), arguments)
        module.function(KERNELS[1])((1,), (THREADS,), (program, sums, np.int64(len(sums)), standing))

    slots = AHEAD + 1
    memory = cupy.cuda.alloc_pinned_memory(16 * slots)
    seen = np.frombuffer(memory, np.int64, 2 * slots).reshape(slots, 2)
    events = [cupy.cuda.Event(disable_timing=True) for _ in range(slots)]
    stream = cupy.cuda.get_current_stream()
    graph = None
    began = time.perf_counter_ns()
    for i in range(limit):
        if i == 0:
            superstep()
        else:
            # The graph goes on using the temporaries it was captured with: `kept` holds them.
            graph, kept = _captured(superstep) if graph is None else (graph, kept)
            graph.launch(stream)
        slot = i % slots
        cupy.cuda.runtime.memcpyAsync(
            seen[slot].ctypes.data, standing.data.ptr, 16, cupy.cuda.runtime.memcpyDeviceToHost, stream.ptr
        )
        events[slot].record(stream)
        if i >= AHEAD:
            events[(i - AHEAD) % slots].synchronize()
            if seen[(i - AHEAD) % slots, 1]:
                break
    end = standing.get()
    steps, stopped = (int(value) for value in end[:2].view(np.int64))
    return steps, bool(stopped), end[2 : 2 + code.aggregates], time.perf_counter_ns() - began


def _captured(work: Callable[[], None]) -> tuple[Any, list[Any]]:
    """What `work` launches as a CUDA graph, and the temporary memory it needs for as long as it is replayed."""
    import cupy

    outer, allocate = cupy.cuda.get_current_stream(), cupy.cuda.get_allocator()
    kept: list[Any] = []

    def keep(size: int) -> Any:
        # CuPy's pool has free blocks for each stream, and this memory is used on the outer one.
        with outer:
            kept.append(allocate(size))
        return kept[-1]

    stream = cupy.cuda.Stream(non_blocking=True)
    with cupy.cuda.using_allocator(keep), stream:
        stream.begin_capture()
        try:
            work()
        finally:
            graph = stream.end_capture()
    return graph, kept
