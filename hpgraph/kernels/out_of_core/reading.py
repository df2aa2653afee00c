"""Reading of pages from an array, or from a file with O_DIRECT if possible.

Threads read with one blocking request each: no asynchronous interface works on every file system, and a request of some
hundred kilobytes costs a thread next to nothing (H. Liu, H. H. Huang, "Graphene", FAST'17, has dedicated threads for
the same reason). O_DIRECT saves a copy, and leaves the page cache to others; without it, reading is buffered.
"""

import errno
import mmap
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from hpgraph.core.platform import open_direct, read_at
from hpgraph.formats.file_stretch import FileStretch

# Alignment for O_DIRECT: no disk in use has larger blocks.
BLOCK = 4096
# Small requests in flight: more threads contend before the disk is saturated.
REQUESTS = 16


class Region:
    """A range of bytes, in memory or in a file."""

    def __init__(self, array: np.ndarray[Any, Any] | FileStretch, direct: bool = True) -> None:
        self.in_file = isinstance(array, FileStretch)
        self._array = array
        self._direct = direct
        self._own: int | None = None

    @staticmethod
    def buffer(nbytes: int) -> np.ndarray:
        """A buffer for a request of this size at any offset, aligned for O_DIRECT."""
        size = -(-(nbytes + 2 * BLOCK) // BLOCK) * BLOCK
        return np.frombuffer(mmap.mmap(-1, size), np.uint8)

    def read(self, begin: int, end: int, buffer: np.ndarray | None) -> np.ndarray:
        """The bytes begin..end: a view, of `buffer` if they come from a file."""
        stretch = self._array
        if not isinstance(stretch, FileStretch) or buffer is None:
            return stretch[begin:end] if stretch.dtype == np.uint8 else stretch.view(np.uint8)[begin:end]  # type: ignore[union-attr]
        at = stretch.at + begin
        start = at // BLOCK * BLOCK
        length = at + end - begin - start
        whole = -(-length // BLOCK) * BLOCK
        done = 0
        while done < length:
            count = self._read(stretch, buffer[done:whole], start + done)
            if count == 0:
                raise EOFError(stretch.path)
            done += count
            # After a part that ends within a block O_DIRECT refuses the next.
            if count % BLOCK and done < length:
                self._direct = False
        return buffer[at - start : length]

    def read_parts(
        self, begin: int, end: int, parts: Sequence[tuple[int, int]], buffer: np.ndarray,
        threads: Executor | None = None,
    ) -> np.ndarray:  # fmt: skip
        """The bytes begin..end; only some parts are read or copied, the rest is undefined."""
        if not isinstance(self._array, FileStretch):
            for low, high in parts:
                buffer[low - begin : high - begin] = self.read(low, high, None)
            return buffer[: end - begin]
        at = self._array.at
        start = (at + begin) // BLOCK * BLOCK

        def some(chosen: Sequence[tuple[int, int]]) -> None:
            for low, high in chosen:
                # Every part at its own place, so that blocks of the file and of the buffer coincide.
                self.read(low, high, buffer[(at + low) // BLOCK * BLOCK - start :])

        if threads is None or len(parts) < 2:
            some(parts)
        else:
            for _ in threads.map(some, (parts[k::REQUESTS] for k in range(min(REQUESTS, len(parts))))):
                pass
        return buffer[at + begin - start :][: end - begin]

    def _read(self, stretch: FileStretch, into: np.ndarray, at: int) -> int:
        try:
            return read_at(self._file(stretch), into.data, at)
        except OSError as error:
            # Some file systems accept the flag and refuse the request.
            if not self._direct or error.errno != errno.EINVAL:
                raise
            self._direct = False
            return self._read(stretch, into, at)

    def _file(self, stretch: FileStretch) -> int:
        if not self._direct:
            return stretch.file.fileno()
        if self._own is None:
            self._own = open_direct(stretch.file.fileno())
            self._direct = self._own is not None
        return stretch.file.fileno() if self._own is None else self._own

    def version(self) -> tuple[int, int]:
        """Time of the last change, and length, of the file; constant while it is not written to."""
        if not isinstance(self._array, FileStretch):
            return 0, 0
        now = os.fstat(self._array.file.fileno())
        return now.st_mtime_ns, now.st_size

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def __del__(self) -> None:
        self.close()
