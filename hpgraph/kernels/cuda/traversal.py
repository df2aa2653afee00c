"""Vertex programs on the GPU: work space for the persistent traversal kernels, and the launches.

Work runs on CuPy's current stream and takes its memory from CuPy's pool. Nothing here waits for the device unless it
says so: a traversal's trace stays there until somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.attached import attached
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.kernels.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.cuda.product import pull
from hpgraph.kernels.cuda.product_push import push
from hpgraph.kernels.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.cuda.structs import struct
from hpgraph.kernels.empty_rows import empty_rows
from hpgraph.kernels.functions import functions_of
from hpgraph.kernels.program import Beginning, ProgramCode, buckets
from hpgraph.techniques import techniques

# As in arcs.cuh, frontier.cuh and apply.cuh.
PIECE = 256
SPAN, APPLY_THREADS = 2048, 256
# Threads of a block. With 640 a thread has 96 registers and the kernels hardly spill: supersteps of a few thousand
# vertices are over a quarter sooner. Relaxing the arcs of a dense graph takes all the loads in flight there can be.
THREADS, THREADS_OF_MANY_ARCS = 640, 1024
# Arcs a vertex in the mean above which a graph is dense.
MANY_ARCS = 8
# Arcs a lane of a push has under way at once.
BATCH = 2
# Vertices and arcs that are few enough for a block alone.
LOCAL_VERTICES, LOCAL_ARCS = 256, 1024
# There are no more hubs than this: vertices whose degree is above a power of two.
HUBS = 4096
# Supersteps a trace has room for; later ones run but are not listed.
TRACE_ROWS = 1 << 20
# What a launch finds zeroed: barrier, three tallies, two far tails, what a block alone returns; and where each lies.
HEADER, TALLY, FAR, LOCAL = 320, 8, 176, 192


@attached
def _pieces(arcs: CSR) -> int:
    """Pieces all heavy vertices together take in the queue; waits for the device, once a graph."""
    degrees = arcs.degrees
    heavy = degrees[degrees > PIECE]
    return int((-(-heavy // PIECE)).sum())


@attached
def _hubs(out: CSR) -> tuple[int, int]:
    """A number of arcs, a power of two, such that few vertices have more, and how many do; waits for the device."""
    degrees = out.degrees
    largest = int(degrees.max()) if len(degrees) else 0
    least = 1
    while int((degrees > least).sum()) > HUBS:
        least *= 2
    return least, int((degrees > least).sum()) if largest > least else 0


def _techniques(by_hubs: bool = False) -> str:
    """The C++ type that says which techniques take part."""
    flags = techniques.heavy_pieces, techniques.early_exit, techniques.lane_refill
    return _type_of(*flags, BATCH if techniques.arc_batches else 1, by_hubs, techniques.short_queues)


@cache
def _type_of(*switches: int) -> str:
    return f"hpgraph::Techniques<{', '.join(str(int(switch)) for switch in switches)}>"


def _local_limits(local: bool) -> tuple[np.int64, np.int64]:
    """What a block takes on alone: the fields of a ``LocalLimits``."""
    return np.int64(LOCAL_VERTICES if local else -1), np.int64(LOCAL_ARCS)


@lru_cache(maxsize=256)
def _policy(
    n: int, arcs: int, alpha: float, beta: float, gamma: float, hub: int, forced: int, limit: int, local: bool
) -> np.ndarray:
    """A struct ``Policy``, its shares turned into numbers: `gamma` hubs, and of all arcs and vertices."""
    # An endless share is as good as a very large one.
    bounds = [np.int64(min(share, 1 << 62)) for share in (alpha * arcs, np.ceil(beta * n), gamma)]
    return struct(*bounds, np.int64(hub), np.int32(forced), limit, arcs, *_local_limits(local))


class _Space:
    """One allocation, cut into the arrays a traversal works in; the first is cleared."""

    def __init__(self, cleared: int, *sizes: int) -> None:
        import cupy

        ends = [0]
        for size in (cleared, *sizes):
            ends.append(ends[-1] + -(-size // 256) * 256)
        self._memory = cupy.cuda.alloc(ends[-1])
        self._memory.memset_async(0, cleared)
        self.start = self._memory.ptr
        self.addresses = [self.start + end for end in ends[1:-1]]

    def header(self, *offsets: int) -> list[int]:
        """Addresses in what is cleared."""
        return [self.start + offset for offset in offsets]


class _Record:
    """Trace rows on the device, with what came out in front (trace.cuh's ``Outcome``); fetched when called."""

    def __init__(self, n: int) -> None:
        import cupy

        self.capacity = min(n + 2, TRACE_ROWS)
        self._memory = cupy.empty((self.capacity + 2, 4), np.int64)
        address = self._memory.data.ptr
        self.fields = address + 64, self.capacity, address

    def counts(self) -> tuple[int, int]:
        """Supersteps done and vertices left active; waits for the kernel."""
        done, left = self._memory[0, :2].get()
        return int(done), int(left)

    def __call__(self) -> np.ndarray:
        done, _ = self.counts()
        memory = self._memory[: min(done, self.capacity) + 2].get()
        began, ended, *times = memory[:2].ravel()[2:6]
        rows = memory[2:]
        # Cycles at the end of each superstep, to nanoseconds that it took.
        rows[:, 3] = np.diff(rows[:, 3], prepend=began) * ((times[1] - times[0]) / max(ended - began, 1))
        return rows


@attached
def _arcs(csr: CSR) -> np.ndarray:
    """A struct ``Arcs``: addresses, so that it does not keep alive what it belongs to."""
    return struct(csr.indptr, csr.indices, csr.data)


def _sources(sources: Any) -> np.ndarray:
    """A single source travels with the launch; more lie in memory."""
    single = sources[0] if isinstance(sources, np.ndarray) else sources.dtype.type(0)
    return struct(None if isinstance(sources, np.ndarray) else sources, np.int64(len(sources)), single)


def _least(values: Any, beginning: Beginning | None, sources: Any) -> Any:
    """The least value of a source, from which buckets are counted; waits for the device where an array was given."""
    if beginning is None:
        return values[sources].min().item() if len(sources) else 0
    if isinstance(beginning.start, str):  # "id"
        return sources.min().item() if len(sources) else 0
    return beginning.fill if beginning.start is None else beginning.start


@lru_cache(maxsize=256)
def _traversal(
    program: CUDAProgram,
    source: str,
    arguments: str,
    ids: np.dtype,
    pattern: bool,
    chosen: str,
    device: int,
    threads: int = THREADS,
) -> Callable[..., None]:
    """The traversal kernel of a file for a program, on a device: found once.

    One block a multiprocessor, so that all are resident and barriers are short.
    """
    index = "int" if ids == np.int32 else "long long"
    weight = "hpgraph::Pattern" if pattern else program.weight_type
    name = f"hpgraph::{source.removesuffix('.cuh')}<Program, {index}, {weight}{arguments}, {chosen}>"
    prologue, title = f"#define HPGRAPH_THREADS {threads}\n{program.prologue}", program.code.name
    module = load(source, prologue=prologue, ltoir=program.ltoir, names=(name,), cooperative=True, title=title)
    return partial(module.function(name), (multiprocessors(),), (threads,))


def _load(program: CUDAProgram, source: str, *names: str) -> Module:
    return load(source, prologue=program.prologue, ltoir=program.ltoir, names=names, title=program.code.name)


def _weight(csr: CSR | HYB) -> np.dtype | None:
    return None if csr.dtype is None else csr.dtype


def first(
    code: ProgramCode,
    out: CSR,
    in_: CSR,
    state: tuple[Any, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    sources: Any,
    *,
    alpha: float,
    beta: float,
    forced: int,
    limit: int,
    gamma: float | None = None,
) -> Callable[[], np.ndarray]:
    """Run a program whose first message wins; see `hpgraph.kernels.cpu.first`.

    Parameters
    ----------
    gamma : float or None
        Push turns to pull above this share of the hubs, instead of above `alpha` of all arcs.

    Returns
    -------
    callable
        Fetches the trace rows.
    """
    import cupy

    program = cuda_program(code, _weight(out))
    n, arcs, ids = out.shape[0], len(out.indices), out.indices.dtype
    # In pushes a list holds pieces of rows of `out`, in pulls those of `in_`.
    pieces, words = max(_pieces(out), _pieces(in_)) * 2 * ids.itemsize, (n + 31) // 32 * 4
    space = _Space(HEADER, words, words, words, n * ids.itemsize, pieces, n * ids.itemsize, pieces)
    record = _Record(n)
    hub, hubs = (0, 0) if gamma is None else _hubs(out)
    chosen, device = _techniques(gamma is not None), cupy.cuda.runtime.getDevice()
    _traversal(program, "first.cuh", "", ids, out.data is None, chosen, device)(
        (
            program.struct(state, world, beginnings), np.int64(n), _arcs(out), _arcs(in_), _sources(sources),
            _policy(n, arcs, alpha, beta, (gamma or 0) * hubs, hub, forced, limit, techniques.local_block),
            struct(*space.header(0, TALLY), empty_rows(in_).words, *space.addresses, *record.fields,
                   *space.header(LOCAL)),
        ),
    )  # fmt: skip
    return record


def relax(
    code: ProgramCode,
    out: CSR,
    state: tuple[Any, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    sources: Any,
    *,
    delta: float | None,
    ceiling: float | None,
    limit: int,
) -> tuple[Callable[[], np.ndarray], Any]:
    """Run a program that lowers one property in place; see `hpgraph.kernels.cpu.relax`.

    Returns
    -------
    rows : callable
        Fetches the trace rows.
    active : array of vertex ids
        Who would have gone on. Where `limit` can be reached, this waits for the kernel.
    """
    import cupy

    program = cuda_program(code, _weight(out))
    n, ids = out.shape[0], out.indices.dtype
    dtype = state[0].dtype
    pieces, row = _pieces(out) * 2 * ids.itemsize, (n + 63) // 64
    bits = cupy.zeros((3, row), np.uint64)
    vertices = n * ids.itemsize
    space = _Space(HEADER, 16, vertices, pieces, vertices, pieces, vertices, vertices)
    least, *arrays = space.addresses
    record = _Record(n)
    least_source = 0 if delta is None else _least(state[0], beginnings[0], sources)
    step, end, last = buckets(dtype, delta, ceiling, least_source)
    largest = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    masks = [bits.data.ptr + 8 * row * i for i in range(3)]
    device = cupy.cuda.runtime.getDevice()
    threads = THREADS_OF_MANY_ARCS if len(out.indices) > MANY_ARCS * n else THREADS
    _traversal(program, "relax.cuh", ", Program::Message", ids, out.data is None, _techniques(), device, threads)(
        (
            program.struct(state, world, beginnings), np.int64(n), _arcs(out), _sources(sources),
            struct(np.int32(delta is not None or ceiling is not None), end, step, last, dtype.type(largest), least),
            np.int64(limit), struct(*_local_limits(techniques.local_block)),
            struct(*space.header(0, TALLY), *masks, *arrays, *space.header(FAR), *record.fields,
                   *space.header(LOCAL)),
        ),
    )  # fmt: skip
    if limit >= np.iinfo(np.int64).max:
        return record, sources[:0]
    done, left = record.counts()
    # The kernel swaps the two queues' bitmasks in every superstep.
    return record, Bitmask(n, bits[done % 2] | bits[2]).to_indices() if left else sources[:0]


def _grid(n: int) -> tuple[tuple[int], tuple[int]]:
    return (-(-n // SPAN),), (APPLY_THREADS,)


def _sum(module: Module, rows: Any, sums: Any) -> None:
    """The rows' total."""
    module.function("hpgraph::total<Program>")((1,), (APPLY_THREADS,), (rows, np.int64(len(rows)), sums))


def apply(
    code: ProgramCode,
    state: tuple[Any, ...],
    message: Any,
    received: Bitmask,
    world: tuple[Any, ...],
    step: int,
    active: Bitmask,
) -> tuple[np.ndarray, int, int]:
    """Update the vertices that received a message; see `hpgraph.kernels.cpu.apply`. Waits for the device."""
    import cupy

    program = cuda_program(code, None)
    n = len(message)
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module = _load(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::apply<Program>")(
        *_grid(n),
        (program.struct(state, world), np.int64(n), message, received.words, np.int64(step), active.words, rows),
    )
    sums = cupy.empty(rows.shape[1], np.float64)
    _sum(module, rows, sums)
    total = sums.get()  # Python decides by it whether to go on
    return total[: code.aggregates], int(total[-2]), int(total[-1])


_APPLY = tuple(f"hpgraph::{name}<Program>" for name in ("apply", "contribute", "total", "settle"))


def aggregate(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are. Waits for the device."""
    import cupy

    sums = cupy.empty(code.aggregates + 2, np.float64)
    aggregate_to(code, state, world, sums)
    return sums.get()[: code.aggregates]


def aggregate_to(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...], sums: Any) -> None:
    """The same, left on the device.

    Parameters
    ----------
    code : ProgramCode
        Of a program that aggregates.
    state : tuple of CuPy arrays
    world : tuple of scalars
    sums : float64 CuPy array
        Written: the sums, and two zeros, the vertices that changed and were updated.
    """
    import cupy

    program = cuda_program(code, None)
    n = len(state[0])
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module = _load(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::contribute<Program>")(*_grid(n), (program.struct(state, world), np.int64(n), rows))
    _sum(module, rows, sums)


def pull_messages(
    code: ProgramCode, rows: CSR | HYB, state: tuple[Any, ...], active: Bitmask | None, message: Any, received: Bitmask
) -> None:
    """Every vertex that may receive combines the messages of its active in-neighbours; see `hpgraph.kernels.cpu`."""
    offer = functions_of(code).offer
    pull(rows, offer, code.reduce, state, message, active=active, received=received, **_closed(code, state))


def push_messages(
    code: ProgramCode, arcs: CSR, state: tuple[Any, ...], frontier: Any, message: Any, received: Bitmask
) -> None:
    """The active vertices send along the arcs that leave them; see `hpgraph.kernels.cpu`."""
    message.fill(code.reduce.identity_for(code.message))
    touched = push(arcs, functions_of(code).offer, code.reduce, state, frontier, message, **_closed(code, state))
    received.words[:] = Bitmask.from_indices(touched, received.n).words


def _closed(code: ProgramCode, state: tuple[Any, ...]) -> dict[str, Any]:
    """The mask of a product: whoever `cond` keeps from receiving is left out."""
    import cupy

    if code.cond is None:
        return {}
    n = len(state[0])
    words = cupy.empty((n + 63) // 64, np.uint64)
    program = cuda_program(code, None)
    world = tuple(dtype.type(0) for _, dtype in code.parameters)  # `cond` does not read it
    module = _load(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::settle<Program>")(
        (-(-(words.size * 64) // APPLY_THREADS),), (APPLY_THREADS,), (program.struct(state, world), np.int64(n), words)
    )
    return {"mask": Bitmask(n, words, validate=False), "complement": True}
