"""Kernels that run side by side on several GPUs and meet without the host (meeting.cuh): their launch, and their trace.

All kernels of a search must be resident at once, or they would wait for each other for ever. So each device has one
stream for such kernels, which are put there in the same order on all devices, by one thread at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from hpgraph.core.locks import Lock
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.part import ASSEMBLY, MOST_PARTS, Elements, Part, Rows
from hpgraph.kernels.runtime.cuda.persistent import BATCH_OF_MANY_ARCS, HEADER, THREADS_OF_MANY_ARCS, Record
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.program import Beginning

PARTS = Layout(
    "Parts", me="i64", count="i64", launch="u64", begins=("i64", MOST_PARTS + 1), assembly="*",
    reports=("*", MOST_PARTS),
).of()  # fmt: skip
LETTER = Layout("Letter<{Index}, {Message}>", vertex="Index", message="Message")
POST = Layout("Post<{Index}, {Message}>", **{"to": ("*", MOST_PARTS), "from": ("*", MOST_PARTS)})
# What the kernels of a launch find besides.
SHARED = (PARTS, ASSEMBLY)

_launching = Lock()
_launches = itertools.count(1)


class Parts:
    """The parts of a divided graph, and what runs on all of them at once.

    Parameters
    ----------
    rows : sequence of Rows
        In the order of their vertices, at most `MOST_PARTS`. Several may lie on one device; others must be able to
        reach each other's memory.
    """

    def __init__(self, rows: Sequence[Rows]) -> None:
        import cupy

        devices = [one.device for one in rows]
        for device in set(devices):
            # The rows may still be on their way, on streams that the parts' do not wait for.
            cupy.cuda.Device(device).synchronize()
        self.all = [
            Part(one, number, devices[:number].count(one.device), devices.count(one.device), one.device == devices[0])
            for number, one in enumerate(rows)
        ]
        self.n = rows[-1].last
        self.arcs = sum(one.out.nnz for one in rows)
        self._begins = [one.first for one in rows] + [self.n] * (MOST_PARTS + 1 - len(rows))
        self._reports = _padded([part.reports for part in self.all])
        self._kept: dict[Any, Any] = {}
        self.lock = Lock()
        # Kernels write to it when they end: see LocalLimits::tell.
        self._told = cupy.cuda.alloc_pinned_memory(16)
        self._words = np.frombuffer(self._told, np.int64, 2)
        self._words[:] = 0
        self.told = int(self._told.ptr)
        with self.all[0].here:
            self._before = cupy.cuda.Event(disable_timing=True)
            self.wave = len(rows) * multiprocessors() * THREADS_OF_MANY_ARCS * BATCH_OF_MANY_ARCS

    @property
    def arcs_a_superstep(self) -> int:
        """In the mean of the last search that is done; 0 before the first."""
        return int(self._words[1])

    def __iter__(self) -> Iterator[Part]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def once(self, key: Any, build: Callable[[], Any]) -> Any:
        """What was worked out under a key; built now if it is not there."""
        if key not in self._kept:
            self._kept[key] = build()
        return self._kept[key]

    def struct(self, part: Part, launch: int) -> np.ndarray:
        """A struct ``Parts``."""
        return PARTS(
            part.number, len(self.all), launch << 32, *self._begins, part.header + HEADER.size, *self._reports
        )

    def shared(self, name: str, size: int) -> list[int]:
        """Addresses of memory of that name at every part, for a struct of `MOST_PARTS` of them."""
        places = []
        for part in self.all:
            with part.here:
                places.append(part.room(name, size))
        return _padded(places)

    def post(self, part: Part, letter: np.dtype) -> list[int]:
        """The fields of a struct ``Post``: a place for one letter a vertex from every part to every other."""

        def place(to: Part, sender: Part) -> int:
            if to is sender:
                return 0
            with to.here:
                size = (to.rows.last - to.rows.first) * letter.itemsize
                return to.room(f"letters of {letter.itemsize} bytes from {sender.number}", size)

        sent = [place(to, part) for to in self.all]
        return [*_padded(sent), *_padded([place(part, sender) for sender in self.all])]

    def run(
        self,
        prepare: Callable[[Part, tuple[Elements, ...], Record, np.ndarray], Callable[[], None]],
        state: tuple[Any, ...],
        beginnings: tuple[Beginning | None, ...],
        *,
        whole: bool = False,
    ) -> DividedRecord:
        """Run a kernel on every part, behind the current stream's work; that stream then waits for them.

        Parameters
        ----------
        prepare : callable
            Takes a part, its properties, where its trace goes and its struct ``Parts``, with its device and stream the
            current ones; gives what launches its kernel.
        state, beginnings, whole
            See `Part.properties`. What comes out lies in the arrays of `state`.

        Returns
        -------
        DividedRecord
        """
        import cupy

        caller = cupy.cuda.get_current_stream()
        ready = []
        with _launching:
            number = next(_launches)
            self._before.record(caller)
            # Whatever allocates or copies may wait for other devices, and so for a kernel that waits for the next one:
            # between the first launch and the last there is nothing else.
            for part in self.all:
                with part.here:
                    part.stream.wait_event(self._before)
                    part.clear_header()
                    own, record = part.properties(state, beginnings, self.n, whole), Record(self.n)
                    ready.append((part, own, record, prepare(part, own, record, self.struct(part, number))))
            launched = []
            try:
                for part, _, _, launch in ready:
                    with part.here:
                        launch()
                    launched.append(part)
            except BaseException:
                # Those that were launched wait for one that will not come.
                for part in launched:
                    part.dismiss()
                raise
            for part, own, _, _ in ready:
                with part.here:
                    part.give(state, own)
                    part.done.record(part.stream)
            self.wait(caller)
        return DividedRecord([record for _, _, record, _ in ready], [part.done for part in self.all])

    def wait(self, stream: Any) -> None:
        """Let a stream wait for what the parts had to do when `done` was recorded last."""
        for part in self.all:
            stream.wait_event(part.done)


class DividedRecord:
    """The trace of kernels that ran together: that of the first, as all have decided alike; fetched when called.

    Parameters
    ----------
    records : sequence of Record
        One a part.
    ends : sequence of cupy.cuda.Event
        When each is there.
    """

    def __init__(self, records: Sequence[Record], ends: Sequence[Any]) -> None:
        self._records, self._ends = records, ends

    def counts(self) -> tuple[int, int]:
        """Supersteps done and vertices left active; waits for the kernels."""
        self._wait()
        return self._records[0].counts()

    def supersteps(self) -> int:
        """How many there were, listed or not; waits for the kernels."""
        return self.counts()[0]

    def __call__(self) -> np.ndarray:
        """The trace; waits for the kernels."""
        self._wait()
        return self._records[0]()

    def _wait(self) -> None:
        for end in self._ends:
            end.synchronize()


@cache
def letter_dtype(ids: np.dtype, message: np.dtype) -> np.dtype:
    """A letter as it lies in memory."""
    return LETTER.of(Index=ids, Message=message).dtype


def _padded(addresses: list[int]) -> list[int]:
    return addresses + [0] * (MOST_PARTS - len(addresses))
