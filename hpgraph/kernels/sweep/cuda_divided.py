"""Runs of supersteps over all vertices on several GPUs, without the host between the supersteps.

Each GPU gathers for, and updates, the vertices of its own rows; then it copies from the others what messages are made
of, and their rows of sums, over NVLink. So every GPU adds up the same sums in the same order, and sees for itself
whether the program has converged. Events order the copies: a range is copied after its update, and updated after it was
copied. The host stays two supersteps ahead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.devices import Devices, bring, copy_between
from hpgraph.core.errors import CompileError
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cuda_choice import reads_slab
from hpgraph.kernels.spmv.origin import hyb_of
from hpgraph.kernels.superstep.cuda import APPLY_THREADS, aggregate_to
from hpgraph.kernels.sweep import Swept
from hpgraph.kernels.sweep.cuda import LAUNCHES_AHEAD, conclude, halves
from hpgraph.kernels.sweep.cuda_program import ignored, sweep_program

TOTAL = "hpgraph::total<Sweeping>"


class _Gpu:
    """One GPU's part of a run."""

    def __init__(
        self, made: Any, device: Devices, first: int, rows: CSR, state: tuple[Any, ...], world: tuple[Any, ...],
        number: int, parts: int,
    ) -> None:  # fmt: skip
        import cupy

        self.device, self.first, self.last, self.state = device, first, first + rows.shape[0], state
        self.number, columns = number, made.code.aggregates + 2
        with device.here:
            self.stream = cupy.cuda.get_current_stream()
            self.standing = cupy.zeros(2 + columns)
            self.sums = cupy.zeros((parts, columns))
            size = made.code.message.itemsize
            fitting = hyb_of(rows) if reads_slab(rows, size, size) else rows
            self.half = halves(made, fitting, state, world, self.standing, first)
            self.total = made.load("sweep.cuh", (TOTAL,)).function(TOTAL)
            self.updated, self.copied = (cupy.cuda.Event(disable_timing=True) for _ in range(2))

    def compute(self, others: list[_Gpu]) -> None:
        """Gather, update and add up this GPU's own."""
        with self.device.here:
            self.half.gather()
            for other in others:
                self.stream.wait_event(other.copied)
            self.half.update()
            own = self.sums[self.number : self.number + 1]
            self.total((1,), (APPLY_THREADS,), (self.half.sums, np.int64(len(self.half.sums)), own))
            self.updated.record(self.stream)

    def exchange(self, others: list[_Gpu], properties: tuple[int, ...]) -> None:
        """Copy what the others have updated, and conclude."""
        with self.device.here:
            for other in others:
                self.stream.wait_event(other.updated)
                for number in properties:
                    self._copy(other, other.state[number][other.first : other.last],
                               self.state[number][other.first : other.last])  # fmt: skip
                row = slice(other.number, other.number + 1)
                self._copy(other, other.sums[row], self.sums[row])
            self.copied.record(self.stream)
            conclude(self.half, self.sums, self.standing)

    def _copy(self, other: _Gpu, source: Any, target: Any) -> None:
        import cupy

        if source.nbytes:
            cupy.cuda.runtime.memcpyPeerAsync(
                target.data.ptr, target.device.id, source.data.ptr, source.device.id, source.nbytes, self.stream.ptr
            )


def divided_sweeps(
    code: ProgramCode,
    shards: list[tuple[Devices, int, CSR]],
    states: list[tuple[Any, ...]],
    told: tuple[int, ...],
    world: tuple[Any, ...],
    stop: Callable[..., Any] | None,
    limit: int,
) -> Swept | str:
    """Run supersteps in which every vertex sends and is updated, until the program stops.

    Parameters
    ----------
    code : ProgramCode
        Of a program without `cond`.
    shards : list of (Devices, int, CSR)
        The GPU of each shard, its first vertex, and the rows of its arcs by who gathers.
    states : list of tuples of CuPy arrays
        The properties on the GPU of each shard; changed in place, each shard's own vertices alone.
    told : tuple of int
        Properties, by number, that messages depend on: they are true everywhere afterwards.
    world : tuple of scalars
        Parameters, then sums, which are made anew.
    stop : function or None
        The program's `converged`.
    limit : int
        Supersteps at the most.

    Returns
    -------
    Swept
        How it went; or why this cannot be swept, and nothing was done.

    Notes
    -----
    Waits for the devices.
    """
    import cupy

    if "target" not in ignored(code):
        return "messages depend on who gathers them"
    made, began = sweep_program(code, stop), time.perf_counter_ns()
    try:
        gpus = [
            _Gpu(made, device, first, rows, state, world, number, len(shards))
            for number, ((device, first, rows), state) in enumerate(zip(shards, states, strict=True))
        ]
    except CompileError:
        if made.answers_converged():
            raise
        return "converged compiles for Python alone"
    head = gpus[0]
    if code.aggregate is not None:
        with head.device.here:
            aggregate_to(code, head.state, world, head.standing[2:])
        for gpu in gpus[1:]:
            copy_between(head.standing, gpu.standing)
    for gpu in gpus:
        with gpu.device.here:
            gpu.stream.synchronize()
    began = time.perf_counter_ns()
    _replay(gpus, told, limit)
    with head.device.here:
        end = bring(head.standing, Devices("cpu"))
    for gpu in gpus[1:]:
        with gpu.device.here:
            gpu.stream.synchronize()
    cupy.cuda.get_current_stream().synchronize()
    steps, stopped = (int(value) for value in end[:2].view(np.int64))
    nanoseconds = np.full(steps, (time.perf_counter_ns() - began) // max(steps, 1))
    return Swept(bool(stopped), end[2 : 2 + code.aggregates], nanoseconds)


def _replay(gpus: list[_Gpu], told: tuple[int, ...], limit: int) -> None:
    """Launch supersteps until one has stopped, or the limit is reached."""
    import cupy

    head, slots = gpus[0], LAUNCHES_AHEAD + 1
    memory = cupy.cuda.alloc_pinned_memory(16 * slots)
    seen = np.frombuffer(memory, np.int64, 2 * slots).reshape(slots, 2)
    with head.device.here:
        events = [cupy.cuda.Event(disable_timing=True) for _ in range(slots)]
    others = [[other for other in gpus if other is not gpu] for gpu in gpus]
    for i in range(limit):
        for gpu, rest in zip(gpus, others, strict=True):
            gpu.compute(rest)
        for gpu, rest in zip(gpus, others, strict=True):
            gpu.exchange(rest, told)
        slot = i % slots
        with head.device.here:
            cupy.cuda.runtime.memcpyAsync(
                seen[slot].ctypes.data, head.standing.data.ptr, 16, cupy.cuda.runtime.memcpyDeviceToHost,
                head.stream.ptr,
            )  # fmt: skip
            events[slot].record(head.stream)
        if i >= LAUNCHES_AHEAD:
            events[(i - LAUNCHES_AHEAD) % slots].synchronize()
            if seen[(i - LAUNCHES_AHEAD) % slots, 1]:
                break
