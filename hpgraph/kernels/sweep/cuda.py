"""Runs of supersteps over all vertices on the GPU, without the host between them.

Three ways, by the matrix. One without a tail (all slab) takes a single cooperative kernel. Otherwise the
launches of a superstep are captured in a CUDA graph that later supersteps replay: a product and then an update, or
blocks of columns, with the update fused into the product's last phase. The host tests for convergence while later
supersteps are running.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core import work_clock
from hpgraph.core.device import cupy
from hpgraph.core.errors import CompileError
from hpgraph.core.locks import uncollected
from hpgraph.formats import RowFormat
from hpgraph.kernels.runtime.cuda.compile import Kernel, Module
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.specialization import Specialization, specialize_for
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda import pull_all
from hpgraph.kernels.spmv.cuda_column_blocks import BlockedProduct, add_shape, blocked_product, gather_partials
from hpgraph.kernels.superstep.cuda_apply import aggregate_to
from hpgraph.kernels.sweep import Swept
from hpgraph.kernels.sweep.cuda_program import SweepProgram, left_out, read_by_gather, sweep_program

SLAB = "hpgraph::sweep_slab<Product, Sweeping>"


def sweep_slab(
    made: SweepProgram, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...], limit: int, standing: Any
) -> np.ndarray | None:
    """Run a program's supersteps, if the matrix is a slab without a tail.

    Waits for the device. Takes memory for a second copy of each property that `gather` reads.

    ``state``: the properties; changed in place. Returns `standing` on the host; None if nothing was done.
    """
    slab, tail = rows.slab, rows.tail
    if not techniques.fused_supersteps or slab is None or (tail is not None and len(tail.indices)):
        return None
    code, n = made.code, rows.shape[0]
    types = tuple(array.dtype for array in state)
    special = specialize_for(rows, functions_of(code).offer, code.reduce, types, code.message, None, False)
    kernel = _kernel(made, special, cupy.cuda.runtime.getDevice())
    twice = read_by_gather(code)
    other = tuple(cupy.empty_like(array) if i in twice else array for i, array in enumerate(state))
    blocks = min(kernel.resident(BLOCK), -(-n // BLOCK))
    sums, arrived = cupy.empty((2, blocks, code.aggregates + 2), np.float64), cupy.zeros(1, np.uint32)
    kernel(
        (blocks,), (BLOCK,),
        (
            made.struct(state, world), made.struct(other, world), special.gather.arguments(state),
            special.gather.arguments(other), struct(slab.indices, slab.data), np.int64(n), np.int64(slab.width),
            np.int64(limit), standing, sums, arrived,
        ),
    )  # fmt: skip
    end: np.ndarray = standing.get()
    if int(end[:1].view(np.int64)[0]) % 2:
        for values, newest in zip(state, other, strict=True):
            if newest is not values:
                values[...] = newest
    return end


@lru_cache(maxsize=64)
def _kernel(made: SweepProgram, special: Specialization, device: int) -> Kernel:
    """The kernel of a program; cached."""
    return made.load("sweep_slab.cuh", (SLAB,), special.prologue, special.ltoir, cooperative=True).function(SLAB)


# As in apply.cuh.
SPAN, THREADS = 2048, 256
# Supersteps launched ahead of the last one known not to have converged: enough to keep the device busy, few to discard.
LAUNCHES_AHEAD = 2
KERNELS = tuple(f"hpgraph::{name}<Sweeping>" for name in ("sweep", "conclude", "send_sums"))
BY_BLOCKS = ("hpgraph::sweep_blocks<Blocked, Sweeping>", *KERNELS[1:])


def sweeps(
    code: ProgramCode, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...], stop: Callable[..., Any] | None,
    limit: int,
) -> Swept | str:  # fmt: skip
    """Run supersteps in place until the program stops; waits for the device, two supersteps behind it."""
    made = sweep_program(code, stop)
    standing = begin_standing(code, state, world)
    began = work_clock.now()
    try:
        end = sweep_slab(made, rows, state, world, limit, standing)
        if end is None:
            following = Following()
            superstep = _superstep(made, rows, state, world, standing, following.address)
            began = work_clock.now()
            _replay(superstep, following, limit)
            end = standing.get()
    except CompileError:
        if made.answers_converged():
            raise
        return "converged compiles for Python alone"
    return swept(end, code, began)


def begin_standing(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> Any:
    """A ``struct Standing`` on the current device, with the sums of the initial properties."""
    standing = cupy.zeros(4 + code.aggregates)
    if code.aggregate is not None:
        aggregate_to(code, state, world, standing[2:])
    return standing


def swept(end: np.ndarray, code: ProgramCode, began: int) -> Swept:
    """Outcome of supersteps that began at `began` on the work clock, from a host copy of the ``struct Standing``."""
    steps, stopped = (int(value) for value in end[:2].view(np.int64))
    # The host does not see the ends of supersteps: the time is divided evenly.
    nanoseconds = np.full(steps, (work_clock.now() - began) // max(steps, 1))
    return Swept(bool(stopped), end[2 : 2 + code.aggregates], nanoseconds)


class Following:
    """Whether launched supersteps have stopped: a flag in the host's memory, which the kernels of the last one set."""

    def __init__(self) -> None:
        self._memory = cupy.cuda.alloc_pinned_memory(8)
        self._stopped = np.frombuffer(self._memory, np.int64, 1)
        self._stopped[0] = 0
        self.address = np.uintp(self._memory.ptr)
        self._events = [cupy.cuda.Event(disable_timing=True) for _ in range(LAUNCHES_AHEAD + 1)]

    def note(self, step: int, stream: Any) -> None:
        """Record the end of a superstep, in stream order."""
        self._events[step % len(self._events)].record(stream)

    def run(self, superstep: Callable[[int], None], limit: int) -> bool:
        """Launch supersteps, which call `note`, until one has stopped or to the limit; returns whether one has."""
        for step in range(limit):
            superstep(step)
            if step >= LAUNCHES_AHEAD:
                self._events[(step - LAUNCHES_AHEAD) % len(self._events)].synchronize()
                if self._stopped[0]:
                    return True
        return False


class Halves(NamedTuple):
    """The launches of one superstep."""

    gather: Callable[[], None]  # the kernels that read the properties
    update: Callable[[], None]  # the kernels that write them, and rows of sums
    sums: Any  # float64: these rows
    program: Any  # the struct ``Sweeping``
    module: Module  # with `conclude`


def halves(
    made: SweepProgram, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...], standing: Any,
    first: int = 0, others: Sequence[tuple[Any, ...]] = (),
) -> Halves:  # fmt: skip
    """The launches of a superstep of the vertices from `first` on; it writes to `others`, on other GPUs, too."""
    code, n, ignores = made.code, rows.shape[0], left_out(made.code)
    program, offer = made.struct(state, world), functions_of(code).offer
    product, remote = product_of(made, rows, state), (np.int64(first), made.others(others))
    if product is not None:
        return _by_blocks(made, product, state, program, standing, remote)
    module = made.load("sweep.cuh", KERNELS)
    message, sums = cupy.empty(n, code.message), cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    arguments = program, np.int64(n), message, standing, sums, *remote

    def gather() -> None:
        pull_all(rows, offer, code.reduce, state, message, ignores)

    def update() -> None:
        if n:
            module.function(KERNELS[0])((len(sums),), (THREADS,), arguments)

    return Halves(gather, update, sums, program, module)


def product_of(made: SweepProgram, rows: RowFormat, state: tuple[Any, ...]) -> BlockedProduct | None:
    """The product by blocks of columns, if supersteps use it; else None."""
    code = made.code
    if not techniques.fused_supersteps:
        return None
    dtypes = tuple(a.dtype for a in state)
    return blocked_product(rows, functions_of(code).offer, code.reduce, dtypes, code.message, left_out(code))


def _by_blocks(
    made: SweepProgram, product: BlockedProduct, state: tuple[Any, ...], program: Any, standing: Any,
    remote: tuple[Any, ...],
) -> Halves:  # fmt: skip
    module = made.load("sweep_blocks.cuh", BY_BLOCKS, product.prologue, product.special.ltoir)
    blocks, shared = add_shape(product)
    sums = cupy.empty((blocks, made.code.aggregates + 2), np.float64)
    kernel, layout = module.function(BY_BLOCKS[0]), product.layout
    partial: list[Any] = []

    def gather() -> None:
        partial[:] = [gather_partials(product, state)]

    def update() -> None:
        arguments = partial.pop(), layout.row, layout.groups, program, standing, sums, *remote
        kernel((blocks,), (BLOCK,), arguments, shared_mem=shared)

    return Halves(gather, update, sums, program, module)


def conclude(half: Halves, rows: Any, standing: Any, to_host: np.uintp) -> None:
    """Add up the rows of sums, and evaluate `converged`; `to_host`: address of a `Following`'s flag, or 0."""
    arguments = half.program, rows, np.int64(len(rows)), standing, to_host
    half.module.function(KERNELS[1])((1,), (THREADS,), arguments)


def _superstep(
    made: SweepProgram, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...], standing: Any,
    to_host: np.uintp,
) -> Callable[[], None]:  # fmt: skip
    """A callable that launches one superstep."""
    half = halves(made, rows, state, world, standing)

    def superstep() -> None:
        half.gather()
        half.update()
        conclude(half, half.sums, standing, to_host)

    return superstep


def _replay(superstep: Callable[[], None], following: Following, limit: int) -> None:
    """Launch supersteps until one has stopped, or the limit is reached: the first as it is, then a captured graph."""
    stream = cupy.cuda.get_current_stream()
    # The graph uses the temporaries it was captured with, which are kept with it.
    captured: list[tuple[Any, list[Any]]] = []

    def launch(step: int) -> None:
        if step == 0 or not techniques.captured_graph:
            superstep()
        else:
            if not captured:
                captured.append(_captured(superstep))
            captured[0][0].launch(stream)
        following.note(step, stream)

    following.run(launch, limit)


def _captured(work: Callable[[], None]) -> tuple[Any, list[Any]]:
    """The launches of `work` as a CUDA graph, and the temporary memory to keep while it is replayed."""
    outer, allocate = cupy.cuda.get_current_stream(), cupy.cuda.get_allocator()
    kept: list[Any] = []

    def keep(size: int) -> Any:
        # CuPy's pool has free blocks for each stream, and this memory is used on the outer one.
        with outer:
            kept.append(allocate(size))
        return kept[-1]

    stream = cupy.cuda.Stream(non_blocking=True)
    # Freeing memory may wait for the device, which is not allowed during a capture.
    with uncollected(), cupy.cuda.using_allocator(keep), stream:
        stream.begin_capture()
        try:
            work()
        finally:
            graph = stream.end_capture()
    return graph, kept
