"""Runs of supersteps over all vertices on several GPUs, without the host between the supersteps.

Each GPU gathers for the vertices of its own rows and updates them, and in the same pass writes the properties that
messages depend on into the memory of the others, so that no copy waits for the update to end. The sums of its rows are
written to every other GPU too; on a second stream, overlapped with the next superstep's gather, each GPU adds up the
same rows in the same order and tests for convergence. Events order all this; the host is two supersteps ahead. GPUs
without peer access copy ranges and sums instead.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core import work_clock
from hpgraph.core.device import cupy
from hpgraph.core.devices import Devices, copy_between, copy_on, move_array, reach_each_other
from hpgraph.core.errors import CompileError
from hpgraph.formats import CSR, ROW_FORMATS
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cuda_choice import layout_of_sweeps
from hpgraph.kernels.superstep.cuda_apply import APPLY_THREADS
from hpgraph.kernels.sweep import Swept
from hpgraph.kernels.sweep.cuda import KERNELS, Following, begin_standing, conclude, halves, swept
from hpgraph.kernels.sweep.cuda_program import MAX_OTHERS, SweepProgram, ignored, read_by_gather, sweep_program


class _Gpu:
    """One GPU's part of a run."""

    def __init__(self, made: SweepProgram, shard: tuple[Devices, int, CSR], state: tuple[Any, ...], number: int,
                 parts: int) -> None:  # fmt: skip
        self.made, self.state, self.number = made, state, number
        self.device, self.first, self.rows = shard
        self.last, columns = self.first + self.rows.shape[0], made.code.aggregates + 2
        self.others: list[_Gpu] = []
        with self.device.here:
            self.stream, self.aside = cupy.cuda.get_current_stream(), cupy.cuda.Stream(non_blocking=True)
            self.standing = cupy.zeros(2 + columns)
            # A double buffer: the sums of one superstep may still be read when the next ones are written.
            self.sums = cupy.zeros((2, parts, columns))
            self.gathered, self.updated, self.summed, self.concluded = (
                cupy.cuda.Event(disable_timing=True) for _ in range(4)
            )

    def choose(self, gpus: "list[_Gpu]", sent: tuple[int, ...], in_reach: bool) -> None:
        """Choose the layout of this GPU's rows, and whether the others write the properties `sent` to its memory."""
        self.others, self.in_reach = [gpu for gpu in gpus if gpu is not self], in_reach
        # Without peer access they are copied by this GPU.
        self.copied = () if in_reach else sent
        size = self.made.code.message.itemsize
        with self.device.here:
            self.stored = ROW_FORMATS[layout_of_sweeps(self.rows, size, size)].of(self.rows)

    def prepare(self, world: tuple[Any, ...]) -> None:
        """Compile."""
        in_reach = self.in_reach
        to = [other.state for other in self.others if in_reach]
        with self.device.here:
            self.half = halves(self.made, self.stored, self.state, world, self.standing, self.first, to)
        # Sums are written to all GPUs in any case.
        summed = [self, *(self.others if in_reach else [])]
        padding = [None] * (MAX_OTHERS + 1 - len(summed))
        self.places = [
            struct(np.int64(len(summed)), *(gpu.sums[turn, self.number] for gpu in summed), *padding)
            for turn in range(2)
        ]

    def gather(self) -> None:
        """Launch the gather, after all GPUs' updates."""
        with self.device.here:
            for other in self.others:
                self.stream.wait_event(other.updated)
                for i in self.copied:
                    self.fetch(i, other, self.stream)
            self.half.gather()
            self.gathered.record(self.stream)

    def conclude(self, step: int, to_host: np.uintp) -> None:
        """Add up the sums of all GPUs of a superstep; `to_host`: see `conclude`."""
        turn = step % 2
        with self.device.here, self.aside:
            for gpu in self.others:
                self.aside.wait_event(gpu.summed)
                if not self.in_reach:
                    copy_on(self.aside, gpu.sums[turn, gpu.number], self.sums[turn, gpu.number])
            conclude(self.half, self.sums[turn], self.standing, to_host)
            self.concluded.record(self.aside)
        # On its own device: a default stream is the current one's.
        with self.device.here:
            self.stream.wait_event(self.concluded)

    def update(self, step: int) -> None:
        """Launch the update, which also writes to the others' memory, after their gathers."""
        with self.device.here:
            for other in self.others:
                self.stream.wait_event(other.gathered)
            self.half.update()
            self.updated.record(self.stream)
            self.aside.wait_event(self.updated)
            with self.aside:
                arguments = self.half.sums, np.int64(len(self.half.sums)), self.places[step % 2]
                self.half.module.function(KERNELS[2])((1,), (APPLY_THREADS,), arguments)
            self.summed.record(self.aside)

    def fetch(self, i: int, other: "_Gpu", stream: Any) -> None:
        """Copy another GPU's own range of a property, on a stream."""
        own = slice(other.first, other.last)
        copy_on(stream, other.state[i][own], self.state[i][own])


def divided_sweeps(
    code: ProgramCode, shards: list[tuple[Devices, int, CSR]], states: list[tuple[Any, ...]], world: tuple[Any, ...],
    stop: Callable[..., Any] | None, limit: int,
) -> Swept | str:  # fmt: skip
    """Run supersteps in which every vertex sends and is updated, until the program stops.

    Waits for the GPUs.

    ``states``: the properties on the GPU of each shard; changed in place at its own vertices, and at the others' for
    properties that messages depend on.
    """
    if "target" not in ignored(code):
        return "messages depend on the vertex that gathers them"
    if len(shards) > MAX_OTHERS + 1:
        return f"there are more than {MAX_OTHERS + 1} shards"
    made = sweep_program(code, stop)
    parts = len(shards)
    gpus = [_Gpu(made, shard, states[number], number, parts) for number, shard in enumerate(shards)]
    distinct = tuple(dict.fromkeys(index for gpu in gpus for index in gpu.device.indices))
    in_reach = reach_each_other(Devices("cuda", distinct))
    sent = tuple(sorted(read_by_gather(code)))
    try:
        for gpu in gpus:
            gpu.choose(gpus, sent, in_reach)
        for gpu in gpus:
            gpu.prepare(world)
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
    return swept(move_array(head.standing, Devices("cpu")), code, began)


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

    def launch(step: int) -> None:
        # All GPUs wait for an event before it is recorded again.
        for gpu in gpus:
            gpu.gather()
        if step:
            _conclude(gpus, step - 1, following)
        for gpu in gpus:
            gpu.update(step)

    if not following.run(launch, limit) and limit:
        _conclude(gpus, limit - 1, following)


def _conclude(gpus: list[_Gpu], step: int, following: Following) -> None:
    """Add up the sums of a superstep on every GPU; the first one tells the host."""
    for gpu in gpus:
        gpu.conclude(step, np.uintp(following.address if gpu is gpus[0] else 0))
    head = gpus[0]
    with head.device.here:
        following.note(step, head.aside)
