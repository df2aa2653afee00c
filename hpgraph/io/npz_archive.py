"""The arrays of an ``.npz`` archive, which says of each what it is before it is read.

An archive of a few kilobytes can hold gigabytes, and pickled objects, which run code when they are loaded. Type, shape
and size are therefore checked first, and only numbers and text are read.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Array
from hpgraph.io.stream import shortened

# NumPy's own limit of what it parses as Python's literals.
_LONGEST_HEADER = 10_000


@dataclass(frozen=True)
class Member:
    """An array in an archive.

    ``shape`` (tuple of int); ``dtype`` (numpy.dtype).
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize


class Archive:
    """An ``.npz`` file opened for reading."""

    def __init__(self, path: Path, content: BinaryIO) -> None:
        self._path = path
        self._zip = zipfile.ZipFile(content)
        self.names = [name.removesuffix(".npy") for name in self._zip.namelist()]
        self._member_of = dict(zip(self.names, self._zip.namelist(), strict=True))

    def __contains__(self, name: str) -> bool:
        return name in self._member_of

    def member(self, name: str) -> Member:
        """What an array is, by the first bytes of its member."""
        if name not in self._member_of:
            raise FileFormatError(self._path, f"the array {name!r} is missing")
        with self._zip.open(self._member_of[name]) as stream:
            version = np.lib.format.read_magic(stream)
            parse = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            if parse is None:
                raise FileFormatError(self._path, f"{name}.npy is of version {version}; arrays of numbers have (1, 0)")
            shape, _, dtype = parse(stream, max_header_size=_LONGEST_HEADER)
            taken = stream.tell()
        member = Member(shape, dtype)
        if dtype.hasobject or dtype.kind not in "biufcSU":
            held = shortened(str(dtype))
            raise FileFormatError(self._path, f"{name}.npy is an array of {held}, not of numbers or text")
        size = self._zip.getinfo(self._member_of[name]).file_size
        if min(shape, default=0) < 0 or taken + member.nbytes != size:
            raise FileFormatError(self._path, f"{name}.npy does not have the size that its shape {shape} says")
        return member

    def pieces(self, name: str, count: int) -> Iterator[Array]:
        """A one-dimensional array in blocks, in native byte order; `member` has been read before."""
        member = self.member(name)
        with self._zip.open(self._member_of[name]) as stream:
            stream.read(self._zip.getinfo(self._member_of[name]).file_size - member.nbytes)
            for begin in range(0, member.shape[0], count):
                wanted = min(count, member.shape[0] - begin)
                content = stream.read(wanted * member.dtype.itemsize)
                if len(content) < wanted * member.dtype.itemsize:
                    raise EOFError(f"{name}.npy ends early")
                piece = np.frombuffer(content, dtype=member.dtype)
                yield piece.astype(member.dtype.newbyteorder("="), copy=False)

    def read(self, name: str) -> Array:
        """An array in native byte order; `member` has been read before."""
        with self._zip.open(self._member_of[name]) as stream:
            array: Array = np.lib.format.read_array(stream, allow_pickle=False, max_header_size=_LONGEST_HEADER)
        return array.astype(array.dtype.newbyteorder("="), copy=False)
