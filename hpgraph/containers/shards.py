"""The arcs of ranges of vertices, each on a device of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hpgraph.core.device import array_module, check_memory
from hpgraph.core.devices import Devices, bring, copy_between, place_of
from hpgraph.formats import CSR


@dataclass(frozen=True, eq=False)
class Shard:
    """The arcs of one range of vertices, on one device.

    Attributes
    ----------
    device : Devices
        One.
    first, last : int
        The range: from `first` to before `last`. Both are multiples of 64, but for the end of the last range.
    out_csr : CSR of shape (last - first, n)
        Row r holds the targets of the arcs that leave vertex ``first + r``, numbered as in the whole graph.
    in_csr : CSR of shape (last - first, n)
        Row r holds the sources of the arcs that reach it; of an undirected graph the same object.
    """

    device: Devices
    first: int
    last: int
    out_csr: CSR
    in_csr: CSR

    @property
    def nbytes(self) -> int:
        """Bytes of its arcs."""
        arrays = {id(array): array for csr in (self.out_csr, self.in_csr) for array in csr.arrays}
        return sum(array.nbytes for array in arrays.values())


def rows_on(csr: CSR, first: int, last: int, device: Devices) -> CSR:
    """Rows first to last of a matrix, on a device."""
    with place_of(csr.indptr).here:
        begin, end = (int(csr.indptr[row]) for row in (first, last))
        indptr = csr.indptr[first : last + 1] - begin
    nbytes = indptr.nbytes + (end - begin) * (csr.indices.itemsize + (0 if csr.data is None else csr.data.itemsize))
    with device.here:
        if device.kind != csr.device or device.indices:
            check_memory(nbytes, f"rows {first} to {last} on {device}", device.kind)
        indices = bring(csr.indices[begin:end], device)
        data = None if csr.data is None else bring(csr.data[begin:end], device)
        return CSR((last - first, csr.shape[1]), bring(indptr, device), indices, data, validate=False)


def joined(parts: Sequence[Any], device: Devices) -> Any:
    """Arrays one after the other, on a device."""
    with device.here:
        shape = sum(len(part) for part in parts), *parts[0].shape[1:]
        made = array_module(device.kind).empty(shape, parts[0].dtype)
        end = 0
        for part in parts:
            begin, end = end, end + len(part)
            copy_between(part, made[begin:end])
    return made
