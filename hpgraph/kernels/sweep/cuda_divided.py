"""Runs of supersteps over all vertices on several GPUs, without the host between the supersteps.

Each GPU gathers for the vertices of its own rows and updates them, and in the same pass writes what messages are made
of into the memory of the others, so that no copy waits for the update to end. Sums of its rows go to every other GPU
too, on a stream beside the next superstep's gathering: each adds up the same rows in the same order, and sees for
itself whether the program has converged. Events order all this; the host stays two supersteps ahead. GPUs without
access to each other's memory copy ranges and sums instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core import work_clock
from hpgraph.core.devices import Devices, bring, copy_between, reach_each_other
from hpgraph.core.errors import CompileError
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cuda_choice import reads_slab
from hpgraph.kernels.spmv.origin import hyb_of
from hpgraph.kernels.superstep.cuda import APPLY_THREADS
from hpgraph.kernels.sweep import Swept
from hpgraph.kernels.sweep.cuda import TELLING, Following, begin_standing, conclude, halves, swept
from hpgraph.kernels.sweep.cuda_program import MOST_OTHERS, SweepProgram, ignored, read_by_gather, sweep_program


class _Gpu:
    """One GPU's part of a run."""

    def __init__(self, made: SweepProgram, shard: tuple[Devices, int, CSR], state: tuple[Any, ...], number: int,
                 parts: int) -> None:  # fmt: skip
        import cupy

        self.made, self.state, self.number = made, state, number
        self.device, self.first, self.rows = shard
        self.last, columns = self.first + self.rows.shape[0], made.code.aggregates + 2
        self.others: list[_Gpu] = []
        with self.device.here:
            self.stream, self.aside = cupy.cuda.get_current_stream(), cupy.cuda.Stream(non_blocking=True)
            self.standing = cupy.zeros(2 + columns)
            # Those of one superstep may still be read when the next one's come.
            self.sums = cupy.zeros((2, parts, columns))
            self.gathered, self.updated, self.summed = (cupy.cuda.Event(disable_timing=True) for _ in range(3))

    def prepare(self, gpus: list[_Gpu], world: tuple[Any, ...], told: tuple[int, ...], in_reach: bool) -> None:
        """Know the others, and compile."""
        self.others = [gpu for gpu in gpus if gpu is not self]
        # Without access to their memory it is copied from here.
        self.in_reach, self.copied = in_reach, () if in_reach else told
        to = self.others if in_reach else []
        nobody = [None] * (MOST_OTHERS - len(to))
        addresses = [field for i in told for field in (*(other.state[i] for other in to), *nobody)]
        size = self.made.code.message.itemsize
        with self.device.here:
            rows = hyb_of(self.rows) if reads_slab(self.rows, size, size) else self.rows
            telling = np.int64(self.first), struct(np.int64(len(to)), *addresses)
            self.half = halves(self.made, rows, self.state, world, self.standing, telling)
        self.places = [
            struct(np.int64(1 + len(to)), *(gpu.sums[turn, self.number] for gpu in (self, *to)), *nobody)
            for turn in range(2)
        ]

    def gather(self) -> None:
        """Read what all have written."""
        with self.device.here:
            for other in self.others:
                self.stream.wait_event(other.updated)
                for i in self.copied:
                    self._copy(other.state[i][other.first : other.last], self.state[i][other.first : other.last])
            self.half.gather()
            self.gathered.record(self.stream)

    def conclude(self, step: int) -> None:
        """Add up everyone's sums of a superstep."""
        turn = step % 2
        with self.device.here:
            for gpu in (self, *self.others):
                self.stream.wait_event(gpu.summed)
                if not self.in_reach and gpu is not self:
                    self._copy(gpu.sums[turn, gpu.number], self.sums[turn, gpu.number])
            conclude(self.half, self.sums[turn], self.standing)

    def update(self, step: int) -> None:
        """Write this GPU's own, here and into the others' memory, once they have read what was there."""
        with self.device.here:
            for other in self.others:
                self.stream.wait_event(other.gathered)
            self.half.update()
            self.updated.record(self.stream)
            self.aside.wait_event(self.updated)
            with self.aside:
                arguments = self.half.sums, np.int64(len(self.half.sums)), self.places[step % 2]
                self.half.module.function(TELLING[2])((1,), (APPLY_THREADS,), arguments)
            self.summed.record(self.aside)

    def _copy(self, source: Any, target: Any) -> None:
        import cupy

        if source.nbytes:
            cupy.cuda.runtime.memcpyPeerAsync(
                target.data.ptr, target.device.id, source.data.ptr, source.device.id, source.nbytes, self.stream.ptr
            )


def divided_sweeps(
    code: ProgramCode,
    shards: list[tuple[Devices, int, CSR]],
    states: list[tuple[Any, ...]],
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
        The properties on the GPU of each shard; changed in place, each shard's own vertices alone, and of the others'
        what messages depend on.
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
    Waits for the GPUs.
    """
    if "target" not in ignored(code):
        return "messages depend on who gathers them"
    if len(shards) > MOST_OTHERS + 1:
        return f"there are more than {MOST_OTHERS + 1} shards"
    made = sweep_program(code, stop)
    parts = len(shards)
    gpus = [_Gpu(made, shard, states[number], number, parts) for number, shard in enumerate(shards)]
    distinct = tuple(dict.fromkeys(index for gpu in gpus for index in gpu.device.indices))
    in_reach = reach_each_other(Devices("cuda", distinct))
    try:
        for gpu in gpus:
            gpu.prepare(gpus, world, tuple(sorted(read_by_gather(code))), in_reach)
    except CompileError:
        if made.answers_converged():
            raise
        return "converged compiles for Python alone"
    head = gpus[0]
    with head.device.here:
        head.standing[...] = begin_standing(code, head.state, world)
    for gpu in gpus[1:]:
        copy_between(head.standing, gpu.standing)
    _wait(gpus)
    began = work_clock.now()
    _replay(gpus, limit)
    _wait(gpus)
    return swept(bring(head.standing, Devices("cpu")), code, began)


def _wait(gpus: list[_Gpu]) -> None:
    for gpu in gpus:
        with gpu.device.here:
            gpu.stream.synchronize()
            gpu.aside.synchronize()


def _replay(gpus: list[_Gpu], limit: int) -> None:
    """Launch supersteps until one has stopped, or the limit is reached."""
    head = gpus[0]
    with head.device.here:
        following = Following()
    for step in range(limit):
        # Every event is waited for by all before it is recorded again.
        for gpu in gpus:
            gpu.gather()
        if step:
            _conclude(gpus, step - 1, following)
        for gpu in gpus:
            gpu.update(step)
        if following.has_stopped(step):
            return
    if limit:
        _conclude(gpus, limit - 1, following)


def _conclude(gpus: list[_Gpu], step: int, following: Following) -> None:
    """The sums of a superstep on every GPU; the first one's standing comes to the host."""
    for gpu in gpus:
        gpu.conclude(step)
    head = gpus[0]
    with head.device.here:
        following.note(step, head.standing, head.stream)
