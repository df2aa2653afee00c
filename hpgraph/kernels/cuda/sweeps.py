"""Runs of supersteps over all vertices on the GPU, without the host between them.

The first superstep is launched as usual; the launches of the second are captured in a CUDA graph that the later ones
replay. The host stays a little behind: it looks whether the program has converged while the next superstep is running.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from hpgraph.errors import CompileError
from hpgraph.formats import CSR, HYB
from hpgraph.kernels.cuda.blocked import unread
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.kernels.cuda.product import pull
from hpgraph.kernels.cuda.program import CUDAProgram, _c
from hpgraph.kernels.functions import ProgramFunctions, functions_of
from hpgraph.kernels.program import ProgramCode
from hpgraph.semiring.function import Function
from hpgraph.techniques import techniques

# As in apply.cuh.
SPAN, THREADS = 2048, 256
# Supersteps launched beyond the one whose outcome is known: enough to keep the device busy, few enough to waste little.
AHEAD = 2
KERNELS = tuple(f"hpgraph::{name}<Sweeping>" for name in ("sweep", "conclude"))

# Bit for bit, so that what is stored is what was computed: a zero may change its sign.
DIFFER = """
template <class T> __device__ bool hpg_differ(T a, T b) {
    if constexpr (sizeof(T) == 8) return *(unsigned long long*)&a != *(unsigned long long*)&b;
    else if constexpr (sizeof(T) == 4) return *(unsigned*)&a != *(unsigned*)&b;
    else return a != b;
}
"""


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


class SweepProgram(CUDAProgram):
    """C++ text and code of a program that can sweep: the struct ``Sweeping`` of sweep.cuh.

    Parameters
    ----------
    code : ProgramCode
    stop : function or None
        The program's `converged`.
    """

    def __init__(self, code: ProgramCode, stop: Callable[..., Any] | None) -> None:
        super().__init__(code, None)
        self.stop = stop

    @cached_property
    def _functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        # A vertex's properties are updated in registers: to read again what was just stored waits for the store.
        made, found = ProgramFunctions(self.code, own="0"), dict(super()._functions)
        found["hpg_advance"] = (made.update, *found["hpg_update"][1:])
        if self.code.aggregate is not None:
            found["hpg_tally"] = (made.aggregate, *found["hpg_aggregate"][1:])
        if self.stop is not None:
            world = "".join(f", world[{i}]" for i in range(len(self._world)))
            body = f"return True if converged(World(step{world})) else False"
            function = self.code.wrap("converged_at", "world, step", body, converged=self.stop)
            found["hpg_converged"] = (function, (self._world, np.dtype(np.int64)), np.dtype(np.bool_))
        return found

    @cached_property
    def prologue(self) -> str:
        """C++ text: the program's, and the struct ``Sweeping``."""
        fixed = len(self._world) - self.code.aggregates
        takes = "".join(f" w{fixed + i} = sums[{i}];" for i in range(self.code.aggregates))
        world = "".join(f"w{i}, " for i in range(len(self._world)))
        types = [_c(dtype) for dtype in self._properties]
        fresh = ", ".join(f"&n{i}" for i in range(len(types)))
        before = ", ".join(f"b{i}" for i in range(len(types)))
        tally = f"        hpg_tally({fresh}, {before}, v, {world}step, sums);\n" if self.code.aggregate else ""
        return "".join(
            [
                super().prologue,
                DIFFER,
                "struct Sweeping : Program {\n",
                "    __device__ bool apply(long long v, Message message, long long step, double* sums) const {\n",
                *(
                    f"        {name} n{i} = p{i}[v];\n        const {name} b{i} = n{i};\n"
                    for i, name in enumerate(types)
                ),
                f"        const bool changed = hpg_advance({fresh}, v, message, {world}step);\n",
                tally,
                *(f"        if (hpg_differ(n{i}, b{i})) p{i}[v] = n{i};\n" for i in range(len(types))),
                "        return changed;\n    }\n",
                f"    __device__ void take(const double* sums) {{{takes} }}\n",
                "    __device__ bool converged(long long step) const {",
                f" return {f'hpg_converged({world}step)' if self.stop else 'false'}; }}\n}};\n",
            ]
        )

    def load(self) -> Module | None:
        """The kernels for the current device; None where `converged` is no function Numba can compile."""
        try:
            return load("sweep.cuh", prologue=self.prologue, ltoir=self.ltoir, names=KERNELS, title=self.code.name)
        except CompileError:
            return None


@lru_cache(maxsize=256)
def sweep_program(code: ProgramCode, stop: Callable[..., Any] | None) -> SweepProgram:
    """The C++ form of a program and its `converged`; made once.

    Parameters
    ----------
    code : ProgramCode
    stop : function or None

    Returns
    -------
    SweepProgram
    """
    return SweepProgram(code, stop)


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

    made = sweep_program(code, stop)
    module = made.load()
    if module is None:
        return None
    n = len(state[0])
    columns = code.aggregates + 2
    begin = np.zeros(2 + columns)
    begin[2 : 2 + code.aggregates] = world[len(world) - code.aggregates :]
    standing = cupy.asarray(begin)
    sums, message = cupy.empty((-(-n // SPAN), columns), np.float64), cupy.empty(n, code.message)
    program = made.struct(state, world)
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
    replay: tuple[Any, list[Any]] | None = None
    began = time.perf_counter_ns()
    for i in range(limit):
        if i == 0 or not techniques.captured_graph:
            superstep()
        else:
            # The graph goes on using the temporaries it was captured with, which are kept with it.
            replay = _captured(superstep) if replay is None else replay
            replay[0].launch(stream)
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
