"""Persistent kernels, which run many supersteps in one launch: their work space, their launch, and their trace.

Work runs on CuPy's current stream and allocates from CuPy's pool. Nothing here waits for the device unless its
docstring says so: a trace stays on the device until it is read.
"""

from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, RowFormat, attached, lengths_of
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout, StructLayout, struct
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.techniques import techniques

# As in load_balancing.cuh, frontier_queue.cuh and apply.cuh.
PIECE = 256
# Threads of a block. With 640 a thread has 96 registers and the kernels hardly spill: supersteps of a few thousand
# vertices are over a quarter sooner.
THREADS = 640
# Arcs that a lane of a push has in flight.
BATCH = 2
# Arcs that a multiprocessor can have in flight: of 1,024 threads three each, or of 768 four.
IN_FLIGHT = 3072
# Limits of vertices and arcs for supersteps on one block.
LOCAL_VERTICES, LOCAL_ARCS = 256, 1024
# Rows of a trace; later supersteps are not recorded.
TRACE_ROWS = 1 << 20
# The structs that a launch passes or finds in memory; the ``.cuh`` files describe them.
FRONTIER = Layout("Frontier<{Index}>", light="*", pieces="*")
ARCS = Layout("Arcs<{Index}, {Weight}>", indptr="*", indices="*", data="*")
SOURCES = Layout("Sources<{Index}>", list="*", count="i64", single="Index")
TRACE = Layout("Trace", rows="*", room="i64", outcome="*")
LIMITS = Layout("LocalLimits", vertices="i64", arcs="i64", patience="i64", may_leave="int", to_host="*")
_TALLY = Layout("Tally", count="u64", arcs="u64", looked="u64", light="u64", pieces="u64", put_off="u64")
_LOCAL_RETURN = Layout("LocalReturn", tally=_TALLY, step="i64", previous="i64", sent="i64", reached="i64", thin="i64")
HEADER_FIELDS = Layout(
    "Header", barrier="unsigned", tally=(_TALLY, 3), far_tail=("u64", 2), repeated=("u64", 2),
    received_tail=("u64", 2), local=_LOCAL_RETURN,
)  # fmt: skip
HEADER = HEADER_FIELDS.of()
OUTCOME = Layout(
    "Outcome", supersteps="i64", left="i64", cycles=("i64", 2), nanoseconds=("i64", 2), passed=("i64", 2)
).of()
_ROW = Layout("TraceRow", direction="i64", active="i64", looked="i64", cycles="i64").of()
SHARED = (HEADER, OUTCOME, _ROW, TRACE.of(), LIMITS.of())


class RowLengths(NamedTuple):
    """Length of a matrix's longest row, the queue's room for pieces of all heavy vertices, and rows with entries."""

    longest: int
    pieces: int
    filled: int


@attached
def row_lengths(arcs: CSR) -> RowLengths:
    """The `RowLengths` of a graph's arcs; waits for the device, once a graph."""
    length, rows = lengths_of(arcs.indptr)
    pieces = int((-(-length // PIECE) * rows)[length > PIECE].sum())
    return RowLengths(int(length[rows > 0].max(initial=0)), pieces, int(rows[length > 0].sum()))


def heavy_pieces(arcs: CSR) -> int:
    """Pieces all heavy vertices together take in the queue; waits for the device, once a graph."""
    return row_lengths(arcs).pieces


def techniques_type(batch: int = BATCH, leaves_early: bool = True) -> str:
    """The C++ type of the techniques that are on."""
    return _type_of(techniques.switched, batch, leaves_early)


@cache
def _type_of(off: frozenset[str], batch: int, leaves_early: bool) -> str:
    heavy, early, refill, batches, short = (
        name not in off for name in ("heavy_pieces", "early_exit", "lane_refill", "arc_batches", "short_queues")
    )
    switches = heavy, early and leaves_early, refill, batch if batches else 1, short
    return f"hpgraph::Techniques<{', '.join(str(int(switch)) for switch in switches)}>"


def local_limits(local: bool) -> tuple[int, int]:
    """Limits of work for one block: the first fields of a ``LocalLimits``."""
    return LOCAL_VERTICES if local else -1, LOCAL_ARCS


def wave() -> int:
    """Arcs that the grid of a persistent kernel can have in flight, on the current device."""
    return multiprocessors() * IN_FLIGHT


class Space:
    """One allocation: a ``Header`` and work arrays; the ``Header`` and the first `cleared` arrays are zeroed."""

    def __init__(self, *sizes: int, cleared: int = 0) -> None:
        begins, end = _places(sizes)
        self._memory = cupy.cuda.alloc(end)
        self._cleared = begins[cleared] if cleared else HEADER.size
        self.clear()
        self.header = header = self._memory.ptr
        self.addresses = [header + begin for begin in begins]

    def clear(self) -> None:
        """Zero the ``Header`` and the first arrays again, as another launch needs it."""
        self._memory.memset_async(0, self._cleared)

    def on_device(self, address: int, size: int, dtype: Any) -> Any:
        """An array at an address in it."""
        return cupy.ndarray(size, dtype, self._memory + (address - self.header))

    def array(self, address: int, size: int, dtype: Any) -> np.ndarray:
        """A host copy of such an array; waits for the device."""
        return self.on_device(address, size, dtype).get()  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _places(sizes: tuple[int, ...]) -> tuple[list[int], int]:
    """Offsets of arrays of these sizes after a ``Header``, and the end of the last."""
    _, *begins, end = np.cumsum([0, *(-(-size // 256) * 256 for size in (HEADER.size, *sizes))]).tolist()
    return begins, end


class Record:
    """Trace rows on the device, with what came out in front (persistent.cuh's ``Outcome``); fetched when called."""

    def __init__(self, n: int) -> None:
        self.capacity = min(n + 2, TRACE_ROWS)
        self._memory = cupy.cuda.alloc(OUTCOME.size + self.capacity * _ROW.size)
        address = self._memory.ptr
        # The fields of a struct ``Trace``.
        self.fields = address + OUTCOME.size, self.capacity, address

    def _outcome(self) -> Any:
        return cupy.ndarray(OUTCOME.size, np.uint8, self._memory).get().view(OUTCOME.dtype)[0]

    def passed(self) -> tuple[int, int]:
        """The kernel's two further results; waits for it."""
        first, second = self._outcome()["passed"]
        return int(first), int(second)

    def counts(self) -> tuple[int, int]:
        """Supersteps done and vertices left active; waits for the kernel."""
        outcome = self._outcome()
        return int(outcome["supersteps"]), int(outcome["left"])

    def supersteps(self) -> int:
        """Number of supersteps, traced or not; waits for the kernel."""
        return self.counts()[0]

    def __call__(self) -> np.ndarray:
        """The trace; waits for the kernel."""
        outcome = self._outcome()
        shape = min(int(outcome["supersteps"]), self.capacity), _ROW.size // 8
        rows = cupy.ndarray(shape, np.int64, self._memory + OUTCOME.size).get()
        (began, ended), (first, last) = outcome["cycles"], outcome["nanoseconds"]
        # Cycles at the end of each superstep, to nanoseconds that it took.
        rows[:, 3] = np.diff(rows[:, 3], prepend=began) * ((last - first) / max(ended - began, 1))
        return rows


@attached
def arcs_struct(csr: CSR) -> bytes:
    """A struct ``Arcs``: addresses, without references to their arrays."""
    return struct(csr.indptr, csr.indices, csr.data)


def sources_struct(sources: Any) -> bytes:
    """A struct ``Sources``: a single source is passed by value, more in memory."""
    pack = _sources(sources.dtype)
    return pack(0, len(sources), sources[0]) if isinstance(sources, np.ndarray) else pack(sources, len(sources), 0)


@cache
def _sources(ids: np.dtype) -> StructLayout:
    return SOURCES.of(Index=ids)


def checks(*layouts: StructLayout) -> str:
    """C++ text that compiles where these structs, and those of every persistent kernel, are as the host fills them."""
    return "\n".join(layout.checks for layout in (*SHARED, *layouts))


@lru_cache(maxsize=256)
def kernel(
    program: CUDAProgram, source: str, name: str, switches: str, ids: np.dtype, pattern: bool, device: int,
    threads: int = THREADS, layouts: tuple[StructLayout, ...] = (), beside: int = 1, cluster: int = 0,
) -> partial[None]:  # fmt: skip
    """The persistent kernel of that name in a file, for a program, on a device; cached.

    ``switches``: its template arguments after the weight's type. It does not compile if the structs it is passed
    are not what `layouts` say.

    One block a multiprocessor, so that all are resident and barriers are short. Where `beside` kernels share the
    device, each has its share of the multiprocessors, and is no cooperative launch: a device may run those in turn.
    Nor is a single `cluster` of blocks.
    """
    index = "int" if ids == np.int32 else "long long"
    weight = "hpgraph::Pattern" if pattern else program.weight_type
    name = f"hpgraph::{name}<Program, {index}, {weight}, {switches}>"
    prologue, title = f"#define HPGRAPH_THREADS {threads}\n{program.prologue}", program.code.name
    module = load(
        source, prologue=prologue, ltoir=program.ltoir, names=(name,), title=title, checks=checks(*layouts),
        cooperative=beside == 1 and not cluster,
    )  # fmt: skip
    return partial(module.function(name), (cluster or multiprocessors() // beside,), (threads,))


class Plan(NamedTuple):
    """Launch parameters of a kernel for a matrix, computed once. `layout`: of its work space; `pieces`: see above.

    Nothing here is memory of the device, and no array is referred to: it is the matrix that keeps plans.
    """

    program: CUDAProgram
    launch: partial[None]
    layout: StructLayout
    arcs: bytes
    pieces: int


def plan(
    arcs: CSR, code: ProgramCode, source: str, name: str, switches: str, layouts: tuple[StructLayout, ...],
    threads: int = THREADS, cluster: int = 0,
) -> Plan:  # fmt: skip
    """A plan of `kernel`, compiled in a thread, concurrently with later ones; the last layout is its space's."""
    program, ids = cuda_program(code, weight_dtype(arcs)), arcs.indices.dtype
    device = cupy.cuda.runtime.getDevice()
    launch = kernel(program, source, name, switches, ids, arcs.data is None, device, threads, layouts, cluster=cluster)
    return Plan(program, launch, layouts[-1], arcs_struct(arcs), heavy_pieces(arcs))


def load_program(program: CUDAProgram, source: str, *names: str) -> Module:
    """Kernels of a file for a program, on the current device; cached."""
    return _loaded(program, source, names, cupy.cuda.runtime.getDevice())


@lru_cache(maxsize=256)
def _loaded(program: CUDAProgram, source: str, names: tuple[str, ...], device: int) -> Module:
    return load(source, prologue=program.prologue, ltoir=program.ltoir, names=names, title=program.code.name)


def weight_dtype(csr: RowFormat) -> np.dtype | None:
    """Type of a matrix's weights; None for a pattern."""
    return None if csr.dtype is None else csr.dtype
