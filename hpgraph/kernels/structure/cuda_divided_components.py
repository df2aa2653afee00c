"""Weakly connected components of a graph that is divided among several GPUs: see divided_components.cuh."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.core.locks import uncollected
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors, struct
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
from hpgraph.kernels.runtime.cuda.part import MAX_PARTS, Part
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.cuda_components import THREADS, Forest, Ranks, Rows, blocks_of
from hpgraph.kernels.structure.empty_rows import empty_rows

KERNELS = KernelSet(
    "divided_components.cuh", "connected components",
    {"<{Id}, {Offset}>": "bound_columns",
     "<{Id}>": "stand_alone mark_largest link_others link_long_others settle begin_pairs join_pairs number_divided"},
)  # fmt: skip
# Offsets of each part's counters, in bytes: of its pairs, of long rows of two matrices, of vertices outside its largest
# tree, of the parts it has reached; and their size.
_PAIRS, _LONG, _OUTSIDE, _REACHED, _COUNTERS = 0, 8, 24, 32, 64
# Arcs of a part up to which 32-bit offsets suffice: half the bytes of the row bounds that two kernels read.
SHORT = 1 << 32
# Thread blocks to a multiprocessor for work whose size only the device knows.
_RESIDENT = 8


def components(parts: Parts, symmetric: bool) -> tuple[int, Any]:
    """`hpgraph.kernels.structure.cpu_components.components` on several GPUs; waits for them."""
    n, ids = parts.n, parts.all[0].rows.out.indices.dtype
    if n == 0 or parts.arcs == 0:
        return n, cupy.arange(n, dtype=ids)
    caller, number = cupy.cuda.get_current_stream(), cupy.empty(n, ids)
    before = caller.record(cupy.cuda.Event(disable_timing=True))
    with parts.lock:
        forests: list[_PartOfForest] = parts.once(("components", symmetric), lambda: _forests(parts, symmetric))
        for forest in forests:
            forest.wait(before, *(part.done for part in parts))
        for forest in forests:
            forest.run(_PartOfForest.grow)
        marked = [forest.marked for forest in forests]
        for forest in forests:
            forest.wait(*marked)
            forest.run(_PartOfForest.link_others)
        head = forests[0]
        head.wait(*(part.done for part in parts))
        with head.part.here:
            head.join(number)
        parts.wait(caller)
        return head.ranks.count(), number


class _PartOfForest:
    """One part's trees, and the memory of other parts that it writes to; made once a graph."""

    def __init__(self, part: Part, argument: Any, label: Any, symmetric: bool) -> None:
        self.part, self._argument, self._label = part, argument, label
        self.marked = cupy.cuda.Event(disable_timing=True)
        self._captured: dict[str, Any] = {}
        rows, ids = part.rows, label.dtype
        self._offsets = np.dtype(np.uint32 if rows.out.nnz < SHORT else np.int64)
        self._launch = KERNELS.of(Id=ids, Offset=self._offsets).launch
        self._forest = Forest(self._among_own(), label, symmetric)
        self._counters = part.pointer("counters of components", _COUNTERS)
        # If directed, vertices outside the largest tree scan arcs both ways.
        whole = [Rows.of(csr, rows.first) for csr in ([rows.out] if symmetric else [rows.out, rows.in_])]
        self._whole = [(one.argument, cupy.empty(one.room_for_long(), ids)) for one in whole]
        empty = [empty_rows(csr).words for csr in ([rows.out] if symmetric else [rows.out, rows.in_])]
        self._empty = empty[0] if symmetric else empty[0] & empty[1]
        self._outside = cupy.empty(max(rows.last - rows.first, 1), ids)
        self._blocks = min(blocks_of(rows.last - rows.first), _RESIDENT * multiprocessors())
        if part.number == 0:
            roots = part.pointer("roots of components", _bits(len(label)))
            self.ranks = Ranks(cupy.ndarray(-(-len(label) // 32), np.uint32, roots), ids)
        # Other parts may read the empty rows, on other streams.
        part.stream.synchronize()

    def _among_own(self) -> Rows:
        """The arcs between the part's own vertices."""
        rows, csr = self.part.rows, self.part.rows.out
        begins, ends = (cupy.empty(csr.shape[0], self._offsets) for _ in range(2))
        if not csr.shape[0]:
            return Rows(begins, ends, csr.indices, rows.first, 0)
        self._launch(
            "bound_columns", -(-csr.shape[0] // THREADS), csr.indptr, csr.indices, np.int64(csr.shape[0]),
            np.int64(rows.first), np.int64(rows.last), begins, ends,
        )  # fmt: skip
        return Rows(begins, ends, csr.indices, rows.first, int((ends - begins).sum()))

    def _counter(self, place: int) -> np.uint64:
        return np.uint64(self._counters.ptr + place)

    def wait(self, *events: Any) -> None:
        """Make the part's stream wait."""
        for event in events:
            self.part.stream.wait_event(event)

    def run(self, phase: Any) -> None:
        """Launch a phase on the part's device."""
        with self.part.here:
            phase(self)

    def grow(self) -> None:
        """Link the first few arcs among the part's own vertices, and send all parts a bitmap of its largest tree."""
        self._replay(self._grow)
        self.marked.record(self.part.stream)
        if self.part.rows.first:
            # Not needed before.
            first = self.part.rows.first
            self._launch("stand_alone", blocks_of(first), np.int64(first), self._label)

    def _grow(self) -> None:
        self._counters.memset_async(0, _COUNTERS)
        if self._blocks:
            self._forest.begin()
            self._forest.link_first()
            self._forest.find_largest()
            self._launch(
                "mark_largest", self._blocks, self._argument, self._forest.largest, self._empty, self._outside,
                self._counter(_OUTSIDE),
            )  # fmt: skip

    def link_others(self) -> None:
        """Link the arcs of vertices outside the largest tree, and send the result to the first part."""
        self._replay(self._link_others)
        self.part.done.record(self.part.stream)

    def _link_others(self) -> None:
        if not self._blocks:
            return
        for number, (argument, listed) in enumerate(self._whole):
            blocks, tail = _RESIDENT * multiprocessors(), self._counter(_LONG + 8 * number)
            outside = self._outside, self._counter(_OUTSIDE)
            self._launch("link_others", blocks, argument, self._argument, *outside, listed, tail)
            self._launch("link_long_others", blocks, argument, self._argument, listed, tail)
        self._launch("settle", self._blocks, self._argument)

    def join(self, number: Any) -> None:
        """At the first part: join the pairs that all parts sent, and number the components."""
        self._replay(self._join)
        n = len(number)
        blocks = min(blocks_of(n), _RESIDENT * multiprocessors())
        self._launch("number_divided", blocks, np.int64(n), self._argument, self.ranks.argument, number)
        self.part.done.record(self.part.stream)

    def _join(self) -> None:
        for name in ("begin_pairs", "join_pairs"):
            self._launch(name, _RESIDENT * multiprocessors(), self._argument)
        self.ranks.find()

    def _replay(self, launches: Callable[[], None]) -> None:
        """Replay a captured graph of launches that are the same in every call: single ones would delay the last GPU.

        The first call launches them one by one, as modules may not be loaded during capture.
        """
        graph = self._captured.get(launches.__name__) if techniques.captured_graph else None
        if graph is not None:
            graph.launch(self.part.stream)
            return
        launches()
        if techniques.captured_graph:
            # Captured on its own stream: graphs share the device's, and launches of other threads would be captured
            # too.
            stream = cupy.cuda.Stream(non_blocking=True)
            with uncollected(), stream:
                stream.begin_capture()
                try:
                    launches()
                finally:
                    self._captured[launches.__name__] = stream.end_capture()


def _forests(parts: Parts, symmetric: bool) -> list[_PartOfForest]:
    n, ids = parts.n, parts.all[0].rows.out.indices.dtype
    begins = [part.rows.first for part in parts] + [n] * (MAX_PARTS + 1 - len(parts))
    labels = parts.shared("labels of components", n * ids.itemsize)
    lists = [
        *parts.shared("marks of components", _bits(n)), *parts.shared("largest components", MAX_PARTS * ids.itemsize),
        *labels,
    ]  # fmt: skip
    counters, pairs = parts.shared("counters of components", _COUNTERS), []
    for part in parts:
        with part.here:
            # A part lists each of its own vertices once, and each of the others once.
            pairs.append(part.room("pairs of components", 2 * (part.rows.last + MAX_PARTS) * ids.itemsize))
    listed = [field for place, count in zip(pairs, counters, strict=False) for field in (place, count + _PAIRS)]
    listed += [0] * (2 * MAX_PARTS - len(listed))
    head = parts.all[0]
    with head.here:
        at_head = [head.room(f"{name} of components", _bits(n)) for name in ("settled", "roots")]
        at_head.append(head.room("tops of components", MAX_PARTS * ids.itemsize))
    made = []
    for part, count in zip(parts, counters, strict=False):
        with part.here:
            # A struct ``Division``.
            argument = struct(part.number, len(parts), *begins, *lists, *listed, *at_head, count + _REACHED)
            memory = part.pointer("labels of components", n * ids.itemsize)
            made.append(_PartOfForest(part, argument, cupy.ndarray(n, ids, memory), symmetric))
    return made


def _bits(n: int) -> int:
    """Bytes of a bitmap of the vertices."""
    return -(-n // 64) * 8
