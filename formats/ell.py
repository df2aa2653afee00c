"""ELL: every row padded to the same length, stored by columns, so that adjacent threads read adjacent entries."""

from dataclasses import InitVar, dataclass
from typing import Any, Self

import numpy as np

from hpgraph.core.device import anywhere, array_module, check_memory, prefix_sum
from hpgraph.formats.checks import as_ids, as_shape, as_values
from hpgraph.formats.csr import CSR
from hpgraph.formats.launch import on_its_device
from hpgraph.formats.storage import Padded, backend

# Number of slots of a slab that are unpacked at a time.
_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class ELL(Padded):
    """A slab of K columns: slot k of row i is ``indices[k, i]``.

    Parameters
    ----------
    shape : (int, int)
    indices : array of integers, shape (K, rows), C order
        Columns of the entries, -1 in padding. A row's entries are in its first slots.
    data : array, shape (K, rows), C order, optional
        Values of the entries, arbitrary in padding; None makes a pattern.
    nnz : int, optional
        Number of slots that are not padding; counted by default.
    validate, copy : bool, default True
        As for `Storage`, also for errors.

    Examples
    --------
    >>> from hpgraph.formats import ELL
    >>> ELL((3, 3), [[0, 1, -1], [2, -1, -1]]).padding_ratio
    2.0
    """

    shape: tuple[int, int]
    indices: Any
    data: Any = None
    nnz: int = -1
    validate: InitVar[bool] = True
    copy: InitVar[bool] = True

    def __post_init__(self, validate: bool, copy: bool) -> None:
        if validate:
            rows, columns = as_shape(self.shape)
            indices = as_ids(self.indices, "indices", columns, "column", low=-1, ndim=2)
            if indices.shape[1] != rows:
                raise ValueError(f"indices must have shape (slots, rows={rows}), not {indices.shape}")
            if anywhere((indices[1:] >= 0) & (indices[:-1] < 0)):
                raise ValueError("indices has padding (-1) before an entry: move each row's entries to its first slots")
            self._take((rows, columns), copy, indices=indices, data=as_values(self.data, "data", indices.shape))
        self._count(validate)

    @property
    def width(self) -> int:
        """Number of slots of each row, K."""
        return len(self.indices)

    @classmethod
    def from_csr(cls, csr: CSR, *, limit: float = 4.0) -> Self:
        """Convert from CSR, with every row padded to the longest.

        A ValueError is raised if there would be more than `limit` slots per entry (`HYB` bounds its padding), a
        DeviceMemoryError if memory does not suffice.

        Examples
        --------
        >>> from hpgraph.formats import CSR, ELL
        >>> ELL.from_csr(CSR((2, 3), [0, 2, 3], [0, 2, 1])).indices
        array([[ 0,  1],
               [ 2, -1]], dtype=int32)
        """
        width = int(csr.degrees.max()) if csr.shape[0] else 0
        slots = width * csr.shape[0]
        if slots > limit * csr.nnz:
            raise ValueError(
                f"rows of up to {width} entries would pad {csr.nnz} entries to {slots} slots, more than limit={limit} "
                "times as many: use HYB.from_csr, or a higher limit"
            )
        check_memory(slots * csr.entry_bytes, f"an ELL matrix of {slots} slots", csr.device)
        indices, data = backend(csr.indptr).fill_slab(csr.indptr, csr.indices, csr.data, width)
        return cls(csr.shape, indices, data, nnz=csr.nnz, validate=False)

    def to_csr(self) -> CSR:
        """Convert to CSR, each row in the order of its slots."""
        xp = array_module(self.indices)
        none = xp.empty(0, dtype=self.indices.dtype)
        values = None if self.data is None else xp.empty(0, dtype=self.data.dtype)
        indptr, indices, data = join_slab_and_tail(
            self.indices, self.data, none, xp.zeros(1, dtype=np.int64), none, values
        )
        return CSR(self.shape, indptr, indices, data, validate=False)


@on_its_device
def fill_tail(indptr: Any, indices: Any, data: Any, width: int) -> tuple[Any, Any, Any, Any]:
    """The part beyond a slab of this width: (tail_rows, tail_indptr, tail_indices, tail_data)."""
    over = indptr[1:] - indptr[:-1] - width
    rows = array_module(indptr).flatnonzero(over > 0)
    offsets = prefix_sum(over[rows])
    tail, values = backend(indptr).gather_segments(offsets, indptr[rows] + width, indices, data)
    return rows.astype(indices.dtype), offsets, tail, values


@on_its_device
def join_slab_and_tail(
    slab: Any, slab_data: Any, rows: Any, offsets: Any, tail: Any, tail_data: Any
) -> tuple[Any, Any, Any]:
    """Rows from a slab of their first entries and a tail of the others: (indptr, indices, data)."""
    xp = array_module(slab)
    held = xp.zeros(slab.shape[1], np.int64)
    for slots in _slots(slab):
        held += (slab[slots] >= 0).sum(axis=0)
    lengths = held.copy()
    lengths[rows] += offsets[1:] - offsets[:-1]
    indptr = prefix_sum(lengths)
    indices = xp.empty(int(indptr[-1]), slab.dtype)
    data = None if slab_data is None else xp.empty(len(indices), slab_data.dtype)
    row = backend(offsets).expand_rows(offsets, len(tail), np.int64)
    place = (indptr[rows] + held[rows] - offsets[:-1])[row] + xp.arange(len(tail))
    indices[place] = tail
    if data is not None:
        data[place] = tail_data
    for slots in _slots(slab):
        slot, row = xp.nonzero(slab[slots] >= 0)
        place = indptr[row] + slots.start + slot
        indices[place] = slab[slots][slot, row]
        if data is not None:
            data[place] = slab_data[slots][slot, row]
    return indptr, indices, data


def _slots(slab: Any) -> list[slice]:
    """Ranges of a slab's slots."""
    width, rows = slab.shape
    step = max(1, _AT_ONCE // max(rows, 1))
    return [slice(begin, min(begin + step, width)) for begin in range(0, width if rows else 0, step)]
