"""Bitmask: one bit for each vertex. Active sets, masks, and the sets that pulls probe."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from hpgraph.core.device import anywhere, array_module, device_of
from hpgraph.formats.checks import as_ids, index_dtype
from hpgraph.formats.storage import Storage, backend


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Bitmask(Storage):
    """A set of the vertices 0..n-1; vertex v is a member if ``words[v >> 6] >> (v & 63) & 1``.

    Bytes are little-endian, so a kernel may view the words as uint32 or as bytes and find vertex v likewise.
    The operators ``&``, ``|``, ``^``, ``~`` and `and_not` return new masks; kernels write to `words` of masks they own.

    Parameters
    ----------
    n : int
        Number of vertices.
    words : array of uint64, shape (ceil(n / 64),)
        The bits. Those past n must be 0, so that counts and comparisons need no special case.
    validate : bool, default True
        Whether to check the words, and to raise TypeError or ValueError; on CUDA that synchronizes the stream.

    Examples
    --------
    >>> from hpgraph.formats import Bitmask
    >>> odd, low = Bitmask.from_indices([1, 3, 5], 6), Bitmask.from_indices([0, 1, 2], 6)
    >>> (odd & low).to_indices(), (~odd).to_indices()
    (array([1], dtype=int32), array([0, 2, 4], dtype=int32))
    """

    n: int
    words: Any
    validate: InitVar[bool] = True

    def __post_init__(self, validate: bool) -> None:
        if not validate:
            return
        index_dtype(self.n)
        words = array_module(self.words).ascontiguousarray(self.words)
        if words.dtype != np.uint64:
            raise TypeError(f"words must be uint64, not {words.dtype}: use Bitmask.from_bool or Bitmask.from_indices")
        if words.shape != (_word_count(self.n),):
            raise ValueError(f"words must have shape ({_word_count(self.n)},) for {self.n} bits, not {words.shape}")
        if self.n % 64 and int(words[-1]) >> (self.n % 64):
            raise ValueError(f"words has bits past n={self.n} set: clear them")
        object.__setattr__(self, "words", words)

    @property
    def shape(self) -> tuple[int]:  # type: ignore[override]
        """The number of vertices, as a shape."""
        return (self.n,)

    @property
    def nnz(self) -> int:
        """Number of members, as `count`."""
        return self.count()

    @property
    def dtype(self) -> None:
        """None: there are no values."""
        return None

    @classmethod
    def zeros(cls, n: int, device: str = "cpu") -> Bitmask:
        """The empty set of n vertices, on the device "cpu" or "cuda"."""
        index_dtype(n)
        return cls(n, array_module(device).zeros(_word_count(n), dtype=np.uint64), validate=False)

    @classmethod
    def full(cls, n: int, device: str = "cpu") -> Bitmask:
        """The set of all n vertices, on the device "cpu" or "cuda"."""
        return ~cls.zeros(n, device)

    @classmethod
    def from_indices(cls, indices: Any, n: int) -> Bitmask:
        """The set of the given vertices, in any order, duplicates allowed, on their device.

        Raises IndexError if one is negative or not below n; the check on CUDA synchronizes the stream.
        """
        index_dtype(n)
        indices = as_ids(indices, "indices", n, "vertex")
        return cls(n, backend(indices).bits_from_indices(indices, _word_count(n)), validate=False)

    @classmethod
    def from_bool(cls, flags: Any) -> Bitmask:
        """The set of the vertices whose flag in an array of bool, shape (n,), is true, on its device."""
        flags = array_module(flags).ascontiguousarray(flags)
        if flags.dtype != np.bool_:
            raise TypeError(f"flags must be bool, not {flags.dtype}: compare first, as in flags != 0")
        if flags.ndim != 1:
            raise ValueError(f"flags must have one dimension, not shape {flags.shape}")
        return cls(len(flags), backend(flags).bits_from_bool(flags, _word_count(len(flags))), validate=False)

    @classmethod
    def of_empty_rows(cls, indptr: Any) -> Bitmask:
        """The set of the empty rows, from the `indptr` of a matrix, on its device.

        Examples
        --------
        >>> Bitmask.of_empty_rows(np.array([0, 1, 1, 2])).to_indices().tolist()
        [1]
        """
        rows = len(indptr) - 1
        return cls(rows, backend(indptr).bits_of_empty_rows(indptr, _word_count(rows)), validate=False)

    def to_indices(self) -> Any:
        """The members in ascending order, of type `index_dtype`; on CUDA this synchronizes, to read their number."""
        return backend(self.words).bits_to_indices(self.words, index_dtype(self.n))

    def to_bool(self) -> Any:
        """One flag for each vertex: array of bool, shape (n,)."""
        bits = array_module(self.words).unpackbits(self.words.view(np.uint8), bitorder="little")
        return bits[: self.n].view(np.bool_)

    def count(self) -> int:
        """Number of members. On CUDA this synchronizes the stream."""
        return int(backend(self.words).bits_count(self.words))

    def any(self) -> bool:
        """Whether the set is not empty. On CUDA this synchronizes the stream."""
        return anywhere(self.words)

    def copy(self) -> Bitmask:
        """A copy, with its own words."""
        return Bitmask(self.n, self.words.copy(), validate=False)

    def and_not(self, other: Bitmask) -> Bitmask:
        """The members of this set that are not in the other, which has the same length and device."""
        return Bitmask(self.n, self.words & ~self._other(other), validate=False)

    def __and__(self, other: Bitmask) -> Bitmask:
        return Bitmask(self.n, self.words & self._other(other), validate=False)

    def __or__(self, other: Bitmask) -> Bitmask:
        return Bitmask(self.n, self.words | self._other(other), validate=False)

    def __xor__(self, other: Bitmask) -> Bitmask:
        return Bitmask(self.n, self.words ^ self._other(other), validate=False)

    def __invert__(self) -> Bitmask:
        words = ~self.words
        if self.n % 64:
            words[-1:] &= np.uint64((1 << self.n % 64) - 1)
        return Bitmask(self.n, words, validate=False)

    def _other(self, other: Bitmask) -> Any:
        if not isinstance(other, Bitmask):
            raise TypeError(f"a Bitmask combines with a Bitmask, not {type(other).__name__}: use Bitmask.from_bool")
        if other.n != self.n:
            raise ValueError(f"Bitmasks must be over the same number of vertices, not {self.n} and {other.n}")
        device_of(self.words, other.words)
        return other.words

    def __repr__(self) -> str:
        # Not the number of members: a repr must not synchronize a GPU.
        return f"<Bitmask of {self.n} vertices, {self.device}, {self.nbytes} bytes>"


def _word_count(n: int) -> int:
    return (n + 63) // 64
