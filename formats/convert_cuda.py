"""Conversions between formats on the GPU, over bare CuPy arrays; `convert_cpu` has the same functions.

Kernels are in convert.cuh and radix.cuh. Rows are sorted by one 64-bit key an entry, row above column, with CuPy's
stable radix sort. That takes 16 bytes an entry, 48 with values, so a large matrix is sorted in parts of whole rows, to
limit the scratch to half of the result. Each part costs one more pass over the input. Transposes of at most 2²⁴ entries
are radix-sorted by column instead, one pass for each digit of at most 10 bits.
"""

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.core.c_types import ID_TYPES, REAL_TYPES, WORD_TYPES
from hpgraph.core.device import anywhere, count, fits, prefix_sum, require_cupy
from hpgraph.formats.checks import INT64_MAX, bits_type
from hpgraph.formats.duplicates import differ, duplicate_error, warn_unlike
from hpgraph.formats.launch import THREADS, launch, on_its_device, strided

Array = Any
Rows = tuple[Array, Array, Array | None]

_TILE = 4096
_KEY = np.uint64(secrets.randbits(64))
# Blocks that count rows: each adds its counts to the same counters.
_COUNTERS = 1 << 11
_MIN_PART = 1 << 20
# Maximum entries of a transpose that is radix-sorted by column, if memory suffices; maximum bits of a digit.
_RADIX_ENTRIES = 1 << 24
_DIGIT_BITS = 10


def _tiles(entries: int) -> int:
    return -(-entries // _TILE)


def words(data: Array | None) -> tuple[str, Array | None]:
    """Values as unsigned integers of their width, so that a few kernels can move values of all types."""
    if data is None:
        return WORD_TYPES[1], None
    return WORD_TYPES[data.itemsize], data.view(bits_type(data.dtype))


@on_its_device
def occurrences(ids: Array, n: int, weights: Array | None = None) -> Array:
    """Number of occurrences of each of 0..n-1, or the sum of its weights."""
    cupy = require_cupy()
    ids = cupy.ascontiguousarray(ids if ids.itemsize in ID_TYPES else ids.astype(np.int64))
    kind, made = ID_TYPES[ids.itemsize], cupy.zeros(n, np.int64 if weights is None else np.float64)
    if len(ids) and weights is None:
        launch("convert.cuh", f"count_ids<{kind}>", strided(len(ids)), ids, len(ids), made)
    elif len(ids):
        weights = cupy.ascontiguousarray(weights, np.float64)
        launch("convert.cuh", f"sum_by_id<{kind}>", strided(len(ids)), ids, weights, len(ids), made)
    return made


def _parts(indptr: Array, entries: int, bits: int, scratch: float) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of rows (low, high) and of entries (first, last): at most `scratch` entries, or one row, at a time."""
    cupy = require_cupy()
    rows = len(indptr) - 1
    part = max(int(entries * scratch), _MIN_PART)
    within = cupy.searchsorted(indptr, cupy.arange(part, max(entries, part + 1), part), side="right") - 1
    widest = 1 << (63 - bits)
    cuts = np.unique(np.concatenate((cupy.asnumpy(within), np.arange(0, rows, widest), [rows])))
    starts = cupy.asnumpy(indptr[cupy.asarray(cuts)])
    for low, high, first, last in zip(cuts[:-1], cuts[1:], starts[:-1], starts[1:], strict=True):
        if last > first:
            yield int(low), int(high), int(first), int(last)


def _scratch(index_bytes: int, data: Array | None) -> float:
    """Share of the entries whose sort takes half of the result's bytes."""
    return index_bytes / 2 / 16 if data is None else (index_bytes + data.itemsize) / 2 / 56


def _pick(
    major: Array, minor: Array | None, indptr: Array | None, low: int, high: int, bits: int, size: int, place: bool
) -> tuple[Array, Array | None]:
    """Keys, and positions on request, of the `size` entries whose major id is in low..high-1, in their order."""
    cupy = require_cupy()
    kind, entries, tiles = ID_TYPES[major.itemsize], len(major), _tiles(len(major))
    kept = cupy.empty(tiles, dtype=np.int64)
    launch("convert.cuh", f"count_range<{kind}>", tiles, major, entries, low, high, kept)
    starts = cupy.cumsum(kept) - kept
    keys = cupy.empty(size, dtype=np.int64)
    positions = cupy.empty(size, dtype=np.int64) if place else None
    rows = 0 if indptr is None else len(indptr) - 1
    launch(
        "convert.cuh", f"pick_range<{kind}>", tiles,
        major, minor, indptr, rows, entries, low, high, np.int32(bits), starts, keys, positions,
    )  # fmt: skip
    return keys, positions


def _sort(keys: Array, positions: Array | None) -> tuple[Array, Array | None]:
    """Sorted keys with their positions; the sort is stable."""
    if positions is None:
        keys.sort()
        return keys, None
    order = keys.argsort()
    return keys[order], positions[order]


@on_its_device
def compress(row: Array, col: Array, data: Array | None, shape: tuple[int, int], duplicates: str | None) -> Rows:
    """Sorted rows, without duplicates unless "keep", from triplets in any order: (indptr, indices, data)."""
    cupy = require_cupy()
    rows, columns = shape
    entries = len(row)
    indptr = prefix_sum(occurrences(row, rows))
    if not anywhere(row[1:] < row[:-1]) and is_sorted(indptr, col, strictly=True):
        return indptr, col, data
    bits = max(columns - 1, 1).bit_length()
    indices = cupy.empty(entries, dtype=col.dtype)
    values = None if data is None else cupy.empty(entries, dtype=data.dtype)
    removed, unlike = None, False
    end = 0
    for low, high, first, last in _parts(indptr, entries, bits, _scratch(col.itemsize, data)):
        keys, positions = _sort(*_pick(row, col, None, low, high, bits, last - first, data is not None))
        repeats = keys[1:] == keys[:-1]
        repeated = count(repeats)  # synchronizes, to read the number of entries that remain
        merged = None if data is None else data[positions]
        if repeated and duplicates != "keep":
            again = keys[1:][repeats]
            if duplicates == "error":
                key = int(again[0])
                raise duplicate_error((low + (key >> bits), key & ((1 << bits) - 1)), repeated)
            removed = cupy.zeros(rows + 1, dtype=np.int64) if removed is None else removed
            removed += prefix_sum(occurrences((again >> bits) + low, rows))
            unlike = unlike or (duplicates is None and merged is not None and differ(merged, repeats))
            heads = cupy.flatnonzero(cupy.concatenate((cupy.ones(1, dtype=bool), ~repeats)))
            keys, merged = keys[heads], _merge(data, positions, heads, duplicates)
        indices[end : end + len(keys)] = keys & ((1 << bits) - 1)
        if values is not None:
            values[end : end + len(keys)] = merged
        end += len(keys)
    if removed is not None:
        indptr -= removed
        indices, values = indices[:end].copy(), None if values is None else values[:end].copy()
    if unlike:
        warn_unlike()
    return indptr, indices, values


def _merge(data: Array | None, positions: Array | None, heads: Array, duplicates: str | None) -> Array | None:
    """One value for each run of duplicates, the runs starting at `heads` of the positions."""
    if data is None or positions is None:
        return None
    if duplicates == "first":
        return data[positions[heads]]
    merged = require_cupy().empty(len(heads), dtype=data.dtype)
    if data.dtype.kind == "c":
        merged.real = _merge(data.real.copy(), positions, heads, duplicates)
        merged.imag = _merge(data.imag.copy(), positions, heads, duplicates)
        return merged
    rule = {"sum": "Sum", "max": "Most"}.get(duplicates or "min", "Least")
    launch(
        "convert.cuh", f"merge_runs<{REAL_TYPES[data.dtype]}, hpgraph::{rule}>", strided(len(heads)),
        data, positions, len(positions), heads, len(heads), merged,
    )  # fmt: skip
    return merged


@on_its_device
def by_digits(keys: Array, indptr: Array, data: Array | None, below: int) -> Rows:
    """Rows and values of fewer than 2³² entries, stably sorted by keys `below` a bound, and the start of each key."""
    cupy = require_cupy()
    if data is not None and data.itemsize > 8:
        # A tile of these does not fit shared memory: distribute their positions.
        begin, ids, places = by_digits(keys, indptr, cupy.arange(len(keys), dtype=np.int32), below)
        return begin, ids, data[places]
    ids = None
    word, values = words(data)
    kind, entries, tiles = ID_TYPES[keys.itemsize], len(keys), _tiles(len(keys))
    bits = max(below - 1, 1).bit_length()
    passes = -(-bits // _DIGIT_BITS)
    width = -(-bits // passes)
    digits = np.int32(1 << width)
    for shift in range(0, passes * width, width):
        counts = cupy.empty(int(digits) * tiles + 1, dtype=np.uint32)
        launch("radix.cuh", f"count_digits<{kind}>", tiles, keys, entries, np.int32(shift), digits, counts)
        new_keys, new_ids = cupy.empty_like(keys), cupy.empty_like(keys)
        new_values = None if values is None else cupy.empty_like(values)
        launch(
            "radix.cuh", f"deal_by_digit<{kind}, {word}>", tiles,
            keys, ids, values, indptr, len(indptr) - 1, entries, np.int32(shift), digits,
            cupy.cumsum(counts, dtype=np.uint32), new_keys, new_ids, new_values,
        )  # fmt: skip
        keys, ids, values = new_keys, new_ids, new_values
    begin = cupy.empty(below + 1, dtype=np.int64)
    launch("radix.cuh", f"find_begins<{kind}>", below // THREADS + 1, keys, entries, below, begin)
    return begin, ids, None if data is None or values is None else values.view(data.dtype)


@on_its_device
def transpose(indptr: Array, indices: Array, data: Array | None, columns: int) -> Rows:
    """The transpose's (indptr, indices, data), each row in the order of the given rows."""
    cupy = require_cupy()
    entries = len(indices)
    # Keys, ids and values, double-buffered for the next digit.
    room = 2 * entries * (2 * indices.itemsize + (0 if data is None else data.itemsize))
    if 0 < entries <= _RADIX_ENTRIES and fits(room, "cuda"):
        return by_digits(indices, indptr, data, columns)
    turned = prefix_sum(occurrences(indices, columns))
    bits = max(len(indptr) - 2, 1).bit_length()
    out = cupy.empty(entries, dtype=indices.dtype)
    values = None if data is None else cupy.empty(entries, dtype=data.dtype)
    for low, high, first, last in _parts(turned, entries, bits, _scratch(indices.itemsize, data)):
        picked = _pick(indices, None, indptr, low, high, bits, last - first, data is not None)
        keys, positions = _sort(*picked)
        out[first:last] = keys & ((1 << bits) - 1)
        if values is not None and data is not None:
            values[first:last] = data[positions]
    return turned, out, values


@on_its_device
def sort_rows(indptr: Array, indices: Array, data: Array | None, columns: int) -> tuple[Array, Array | None]:
    """Indices and values with each row stably sorted in ascending order."""
    cupy = require_cupy()
    rows, entries = len(indptr) - 1, len(indices)
    bits = max(columns - 1, 1).bit_length()
    out = cupy.empty(entries, dtype=indices.dtype)
    values = None if data is None else cupy.empty(entries, dtype=data.dtype)
    for low, _, first, last in _parts(indptr, entries, bits, _scratch(indices.itemsize, data)):
        keys = cupy.empty(last - first, dtype=np.int64)
        launch(
            "convert.cuh", f"row_keys<{ID_TYPES[indices.itemsize]}>", _tiles(last - first),
            indptr, rows, indices, low, first, last, np.int32(bits), keys,
        )  # fmt: skip
        if values is None or data is None:
            keys.sort()
        else:
            order = keys.argsort()
            keys, values[first:last] = keys[order], data[first:last][order]
        out[first:last] = keys & ((1 << bits) - 1)
    return out, values


@on_its_device
def expand_rows(indptr: Array, entries: int, dtype: Any) -> Array:
    """The row of each entry."""
    row = require_cupy().empty(entries, dtype=dtype)
    if entries:
        launch(
            "convert.cuh", f"expand_rows<{ID_TYPES[row.itemsize]}>", _tiles(entries),
            indptr, len(indptr) - 1, entries, row,
        )  # fmt: skip
    return row


def is_sorted(indptr: Array, indices: Array, *, strictly: bool) -> bool:
    """Whether columns ascend within every row, strictly or not."""
    return inspect_rows(indptr, indices, INT64_MAX, strictly=strictly)[1]


@on_its_device
def inspect_rows(indptr: Array, indices: Array, columns: int, *, strictly: bool = True) -> tuple[bool, bool]:
    """Whether all columns are in 0..columns-1, and whether they ascend within every row."""
    entries = len(indices)
    if entries == 0:
        return True, True
    found = require_cupy().zeros(2, dtype=np.int32)
    launch(
        "convert.cuh", f"inspect_rows<{ID_TYPES[indices.itemsize]}>", _tiles(entries),
        indptr, len(indptr) - 1, indices, entries, columns, np.bool_(strictly), found,
    )  # fmt: skip
    outside, falls = found.tolist()
    return not outside, not falls


@on_its_device
def count_lengths(indptr: Array, few: int) -> tuple[Any, Any]:
    """Number of rows of each length below `few`, and the lengths of the other rows, in any order; in NumPy."""
    cupy = require_cupy()
    rows = len(indptr) - 1
    counts = cupy.zeros(few + 1, dtype=np.int64)
    longer = cupy.empty(int(indptr[-1]) // few + 1, dtype=np.int64)
    launch("lengths.cuh", "count_lengths", min(strided(max(rows, 1)), _COUNTERS), indptr, rows, few, counts, longer)
    found = counts.get()
    return found[:few], longer[: int(found[few])].get()


@on_its_device
def is_symmetric(indptr: Array, indices: Array, data: Array | None) -> bool:
    """Whether the hashes of the arcs and of the reversed arcs agree."""
    entries = len(indices)
    if entries == 0:
        return True
    if data is not None and data.dtype.kind == "c":
        return all(is_symmetric(indptr, indices, part.copy()) for part in (data.real, data.imag))
    difference = require_cupy().zeros(2, dtype=np.uint64)
    value = "bool" if data is None else REAL_TYPES[data.dtype]
    launch(
        "convert.cuh", f"hash_arcs<{ID_TYPES[indices.itemsize]}, {value}>", _tiles(entries),
        indptr, len(indptr) - 1, indices, data, entries, _KEY, difference,
    )  # fmt: skip
    return not any(difference.tolist())


@on_its_device
def gather_segments(offsets: Array, source: Array, indices: Array, data: Array | None) -> tuple[Array, Array | None]:
    """Concatenated segments: segment s has the entries from source[s] on; `offsets` gives the lengths."""
    cupy = require_cupy()
    entries = int(offsets[-1])  # synchronizes, to read the size of the result
    out = cupy.empty(entries, dtype=indices.dtype)
    values = None if data is None else cupy.empty(entries, dtype=data.dtype)
    if entries:
        word, given = words(data)
        launch(
            "convert.cuh", f"gather_segments<{ID_TYPES[indices.itemsize]}, {word}>", _tiles(entries),
            offsets, len(source), entries, source, indices, given, out, words(values)[1],
        )  # fmt: skip
    return out, values


@on_its_device
def fill_slab(indptr: Array, indices: Array, data: Array | None, width: int) -> tuple[Array, Array | None]:
    """The first `width` entries of each row as a slab of shape (width, rows), padded with -1 and 0."""
    cupy = require_cupy()
    rows = len(indptr) - 1
    slab = cupy.empty((width, rows), dtype=indices.dtype)
    values = None if data is None else cupy.empty((width, rows), dtype=data.dtype)
    if slab.size:
        word, source = words(data)
        launch(
            "convert.cuh", f"fill_slab<{ID_TYPES[indices.itemsize]}, {word}>", strided(rows),
            indptr, rows, width, indices, source, slab, words(values)[1],
        )  # fmt: skip
    return slab, values


@on_its_device
def bits_from_indices(indices: Array, words: int) -> Array:
    """Words with the bits of the given indices set."""
    bits = require_cupy().zeros(words, dtype=np.uint64)
    if len(indices):
        kind = ID_TYPES[indices.itemsize]
        launch("bitmask.cuh", f"set_bits<{kind}>", strided(len(indices)), indices, len(indices), bits)
    return bits


@on_its_device
def bits_to_indices(words: Array, dtype: Any) -> Array:
    """The positions of set bits, ascending."""
    cupy = require_cupy()
    kept = _bits_by_block(words)
    ends = cupy.cumsum(kept)
    ids = cupy.empty(int(ends[-1]) if len(ends) else 0, dtype=dtype)  # synchronizes, to read their number
    if len(ids):
        launch("bitmask.cuh", f"list_bits<{ID_TYPES[ids.itemsize]}>", len(kept), words, len(words), ends - kept, ids)
    return ids


def _bits_by_block(words: Array) -> Array:
    blocks = -(-len(words) // THREADS)
    kept = require_cupy().empty(blocks, dtype=np.int64)
    if blocks:
        launch("bitmask.cuh", "count_bits", blocks, words, len(words), kept)
    return kept


@on_its_device
def bits_from_bool(flags: Array, words: int) -> Array:
    """Words with the bits of true flags set."""
    bits = require_cupy().empty(words, dtype=np.uint64)
    if words:
        launch("bitmask.cuh", "pack_flags", strided(64 * words), flags, len(flags), bits, 2 * words)
    return bits


@on_its_device
def bits_of_empty_rows(indptr: Array, words: int) -> Array:
    """Words with the bits of empty rows set."""
    bits = require_cupy().empty(words, dtype=np.uint64)
    if words:
        launch("bitmask.cuh", "pack_empty_rows", strided(64 * words), indptr, len(indptr) - 1, bits, 2 * words)
    return bits


@on_its_device
def bits_count(words: Array) -> int:
    """Number of set bits."""
    return int(_bits_by_block(words).sum()) if len(words) else 0
