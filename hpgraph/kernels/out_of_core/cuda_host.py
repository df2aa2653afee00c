"""Pages in pinned host memory, which the GPU copies from at full speed and reads in place."""

import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Pages
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.kernels.out_of_core.reading import BLOCK
from hpgraph.kernels.out_of_core.requests import GAP, Directories
from hpgraph.kernels.out_of_core.runs import Run
from hpgraph.kernels.out_of_core.stored_pages import StoredPages

# cudaErrorMemoryAllocation.
_NO_MEMORY = 2


class Pointer(NamedTuple):
    """An address, in the form of CuPy's arrays."""

    ptr: int


class HostArray(NamedTuple):
    """Host memory that kernels read in place: an address and a type."""

    data: Pointer
    dtype: np.dtype


class Pinned:
    """Pinned memory, freed when it is unreferenced and the device can no longer be reading it.

    Arrays are copied into such memory instead of being pinned in place. Pinning works by whole memory pages; those at
    an array's ends are shared with other data, and CUDA refuses to copy an array that is partly pinned. CuPy's pool
    would keep the memory, and reuse it while the device still reads.
    """

    def __init__(self, nbytes: int) -> None:
        try:
            address = cupy.cuda.runtime.hostAlloc(nbytes, 0)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            if error.status != _NO_MEMORY:
                raise
            raise MemoryError(
                f"{nbytes:,} bytes of main memory for pages cannot be pinned: give a smaller host_memory"
            ) from None
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}
        weakref.finalize(self, _unpin, address, cupy.cuda.Device()).atexit = False


def _unpin(address: int, device: Any) -> None:
    with device:
        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.runtime.freeHost(address)


def addressed(nbytes: int) -> np.ndarray:
    """Pinned memory, aligned to a disk's block."""
    made = np.asarray(Pinned(nbytes + BLOCK))
    return made[-made.ctypes.data % BLOCK :][:nbytes]


class HostPages:
    """The stored bytes of pages, and their values, accessible to the GPU.

    ``pages``: copied, or read from their file, into pinned memory when first needed, if `host_memory` suffices;
    ``host_memory``: bytes; None for no limit.
    """

    def __init__(self, pages: Pages, host_memory: int | None, gap: int = GAP) -> None:
        self.pages = pages
        self.resident = host_memory is None or pages.nbytes <= host_memory
        self._arrays: tuple[np.ndarray | None, np.ndarray | None] | None = None
        # Rows of a file are read individually if their positions in a page are known.
        self.by_rows = not self.resident and isinstance(pages.stored, FileStretch) and pages.values is None
        self.source = StoredPages(pages, Directories(pages) if self.by_rows and pages.encoding == "gaps" else None, gap)

    def _here(self) -> tuple[np.ndarray, np.ndarray | None]:
        if self._arrays is None:
            self._arrays = self._load(self.pages.stored, False), self._load(self.pages.values, True)
        return self._arrays  # type: ignore[return-value]

    def _load(self, array: Any, values: bool) -> np.ndarray | None:
        """Copy an array, or read a file; every page's checksum is verified once."""
        if array is None or len(array) == 0:
            return np.empty(0, np.uint8) if array is not None else None
        pages = self.pages
        ends = pages.first_arc * array.dtype.itemsize if values else pages.offset
        held = addressed(array.nbytes)

        def check(page: int) -> None:
            piece = held[ends[page] : ends[page + 1]]
            if isinstance(array, FileStretch):
                first = int(ends[page]) // array.dtype.itemsize
                if array.read(first, piece.view(array.dtype)) * array.dtype.itemsize < len(piece):
                    raise pages.damaged(page, "the file ends before the page does")
            else:
                piece[:] = array.view(np.uint8)[ends[page] : ends[page + 1]]
            pages.check(page, piece.view(array.dtype) if values else piece, values=values)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(check, range(pages.n_pages)))
        return held

    @property
    def addresses(self) -> np.ndarray:
        """Address of each page's stored bytes: uint64 array of shape (pages,)."""
        if not self.resident:
            return np.zeros(self.pages.n_pages, np.uint64)
        return (self._here()[0].ctypes.data + self.pages.offset[:-1]).astype(np.uint64)

    @property
    def values(self) -> HostArray | None:
        """The values of all entries, for reading in place."""
        if self.pages.dtype is None:
            return None
        held = self._here()[1]
        assert held is not None
        return HostArray(Pointer(held.ctypes.data), self.pages.dtype)

    def place(self, run: Run, parts: list[tuple[int, int]], buffer: np.ndarray | None) -> int:
        """The address of a run's first byte; parts of its pages are read into a buffer unless they are resident."""
        if self.resident:
            return int(self._here()[0].ctypes.data + self.pages.offset[run.begin])
        return self.source.run(run, parts, buffer).ctypes.data

    def place_of_values(self, run: Run, buffer: np.ndarray | None) -> int:
        """Address of the values of a run's entries."""
        if not self.resident:
            return self.source.values(run, buffer).ctypes.data
        held, pages = self._here()[1], self.pages
        assert held is not None and pages.dtype is not None
        return int(held.ctypes.data + pages.first_arc[run.begin] * pages.dtype.itemsize)

    def close(self) -> None:
        """Free all memory and files."""
        self._arrays = None
        self.source.close()
