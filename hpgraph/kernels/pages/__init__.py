"""Arcs into pages and out of them: cut, encode, decode.

What a page is, `hpgraph.formats.Pages` says. Whatever bytes a page holds, decoding it writes nowhere but into the
arrays that are given, and what it writes are ids of columns that there are.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR, Pages
from hpgraph.formats.pages import ENCODINGS, crc32, cut_points

ARCS_PER_PAGE = 1 << 18
"""Entries of a page unless its maker says otherwise: a mebibyte of plain ids, at which links and disks are near their
full speed, and of which a cache still holds many."""


def cut(csr: CSR, *, arcs_per_page: int = ARCS_PER_PAGE, encoding: str = "none") -> Pages:
    """The entries of a matrix in pages, in memory.

    Parameters
    ----------
    csr : CSR
        On the CPU, its rows sorted and free of duplicates.
    arcs_per_page : int, optional
        A page holds no more.
    encoding : {"none", "gaps"}
        How ids are stored.

    Returns
    -------
    Pages
        Plain ids, offsets and values are shared with the matrix.

    Raises
    ------
    ValueError
        For an unknown encoding, or pages of no entries.

    Examples
    --------
    >>> cut(CSR((3, 3), [0, 2, 3, 4], [1, 2, 0, 1]), arcs_per_page=2)
    <Pages 3x3, 4 entries, pattern, 2 pages, encoding 'none', 16 bytes>
    """
    if encoding not in ENCODINGS:
        raise ValueError(f'encoding must be "none" or "gaps", not {encoding!r}')
    first = cut_points(csr.indptr, arcs_per_page)
    ids, values = csr.indices, csr.data
    if encoding == "none":
        offset, stored = first * ids.itemsize, ids.view(np.uint8)
    else:
        with ThreadPoolExecutor(config.threads) as threads:
            pieces = (ids[begin:end] for begin, end in itertools.pairwise(first.tolist()))
            payloads = list(threads.map(lambda piece: encode(piece, csr.shape[1], encoding), pieces))
        offset = np.cumsum([0, *map(len, payloads)])
        stored = np.concatenate(payloads) if payloads else np.empty(0, np.uint8)
    return Pages(
        csr.shape,
        csr.indptr,
        first,
        offset,
        stored,
        _checksums(stored, offset),
        ids.dtype,
        encoding,
        values,
        None if values is None else _checksums(values, first),
    )


def encode(ids: Any, columns: int, encoding: str) -> Any:
    """The bytes of a page.

    Parameters
    ----------
    ids : array of int32 or int64
        Of the page's entries.
    columns : int
        All ids are below.
    encoding : {"none", "gaps"}
        Gaps are those of 32-bit ids.

    Returns
    -------
    array of uint8

    Raises
    ------
    ValueError
        For gaps of 64-bit ids.

    Examples
    --------
    >>> ids = np.arange(5000, dtype=np.int32)
    >>> len(encode(ids, 5000, "none")), len(encode(ids, 5000, "gaps"))
    (20000, 448)
    """
    if encoding == "none":
        return ids.view(np.uint8)
    if ids.dtype != np.int32:
        raise ValueError('encoding="gaps" is for fewer than 2**31 columns, whose ids take 32 bits: choose "none"')
    from hpgraph.kernels.pages.cpu_gaps import encode

    return encode(ids, columns)


def decode(
    pages: Pages, page: int, out_indices: Any, out_values: Any = None, payload: Any = None, groups: Any = None
) -> int:
    """The ids and values of one page on the CPU, from bytes whose checksum was compared before (`Pages.check`).

    Parameters
    ----------
    pages : Pages
    page : int
    out_indices : array of `Pages.id_dtype`
        At least as long as the page has entries.
    out_values : array of `Pages.dtype`, optional
        The same; left alone where there are no values.
    payload : array of uint8, optional
        The page's stored bytes, where they have been read already; they begin at a multiple of 8.
    groups : array of bool, optional
        Of gaps, the groups that have been read; the ids of others are left alone.

    Returns
    -------
    int
        How many entries were written.

    Raises
    ------
    DamagedPageError
        When the bytes are no such page, or an id is none of the matrix's columns. The arrays then hold anything.

    Examples
    --------
    >>> out = np.empty(4, dtype=np.int32)
    >>> pages = cut(CSR((3, 3), [0, 2, 3, 4], [1, 2, 0, 1]))
    >>> decode(pages, 0, out), out
    (4, array([1, 2, 0, 1], dtype=int32))
    """
    count = int(pages.first_arc[page + 1] - pages.first_arc[page])
    stored = pages.payload(page) if payload is None else payload
    ids, columns = out_indices[:count], pages.shape[1]
    if pages.encoding == "gaps":
        from hpgraph.kernels.pages.cpu_gaps import ALL, decode_gaps, word_bits

        chosen = ALL if groups is None else groups
        wrong = decode_gaps(stored, count, columns, (1 << word_bits(columns)) - 1, ids, chosen)
    else:
        ids[:] = stored.view(pages.id_dtype)
        wrong = int(ids.min()) < 0 or int(ids.max()) >= columns
    if wrong:
        raise pages.damaged(page, f"its bytes are no ids of 0..{columns - 1}")
    if out_values is not None and pages.values is not None:
        out_values[:count] = pages.values_of(page)
    return count


def _checksums(array: Any, bounds: Any) -> Any:
    ends = bounds.tolist()
    return np.array([crc32(array[a:b]) for a, b in itertools.pairwise(ends)], dtype=np.uint32)
