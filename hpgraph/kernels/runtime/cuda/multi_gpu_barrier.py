"""Kernels on several GPUs that synchronize without the host (multi_gpu_barrier.cuh): their launch, and their trace.

All kernels of a search must be resident at once, or they would deadlock. So they are launched in the same order on
every device, by one thread at a time. And the host must not wait for a device between the first launch and the last:
memory is allocated before, garbage collection is off, and each kernel is run alone on a device first, as the driver may
load its code and allocate stack memory at the first launch.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.core.locks import Lock, uncollected
from hpgraph.kernels.runtime.cuda.part import BARRIER_STATE, MAX_PARTS, Elements, Part, Rows
from hpgraph.kernels.runtime.cuda.persistent import TRACE, Record
from hpgraph.kernels.runtime.cuda.structs import Block, Layout, packed
from hpgraph.kernels.runtime.cuda.takeover import slot_of
from hpgraph.kernels.runtime.program import Beginning

PARTS = Layout(
    "Parts", me="i64", count="i64", begins=("i64", MAX_PARTS + 1), barrier_states="*",
    reports=("*", MAX_PARTS),
).of()  # fmt: skip
REMOTE_MESSAGE = Layout("RemoteMessage<{Index}, {Message}>", vertex="Index", message="Message")
POST = Layout("Post<{Index}, {Message}>", **{"to": ("*", 2 * MAX_PARTS), "from": ("*", 2 * MAX_PARTS)})
# Further structs of a launch.
SHARED = (PARTS, BARRIER_STATE)

_launching = Lock()
# For each device, the streams of the last launch's kernels, and an event after each.
_last: dict[int, dict[int, Any]] = {}
# These handles always denote the same streams; another handle may have been reused.
_LASTING = (0, 1)


class Launch(NamedTuple):
    """A kernel of one part, ready to be launched, with its arguments but for the last two: the team and the number."""

    kernel: Any
    arguments: tuple[Any, ...]

    def packed(self, team: bytes) -> Block:
        """All arguments in memory, the number still 0."""
        return packed((*self.arguments, team, np.uint64(0)))


class _Ready(NamedTuple):
    """A part with its properties, its launch, and its stream."""

    part: Part
    own: tuple[Elements, ...]
    launch: Launch
    block: Block
    stream: int

    def run(self, number: int) -> None:
        """Launch it, under a number; its device is the current one."""
        self.block.set_last(number)
        self.launch.kernel.func.launch(*self.launch.kernel.args, self.block, self.stream)


class Parts:
    """The parts of a divided graph, and launches on all of them.

    ``rows``: in the order of their vertices, at most `MAX_PARTS`. Several may lie on one device; others must be able
    to reach each other's memory.
    """

    def __init__(self, rows: Sequence[Rows]) -> None:
        devices = [one.device for one in rows]
        for device in set(devices):
            # The rows may still be in transfer, on streams that the parts' streams do not wait for.
            cupy.cuda.Device(device).synchronize()
        self.all = [
            Part(one, number, devices[:number].count(one.device), devices.count(one.device), one.device == devices[0])
            for number, one in enumerate(rows)
        ]
        self.n, self.gpus = rows[-1].last, len(set(devices))
        self.arcs = sum(one.out.nnz for one in rows)
        begins = [one.first for one in rows] + [self.n] * (MAX_PARTS + 1 - len(rows))
        reports = _padded([part.reports for part in self.all])
        # A struct ``Parts`` for each.
        self._teams = [PARTS(part.number, len(rows), *begins, part.barrier_states, *reports) for part in self.all]
        self._numbers = itertools.count(1)
        self._kept: dict[Any, Any] = {}
        self.lock = Lock()
        # Kernels write to it when they end: see LocalLimits::report.
        self._report = slot_of(self)
        # The last fields of a struct ``LocalLimits``: no search is left to the host.
        self.limits = np.int64(1 << 62), np.int32(0), int(self._report.ctypes.data)
        with self.all[0].here:
            self._before, self._end = (cupy.cuda.Event(disable_timing=True) for _ in range(2))

    @property
    def arcs_a_superstep(self) -> int:
        """In the mean of the last search that is done; 0 before the first."""
        return int(self._report[1])

    def __iter__(self) -> Iterator[Part]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def once(self, key: Any, build: Callable[[], Any]) -> Any:
        """The cached value of a key; built if missing."""
        if key not in self._kept:
            self._kept[key] = build()
        return self._kept[key]

    def shared(self, name: str, size: int) -> list[int]:
        """Addresses of memory of that name at every part, for a struct of `MAX_PARTS` of them."""
        places = []
        for part in self.all:
            with part.here:
                places.append(part.room(name, size))
        return _padded(places)

    def post(self, part: Part, remote_message: np.dtype, places: int = 1) -> list[int]:
        """The fields of a struct ``Post``: room for a remote message a vertex from every part to every other."""

        def at(to: Part, sender: Part, place: int) -> int:
            if to is sender:
                return 0
            with to.here:
                size = (to.rows.last - to.rows.first) * remote_message.itemsize
                what = f"remote messages of {remote_message.itemsize} bytes from {sender.number}, {place % places}"
                return to.room(what, size)

        sent = [_padded([at(to, part, place) for to in self.all]) for place in range(2)]
        come = [_padded([at(part, sender, place) for sender in self.all]) for place in range(2)]
        return [*sent[0], *sent[1], *come[0], *come[1]]

    def run(
        self, prepare: Callable[[Part, tuple[Elements, ...], bytes], Launch], state: tuple[Any, ...] = (),
        beginnings: tuple[Beginning | None, ...] = (), *, whole: bool = False, apart: bool = False,
    ) -> "DividedRecord":  # fmt: skip
        """Run a kernel on every part, after the current stream's work; that stream then waits for them.

        The first part's device is the current one.

        ``apart``: leave it on the devices, in arrays of its own; the contents of `state` are then undefined. Not with
        `whole`.
        """
        head, *others = self.all
        caller, record = cupy.cuda.get_current_stream(), Record(self.n)
        pieces: list[tuple[Any, ...]] = []

        def ready(part: Part) -> _Ready:
            stream = caller if part is head else part.stream
            for handle, event in _last.get(part.rows.device, {}).items():
                if handle != stream.ptr or (part is head and handle not in _LASTING):
                    stream.wait_event(event)
            if part is not head:
                stream.wait_event(self._before)
            if apart:
                pieces.append(part.pieces(state))
            own = part.properties(state, beginnings, self.n, whole, pieces[-1] if apart else ())
            launch = prepare(part, own, part.discarded if part.number else TRACE.of()(*record.fields))
            return _Ready(part, own, launch, launch.packed(self._teams[part.number]), stream.ptr)

        with _launching:
            self._before.record(caller)
            # Allocations and copies may wait for other devices, and so for a kernel that waits for the next launch.
            found = [ready(head)]
            for part in others:
                with part.here:
                    found.append(ready(part))
            if any(one.launch.kernel not in one.part.known for one in found):
                self._try_alone(found)
            self._launch_all(found)
            for part, own, *_ in found[1:]:
                with part.here:
                    if not apart:
                        part.give(state, own)
                    part.done.record(part.stream)
                    # Memory of the part freed on its device must not be reused before that.
                    cupy.cuda.runtime.streamWaitEvent(0, part.done.ptr)
                caller.wait_event(part.done)
            self._end.record(caller)
            _last.update({part.rows.device: {} for part in self.all})
            for part in others:
                _last[part.rows.device][part.stream.ptr] = part.done
            _last[head.rows.device][caller.ptr] = self._end
        return DividedRecord(record, self._end, pieces)

    def _launch_all(self, found: list[_Ready]) -> None:
        """Launch one kernel after the other; if one fails, the earlier ones are ended, and their state is cleared."""
        number, launched = next(self._numbers), []
        try:
            # Freeing memory may wait for its device.
            with uncollected():
                for one in found:
                    with one.part.here if one.part.number else nullcontext():
                        one.run(number)
                    launched.append(one.part)
        except BaseException:
            # They wait for a kernel that will never be launched.
            for part in launched:
                part.cancel(number)
            self._clear_barrier_states()
            raise

    def _try_alone(self, found: list[_Ready]) -> None:
        """Run kernels that are new on their device once, each with a single empty part."""
        for part, own, launch, *_ in found:
            if launch.kernel not in part.known:
                team = PARTS(0, 1, *[0] * (MAX_PARTS + 1), part.barrier_states, *_padded([part.reports]))
                self._clear_barrier_states()
                with part.here:
                    _Ready(part, own, launch, launch.packed(team), part.stream.ptr).run(next(self._numbers))
                part.known.add(launch.kernel)
        self._clear_barrier_states()

    def _clear_barrier_states(self) -> None:
        """Clear the barrier states if the last launch did not include all parts; waits for all devices."""
        for part in self.all:
            with part.here:
                cupy.cuda.Device().synchronize()
                part.clear_barrier_states()

    def wait(self, stream: Any) -> None:
        """Make a stream wait for the parts' work up to the last record of `done`."""
        for part in self.all:
            stream.wait_event(part.done)


class DividedRecord:
    """The trace of kernels that ran together: that of the first, as all decide the same; fetched when called."""

    def __init__(self, record: Record, end: Any, pieces: list[tuple[Any, ...]]) -> None:
        self._record, self._end, self.pieces = record, end, pieces

    def counts(self) -> tuple[int, int]:
        """Supersteps done and vertices left active; waits for the kernels."""
        self.wait()
        return self._record.counts()

    def supersteps(self) -> int:
        """Number of supersteps, traced or not; waits for the kernels."""
        return self.counts()[0]

    def __call__(self) -> np.ndarray:
        """The trace; waits for the kernels."""
        self.wait()
        return self._record()

    def wait(self) -> None:
        """Wait for the kernels, and for the copies of their results to the first part."""
        self._end.synchronize()


@cache
def message_dtype(ids: np.dtype, message: np.dtype) -> np.dtype:
    """Memory layout of a ``RemoteMessage``."""
    return REMOTE_MESSAGE.of(Index=ids, Message=message).dtype


def _padded(addresses: list[int]) -> list[int]:
    return addresses + [0] * (MAX_PARTS - len(addresses))
