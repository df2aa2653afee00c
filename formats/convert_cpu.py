"""Conversions between formats on the CPU, over bare NumPy arrays; `convert_cuda` has the same functions.

They call compiled routines of SciPy. Its CSR-to-CSC conversion is a counting sort: one linear, stable pass, used here
for transposing, for sorting rows (transpose twice) and for building rows from triplets (Gustavson, "Two fast algorithms
for sparse matrices: multiplication and permuted transposition", ACM TOMS 4(3), 1978).
"""

from typing import Any

import numpy as np

from hpgraph.core.device import prefix_sum
from hpgraph.formats.checks import INT32_MAX
from hpgraph.formats.duplicates import differ, duplicate_error, merge_runs, warn_unlike

Array = np.ndarray[Any, Any]
Rows = tuple[Array, Array, Array | None]


def occurrences(ids: Array, n: int, weights: Array | None = None) -> Array:
    """Number of occurrences of each of 0..n-1, or the sum of its weights."""
    return np.bincount(ids, weights, n)


def compress(row: Array, col: Array, data: Array | None, shape: tuple[int, int], duplicates: str | None) -> Rows:
    """Sorted rows, without duplicates unless "keep", from triplets in any order: (indptr, indices, data)."""
    rows = shape[0]
    entries = len(row)
    if entries == 0:
        return np.zeros(rows + 1, dtype=np.int64), col, data
    if entries < 2 or (row[1:] >= row[:-1]).all():
        # Files are often sorted already.
        indptr = prefix_sum(occurrences(row, rows))
        if is_sorted(indptr, col, strictly=True):
            return indptr, col, data
    indptr, indices, order = _in_order(row, col, shape, data is not None)
    # One more element: the start of trailing empty rows.
    first = np.empty(entries + 1, dtype=bool)
    np.not_equal(indices[1:], indices[:-1], out=first[1:-1])
    first[indptr] = True
    first = first[:-1]
    values = None if data is None else data[order]
    if duplicates == "keep" or first.all():
        return indptr, indices, values
    heads = np.flatnonzero(first)
    kept = prefix_sum(first)
    if duplicates == "error":
        again = int(np.flatnonzero(~first)[0])
        place = (int(np.searchsorted(indptr, again, side="right")) - 1, int(indices[again]))
        raise duplicate_error(place, entries - len(heads))
    if values is not None:
        if duplicates is None and differ(values, ~first[1:]):
            warn_unlike()
        values = merge_runs(values, heads, duplicates)
    return kept[indptr], indices[heads], values


def _in_order(row: Array, col: Array, shape: tuple[int, int], positions: bool) -> tuple[Array, Array, Array | None]:
    """Stably sorted rows, and with `positions` the original position of each entry."""
    (rows, columns), entries = shape, len(row)
    below, kept = (max(count - 1, 1).bit_length() for count in (columns, entries))
    kept = kept if positions else 0
    if max(rows - 1, 1).bit_length() + below + kept < 64:
        # Sort one word an entry: a fifth of the time of counting sorts, whose writes are scattered.
        key = row.astype(np.int64)
        key <<= below
        key |= col
        if positions:
            key <<= kept
            key |= np.arange(entries)
        key.sort()
        order = key & ((1 << kept) - 1) if positions else None
        key >>= kept
        indices = (key & ((1 << below) - 1)).astype(col.dtype, copy=False)
        key >>= below
        return prefix_sum(occurrences(key, rows)), indices, order
    # First by column: transpose a matrix with one entry in each of its `entries` rows. Then by row, which is stable in
    # the columns. The positions follow, to fetch values and break ties by.
    _, position, by_column = transpose(np.arange(entries + 1), col, row, columns)
    assert by_column is not None
    return transpose(prefix_sum(occurrences(col, columns)), by_column, position if positions else None, rows)


def transpose(indptr: Array, indices: Array, data: Array | None, columns: int) -> Rows:
    """The transpose's (indptr, indices, data), each row in the order of the given rows."""
    from scipy import sparse

    rows, entries = len(indptr) - 1, len(indices)
    if entries == 0:
        return np.zeros(columns + 1, dtype=np.int64), indices, data
    # SciPy requires one type for offsets and indices; 32 bits whenever they fit.
    offsets = np.int32 if indices.dtype == np.int32 and max(entries, rows) <= INT32_MAX else np.int64
    # Bytes are placeholders for the values of a pattern.
    values = np.zeros(entries, dtype=np.int8) if data is None else data
    matrix = sparse.csr_array(
        (values, indices.astype(offsets, copy=False), indptr.astype(offsets)), shape=(rows, columns), copy=False
    )
    transposed = matrix.tocsc()
    return (
        transposed.indptr.astype(np.int64),
        transposed.indices.astype(indices.dtype, copy=False),
        None if data is None else transposed.data,
    )


def sort_rows(indptr: Array, indices: Array, data: Array | None, columns: int) -> tuple[Array, Array | None]:
    """Indices and values with each row stably sorted in ascending order."""
    transposed = transpose(indptr, indices, data, columns)
    _, indices, data = transpose(*transposed, len(indptr) - 1)
    return indices, data


def expand_rows(indptr: Array, entries: int, dtype: Any) -> Array:
    """The row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=dtype), np.diff(indptr))


def is_sorted(indptr: Array, indices: Array, *, strictly: bool) -> bool:
    """Whether columns ascend within every row, strictly or not."""
    falls = np.zeros(len(indices) + 1, dtype=bool)
    (np.less_equal if strictly else np.less)(indices[1:], indices[:-1], out=falls[1:-1])
    # At the start of a row, the previous entry belongs to another row.
    falls[indptr] = False
    return not falls.any()


def inspect_rows(indptr: Array, indices: Array, columns: int) -> tuple[bool, bool]:
    """Whether all columns are in 0..columns-1, and whether they ascend strictly within every row."""
    entries = len(indices)
    if entries == 0:
        return True, True
    rises = is_sorted(indptr, indices, strictly=True)
    if rises and 8 * len(indptr) < entries:
        # The ends of the rows suffice; offsets of empty rows address entries of other rows, which is harmless.
        first, last = indices[np.minimum(indptr[:-1], entries - 1)], indices[np.maximum(indptr[1:], 1) - 1]
        return bool(first.min() >= 0 and last.max() < columns), rises
    # As unsigned integers negative ids are large.
    return int(indices.view(f"u{indices.itemsize}").max()) < columns, rises


def count_lengths(indptr: Array, few: int) -> tuple[Array, Array]:
    """Number of rows of each length below `few`, and the lengths of the other rows, in any order."""
    lengths = np.diff(indptr)
    return np.bincount(np.minimum(lengths, few), minlength=few + 1)[:few], lengths[lengths >= few]


def is_symmetric(indptr: Array, indices: Array, data: Array | None) -> bool:
    """Whether the rows are those of the transpose, as sets of (column, value)."""
    vertices = len(indptr) - 1
    # Cheap and enough to refuse most directed graphs.
    if not np.array_equal(_in_degrees(indices, vertices), np.diff(indptr)):
        return False
    transposed = transpose(indptr, indices, data, vertices)
    _, mirrored, values = transposed
    if _are_equal(mirrored, values, indices, data):
        return True
    if is_sorted(indptr, indices, strictly=True):
        return False
    # Two transpositions sort the rows; the values of duplicates are compared in ascending order.
    _, indices, data = transpose(*transposed, vertices)
    if data is not None and values is not None:
        row = expand_rows(indptr, len(indices), indices.dtype)
        data, values = data[np.lexsort((data, indices, row))], values[np.lexsort((values, mirrored, row))]
    return _are_equal(mirrored, values, indices, data)


def _are_equal(mirrored: Array, values: Array | None, indices: Array, data: Array | None) -> bool:
    """Whether columns and values are equal; NaN equals NaN."""
    if not np.array_equal(mirrored, indices):
        return False
    if data is None or values is None or np.array_equal(values, data):
        return True
    return data.dtype.kind in "fc" and np.array_equal(values, data, equal_nan=True)


def _in_degrees(indices: Array, vertices: int) -> Array:
    """Number of entries of each column, in chunks: NumPy copies ids to 64 bits, and a chunk's copy stays in cache."""
    counts = np.zeros(vertices, dtype=np.int64)
    part = max(1 << 19, 4 * vertices)
    for begin in range(0, len(indices), part):
        counts += np.bincount(indices[begin : begin + part], minlength=vertices)
    return counts


def gather_segments(offsets: Array, source: Array, indices: Array, data: Array | None) -> tuple[Array, Array | None]:
    """Concatenated segments: segment s has the entries from source[s] on; `offsets` gives the lengths."""
    position = np.arange(offsets[-1])
    position += np.repeat(source - offsets[:-1], np.diff(offsets))
    return indices[position], None if data is None else data[position]


def fill_slab(indptr: Array, indices: Array, data: Array | None, width: int) -> tuple[Array, Array | None]:
    """The first `width` entries of each row as a slab of shape (width, rows), padded with -1 and 0."""
    rows = len(indptr) - 1
    slab = np.full((width, rows), -1, dtype=indices.dtype)
    values = None if data is None else np.zeros((width, rows), dtype=data.dtype)
    degrees = np.diff(indptr)
    held = np.arange(rows)
    for slot in range(width):
        held = held[degrees[held] > slot]
        source = indptr[held] + slot
        slab[slot, held] = indices[source]
        if values is not None and data is not None:
            values[slot, held] = data[source]
    return slab, values


def bits_from_indices(indices: Array, words: int) -> Array:
    """Words with the bits of the given indices set."""
    if len(indices) * 16 < words * 64:
        bits = np.zeros(words, dtype=np.uint64)
        np.bitwise_or.at(bits, indices >> 6, np.uint64(1) << (indices & 63).astype(np.uint64))
        return bits
    flags = np.zeros(words * 64, dtype=bool)
    flags[indices] = True
    return np.packbits(flags, bitorder="little").view(np.uint64)


def bits_to_indices(words: Array, dtype: Any) -> Array:
    """The positions of set bits, ascending."""
    nonzero = np.flatnonzero(words)
    # As bool, for which NumPy's nonzero is several times as fast.
    bits = np.flatnonzero(np.unpackbits(words[nonzero].view(np.uint8), bitorder="little").view(np.bool_))
    return ((nonzero[bits >> 6] << 6) | (bits & 63)).astype(dtype)


def bits_from_bool(flags: Array, words: int) -> Array:
    """Words with the bits of true flags set."""
    packed = np.zeros(words * 8, dtype=np.uint8)
    bits = np.packbits(flags, bitorder="little")
    packed[: len(bits)] = bits
    return packed.view(np.uint64)


def bits_of_empty_rows(indptr: Array, words: int) -> Array:
    """Words with the bits of empty rows set."""
    return bits_from_bool(indptr[1:] == indptr[:-1], words)


def bits_count(words: Array) -> int:
    """Number of set bits."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))
