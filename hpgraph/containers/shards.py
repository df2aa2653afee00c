"""The arcs of ranges of vertices, each on a device of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, check_memory
from hpgraph.core.devices import Devices, copy_between, move_array, place_of
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels

# Bounds of shards are multiples of this, so that no word of a bitmask belongs to two.
GRAIN = 64


@dataclass(frozen=True, eq=False)
class Shard:
    """The arcs of one range of vertices, `first` to before `last`, on one device.

    Bounds are multiples of 64, except the last. Row r of ``out_csr`` holds the targets of the arcs that leave vertex
    ``first + r``, numbered as in the whole graph; of ``in_csr`` the sources of those that reach it.
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
        indices = move_array(csr.indices[begin:end], device)
        data = None if csr.data is None else move_array(csr.data[begin:end], device)
        return CSR((last - first, csr.shape[1]), move_array(indptr, device), indices, data, validate=False)


def stacked(parts: Sequence[CSR], order: Any, device: Devices) -> CSR:
    """The rows of all shards, in their order, as one square matrix on a device."""
    n, weighted = parts[0].shape[1], parts[0].data is not None
    lengths = []
    for part in parts:
        with place_of(part.indptr).here:
            lengths.append(part.degrees)
    with device.here:
        indptr = array_module(device.kind).zeros(n + 1, np.int64)
        joined(lengths, device).cumsum(out=indptr[1:])
        data = joined([part.data for part in parts], device) if weighted else None
        csr = CSR((n, n), indptr, joined([part.indices for part in parts], device), data, validate=False)
        return csr if order is None else renumbered(csr, move_array(order, device))


def arcs_among(shards: Sequence[Shard], chosen: Any, order: Any) -> CSR:
    """The arcs of which both ends are among some vertices, as a square matrix on the first device."""
    parts = []
    for shard in shards:
        with shard.device.here:
            flags = move_array(chosen, shard.device)
            among = flags[shard.out_csr.indices]
            among &= array_module(among).repeat(flags[shard.first : shard.last], shard.out_csr.degrees)
            parts.append(kernels(shard.device.kind).keep_entries(shard.out_csr, among))
    target = shards[0].device
    with target.here:
        check_memory(sum(csr.nbytes for csr in parts), "a part of a divided graph", target.kind)
    return stacked(parts, order, target)


def loops_of(shard: Shard) -> Any:
    """Number of self-loops of each vertex of a shard."""
    with shard.device.here:
        rows, arcs = shard.out_csr.expand_rows(), shard.out_csr
        return occurrences(rows[arcs.indices == rows + shard.first], arcs.shape[0])


def joined(parts: Sequence[Any], device: Devices) -> Any:
    """Arrays one after the other, on a device."""
    with device.here:
        shape = sum(len(part) for part in parts), *parts[0].shape[1:]
        array = array_module(device.kind).empty(shape, parts[0].dtype)
        end = 0
        for part in parts:
            begin, end = end, end + len(part)
            # Between devices of one kind, copied directly.
            part_on_device = part if place_of(part).kind == device.kind else move_array(part, device)
            copy_between(part_on_device, array[begin:end])
    return array


def round_robin(degrees: Any, parts: int, ids: np.dtype) -> tuple[Any, Any, np.ndarray]:
    """Order of vertices by falling degree, divided round-robin, its inverse, and the bounds of the parts."""
    xp, n = array_module(degrees), len(degrees)
    falling = xp.argsort(-degrees, kind="stable")
    size = min(-(-n // (GRAIN * parts)) * GRAIN, n)
    bounds = np.minimum(np.arange(parts + 1) * size, n)
    sizes = np.diff(bounds)
    # Round-robin into parts that are not full: all parts up to the smallest size, then the larger ones.
    members: list[list[Any]] = [[] for _ in range(parts)]
    begin = given = 0
    for least in np.unique(sizes[sizes > 0]).tolist():
        open_parts = [part for part in range(parts) if sizes[part] >= least]
        end = begin + (least - given) * len(open_parts)
        for offset, part in enumerate(open_parts):
            members[part].append(falling[begin + offset : end : len(open_parts)])
        begin, given = end, least
    order = xp.concatenate([chosen for of_part in members for chosen in of_part] or [falling]).astype(ids)
    place = xp.empty_like(order)
    place[order] = xp.arange(n, dtype=ids)
    return order, place, bounds


def renumbered(csr: CSR, number: Any) -> CSR:
    """A square matrix in which row and column i have become ``number[i]``."""
    rows, columns = number[csr.expand_rows()], number[csr.indices]
    return CSR.from_coo(rows, columns, csr.data, csr.shape, copy=False)
