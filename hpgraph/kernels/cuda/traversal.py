"""Vertex programs on the GPU: work space for the persistent traversal kernels, and the launches.

Work runs on CuPy's current stream and takes its memory from CuPy's pool. Nothing here waits for the device unless it
says so: a traversal's trace stays there until somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.attached import attached
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.kernels.cuda.product import pull
from hpgraph.kernels.cuda.product_push import push
from hpgraph.kernels.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.cuda.structs import struct
from hpgraph.kernels.functions import functions_of
from hpgraph.kernels.program import Beginning, ProgramCode, buckets

# As in frontier.cuh and apply.cuh.
PIECE, THREADS = 256, 1024
SPAN, APPLY_THREADS = 2048, 256
# Supersteps a trace has room for; later ones run but are not listed.
TRACE_ROWS = 1 << 20
# What a launch finds zeroed: barrier, three tallies, two far tails, what a block alone returns; and where each lies.
HEADER = 256
TALLY, FAR, LOCAL = np.uint64(8), np.uint64(128), np.uint64(144)


@cache
def _multiprocessors(device: int) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes["MultiProcessorCount"])


def _blocks() -> int:
    """Blocks of a persistent kernel: one for each multiprocessor, so that all are resident and barriers are short."""
    import cupy

    return _multiprocessors(cupy.cuda.Device().id)


@attached
def _pieces(arcs: CSR) -> int:
    """Pieces all heavy vertices together take in the queue; waits for the device, once a graph."""
    degrees = arcs.degrees
    heavy = degrees[degrees > PIECE]
    return int((-(-heavy // PIECE)).sum())


class _Space:
    """One allocation, cut into the arrays a traversal works in."""

    def __init__(self, sizes: list[int]) -> None:
        import cupy

        ends = np.cumsum([0, *(-(-size // 256) * 256 for size in sizes)])
        self._memory = cupy.empty(int(ends[-1]), np.uint8)
        self.addresses = [np.uint64(self._memory.data.ptr + int(begin)) for begin in ends[:-1]]

    def zero(self, size: int) -> None:
        """Clear the first `size` bytes."""
        self._memory[:size].data.memset_async(0, size)


class _Record:
    """Trace rows on the device, with the number of supersteps in front; fetched when called."""

    def __init__(self, n: int) -> None:
        import cupy

        self.capacity = min(n + 2, TRACE_ROWS)
        self._memory = cupy.empty((self.capacity + 1, 4), np.int64)
        self.rows = np.uint64(self._memory.data.ptr + 32)
        self.outcome = np.uint64(self._memory.data.ptr)

    def counts(self) -> tuple[int, int]:
        """Supersteps done and vertices left active; waits for the kernel."""
        done, left = self._memory[0, :2].get()
        return int(done), int(left)

    def __call__(self) -> np.ndarray:
        done, _ = self.counts()
        return self._memory[1 : min(done, self.capacity) + 1].get()


def _arcs(csr: CSR) -> np.ndarray:
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


def _types(program: CUDAProgram, csr: CSR) -> str:
    index = "int" if csr.indices.dtype == np.int32 else "long long"
    return f"Program, {index}, {'hpgraph::Pattern' if csr.data is None else program.weight_type}"


def _load(program: CUDAProgram, source: str, *names: str, cooperative: bool = False) -> Module:
    title = program.code.name
    return load(
        source, prologue=program.prologue, ltoir=program.ltoir, names=names, cooperative=cooperative, title=title
    )


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
) -> Callable[[], np.ndarray]:
    """Run a program whose first message wins; see `hpgraph.kernels.cpu.first`.

    Returns
    -------
    callable
        Fetches the trace rows.
    """
    program = cuda_program(code, _weight(out))
    n, ids = out.shape[0], out.indices.dtype.itemsize
    pieces, words = _pieces(out) * 2 * ids, (n + 31) // 32 * 4
    space = _Space([HEADER, words, words, words, n * ids, pieces, n * ids, pieces])
    header, *arrays = space.addresses
    space.zero(HEADER)
    record = _Record(n)
    kernel = f"hpgraph::first<{_types(program, out)}>"
    _load(program, "first.cuh", kernel, cooperative=True).function(kernel)(
        (_blocks(),),
        (THREADS,),
        (
            program.struct(state, world, beginnings), np.int64(n), _arcs(out), _arcs(in_), _sources(sources),
            struct(np.float64(alpha), np.float64(beta), np.int32(forced), np.int64(limit)),
            struct(header, header + TALLY, *arrays, record.rows, np.int64(record.capacity), record.outcome,
                   header + LOCAL),
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
    n, ids = out.shape[0], out.indices.dtype.itemsize
    dtype = state[0].dtype
    pieces, words = _pieces(out) * 2 * ids, (n + 31) // 32 * 4
    bits = cupy.zeros((3, (n + 63) // 64), np.uint64)
    space = _Space([HEADER, 16, n * ids, pieces, n * ids, pieces, n * ids, n * ids])
    header, least, *arrays = space.addresses
    space.zero(HEADER)
    record = _Record(n)
    least_source = 0 if delta is None else _least(state[0], beginnings[0], sources)
    step, end, last = buckets(dtype, delta, ceiling, least_source)
    kernel = f"hpgraph::relax<{_types(program, out)}, Program::Message>"
    largest = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    _load(program, "relax.cuh", kernel, cooperative=True).function(kernel)(
        (_blocks(),),
        (THREADS,),
        (
            program.struct(state, world, beginnings), np.int64(n), _arcs(out), _sources(sources),
            struct(np.int32(delta is not None or ceiling is not None), end, step, last, dtype.type(largest), least),
            np.int64(limit),
            struct(header, header + TALLY, *bits, *arrays, header + FAR, record.rows,
                   np.int64(record.capacity), record.outcome, header + LOCAL),
        ),
    )  # fmt: skip
    assert words <= bits.shape[1] * 8
    if limit >= np.iinfo(np.int64).max:
        return record, sources[:0]
    done, left = record.counts()
    # The kernel swaps the two queues' bitmasks in every superstep.
    return record, Bitmask(n, bits[done % 2] | bits[2]).to_indices() if left else sources[:0]


def _grid(n: int) -> tuple[tuple[int], tuple[int]]:
    return (-(-n // SPAN),), (APPLY_THREADS,)


def _sum(program: CUDAProgram, module: Module, rows: Any) -> Any:
    """The rows' total, fetched; waits for the device, as Python decides by it whether to go on."""
    import cupy

    sums = cupy.empty(rows.shape[1], np.float64)
    module.function("hpgraph::total<Program>")((1,), (APPLY_THREADS,), (rows, np.int64(len(rows)), sums))
    return sums.get()


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
    sums = _sum(program, module, rows)
    return sums[: code.aggregates], int(sums[-2]), int(sums[-1])


_APPLY = tuple(f"hpgraph::{name}<Program>" for name in ("apply", "contribute", "total", "settle"))


def aggregate(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are. Waits for the device."""
    import cupy

    program = cuda_program(code, None)
    n = len(state[0])
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module = _load(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::contribute<Program>")(*_grid(n), (program.struct(state, world), np.int64(n), rows))
    return _sum(program, module, rows)[: code.aggregates]


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
