"""A part of a graph on one of several GPUs: its rows, its stream, its properties, and memory that is open to others."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.persistent import HEADER_FIELDS, OUTCOME
from hpgraph.kernels.runtime.cuda.structs import Layout, struct
from hpgraph.kernels.runtime.program import Beginning
from hpgraph.kernels.structure.empty_rows import empty_rows

# As in multi_gpu_barrier.cuh.
MAX_PARTS = 8
_REPORT_WORDS = 11
_ASSEMBLY = Layout("Assembly", arrived="unsigned", lost="unsigned", remote_messages=("u64", MAX_PARTS))
BARRIER_STATE = Layout("BarrierState", header=HEADER_FIELDS, assembly=_ASSEMBLY).of()


@dataclass(frozen=True, eq=False)
class Rows:
    """The part of a graph on one GPU.

    ``device`` (int): the GPU; ``first, last`` (int): its vertices: from `first`, a multiple of 64, to before `last`;
    ``out, in_`` (CSR of shape (last - first, n)): the rows of these vertices on that GPU, by source and by target, with
    the ids of all vertices.
    """

    device: int
    first: int
    last: int
    out: CSR
    in_: CSR

    @cached_property
    def sending(self) -> bytes:
        """A struct ``Arcs`` of `out`, with row pointers indexed by the ids of all vertices."""
        return struct(self.out.indptr.data.ptr - 8 * self.first, self.out.indices, self.out.data)

    @cached_property
    def gathering(self) -> bytes:
        """The same of `in_`."""
        return struct(self.in_.indptr.data.ptr - 8 * self.first, self.in_.indices, self.in_.data)

    @cached_property
    def no_in_arcs(self) -> Any:
        """Bitmap of its vertices without in-arcs, on its GPU."""
        return empty_rows(self.in_).words


class Elements:
    """Address of an array as a kernel's argument, with elements indexed by the ids of all vertices."""

    def __init__(self, address: int) -> None:
        self.ptr, self.data = address, self


class _Here:
    """A device and one of its streams, as the current ones."""

    def __init__(self, device: int, stream: Any) -> None:
        self._device, self._stream = cupy.cuda.Device(device), stream

    def __enter__(self) -> None:
        self._device.__enter__()
        self._stream.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._stream.__exit__(*error)
        self._device.__exit__(*error)


class Part:
    """One of several kernels that work together: its rows, its stream, and memory that others may write to."""

    def __init__(self, rows: Rows, number: int, turn: int, beside: int, is_home: bool) -> None:
        self.rows, self.number, self.beside, self.is_home = rows, number, beside, is_home
        self.stream = _stream(rows.device, turn)
        # Kernels that have already run on this part.
        self.known: set[Any] = set()
        self._memory: dict[str, tuple[int, Any]] = {}
        with self.here:
            # Reports of finished launches are recognized by their number: this is cleared once.
            self.reports = self.room("reports", 2 * MAX_PARTS * 8 * _REPORT_WORDS)
            self.barrier_states = self.room("barrier_states", 2 * BARRIER_STATE.size)
            # Target of output that only the first part reports; never read.
            self.discarded = struct(0, 0, self.room("discarded", OUTCOME.size))
            self.done = cupy.cuda.Event(disable_timing=True)

    @property
    def here(self) -> _Here:
        """Its device, and the stream of its kernels, as the current ones."""
        return _Here(self.rows.device, self.stream)

    def room(self, name: str, size: int) -> int:
        """Address of memory kept between searches by name; not CuPy's, which need not be open to other devices."""
        has, memory = self._memory.get(name, (-1, None))
        if has < size:
            check_memory(size, f"what GPUs that search together keep there ({name})", "cuda")
            memory = cupy.cuda.MemoryPointer(_opened(max(size, 256)), 0)
            self._memory[name] = size, memory
            memory.memset_async(0, size, self.stream)
            # Kernels of the first part are on another stream.
            self.stream.synchronize()
        return int(memory.ptr)

    def pointer(self, name: str, size: int) -> Any:
        """The same as CuPy's pointer."""
        self.room(name, size)
        return self._memory[name][1]

    def clear_barrier_states(self) -> None:
        """Clear the barrier states if the last launch may not have done so; waits for it."""
        self.pointer("barrier_states", 2 * BARRIER_STATE.size).memset_async(0, 2 * BARRIER_STATE.size, self.stream)
        self.stream.synchronize()

    def cancel(self, launch: int) -> None:
        """Make the running kernel of that launch end without the others."""
        runtime, lost = cupy.cuda.runtime, np.uint32(1).reshape(1)
        place = BARRIER_STATE.offset("assembly") + _ASSEMBLY.of().offset("lost")
        with cupy.cuda.Device(self.rows.device), cupy.cuda.Stream(non_blocking=True) as other:
            # Copied, since a memset may need a multiprocessor.
            runtime.memcpyAsync(
                self.barrier_states + launch % 2 * BARRIER_STATE.size + place, lost.ctypes.data, lost.nbytes,
                runtime.memcpyHostToDevice, other.ptr,
            )  # fmt: skip
            other.synchronize()

    def properties(
        self, state: tuple[Any, ...], beginnings: tuple[Beginning | None, ...], n: int, whole: bool,
        pieces: tuple[Any, ...] = (),
    ) -> tuple[Elements, ...]:  # fmt: skip
        """Its properties, here: on the first part's device the arrays given, elsewhere memory for its own range."""
        if self.number == 0 or (self.is_home and not whole):
            return tuple([Elements(values.data.ptr) for values in state])
        first, last = (0, n) if whole else (self.rows.first, self.rows.last)
        own = []
        for i, (values, beginning) in enumerate(zip(state, beginnings, strict=True)):
            begin, size = first * values.itemsize, (last - first) * values.itemsize
            place = pieces[i].data.ptr if pieces else self.room(f"property {i}{' of all' if whole else ''}", size)
            if beginning is None:
                self.copy(values.data.ptr + begin, place, size)
            own.append(Elements(place - begin))
        return tuple(own)

    def pieces(self, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arrays on this device for its own vertices' properties: those given, on the first part's device."""
        first, last = self.rows.first, self.rows.last
        if self.is_home:
            return tuple(values[first:last] for values in state)
        return tuple(cupy.empty(last - first, values.dtype) for values in state)

    def give(self, state: tuple[Any, ...], own: tuple[Elements, ...]) -> None:
        """Copy the values of its vertices to the first part's device, after its kernel."""
        for values, target in zip(state, own, strict=True):
            begin, end = self.rows.first * values.itemsize, self.rows.last * values.itemsize
            if target.ptr != values.data.ptr:
                self.copy(target.ptr + begin, values.data.ptr + begin, end - begin)

    def sources(self, sources: Any) -> Any:
        """Sources where its kernel can read them: a single one travels with the launch."""
        if isinstance(sources, np.ndarray) or self.number == 0:
            return sources
        copy = cupy.empty(sources.shape, sources.dtype)
        self.copy(sources.data.ptr, copy.data.ptr, sources.nbytes)
        return copy

    def copy(self, source: int, target: int, size: int) -> None:
        """Copy bytes from an address to another, on whichever devices, behind what its stream was given."""
        runtime = cupy.cuda.runtime
        if size:
            runtime.memcpyAsync(target, source, size, runtime.memcpyDefault, self.stream.ptr)


def _opened(size: int) -> Any:
    """Memory from the driver itself; what CuPy's pool holds without a use is given back for it, if need be."""
    try:
        return cupy.cuda.Memory(size)
    except cupy.cuda.runtime.CUDARuntimeError:
        cupy.get_default_memory_pool().free_all_blocks()
        return cupy.cuda.Memory(size)


@cache
def _stream(device: int, turn: int) -> Any:
    with cupy.cuda.Device(device):
        return cupy.cuda.Stream(non_blocking=True)
