"""An array in a file that is read in pieces."""

from typing import Any, BinaryIO

import numpy as np

from hpgraph.core.platform import read_at

Array = np.ndarray[Any, Any]


class FileStretch:
    """Contiguous elements of one type in a file; a slice of it is read into a new array.

    If a memory-mapped file is truncated, access to it kills the process (SIGBUS). Here a slice that goes beyond the end
    of the file is shorter, as slices of arrays are.

    ``at``: offset of the first element in bytes; ``dtype``: in the byte order of this machine.
    """

    __slots__ = ("at", "count", "dtype", "file")

    def __init__(self, file: BinaryIO, at: int, count: int, dtype: np.dtype[Any]) -> None:
        self.file = file
        self.at = at
        self.count = count
        self.dtype = dtype

    def __len__(self) -> int:
        return self.count

    @property
    def shape(self) -> tuple[int]:
        """The number of elements, as a shape."""
        return (self.count,)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.count * self.dtype.itemsize

    @property
    def path(self) -> str:
        """Name of the file when it was opened."""
        return str(self.file.name)

    def part(self, begin: int, end: int) -> "FileStretch":
        """A range of the elements, to be read later."""
        return FileStretch(self.file, self.at + begin * self.dtype.itemsize, end - begin, self.dtype)

    def __getitem__(self, piece: slice) -> Array:
        begin, end, step = piece.indices(self.count)
        if step != 1:
            raise IndexError("elements of a file are read one after the other: slice without a step")
        out = np.empty(max(0, end - begin), self.dtype)
        return out[: self.read(begin, out)]

    def read(self, begin: int, out: Array) -> int:
        """Read elements into an array."""
        view, at, done = memoryview(out.view(np.uint8).data), self.at + begin * self.dtype.itemsize, 0
        while done < len(view):
            count = read_at(self.file.fileno(), view[done:], at + done)
            if not count:
                break
            done += count
        return done // self.dtype.itemsize

    def __reduce__(self) -> Any:
        raise TypeError("part of an open file cannot be pickled: open the file there")
