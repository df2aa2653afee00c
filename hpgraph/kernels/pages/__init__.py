"""Conversion of arcs to pages and back: cutting, encoding, decoding.

`hpgraph.formats.Pages` describes pages. For any bytes of a page, decoding writes nothing outside the given arrays, and
only ids of existing columns.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.number import one_of
from hpgraph.formats import CSR, Pages
from hpgraph.formats.pages import ENCODINGS, crc32, cut_points

ARCS_PER_PAGE = 1 << 18
"""Default entries of a page: a mebibyte of plain ids, at which links and disks reach nearly full speed, while a cache
still holds many pages."""


def cut(csr: CSR, *, arcs_per_page: int = ARCS_PER_PAGE, encoding: str = "none") -> Pages:
    """Divide the entries of a matrix with sorted, distinct ids into pages; plain ids, offsets and values are shared."""
    one_of(encoding, "encoding", ENCODINGS)
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
        csr.shape, csr.indptr, first, offset, stored, _checksums(stored, offset), ids.dtype, encoding, values,
        None if values is None else _checksums(values, first),
    )  # fmt: skip


def encode(ids: Any, columns: int, encoding: str) -> Any:
    """Encode a page; gaps are those of 32-bit ids."""
    if encoding == "none":
        return ids.view(np.uint8)
    if ids.dtype != np.int32:
        raise ValueError('encoding="gaps" is for fewer than 2**31 columns, whose ids take 32 bits: choose "none"')
    from hpgraph.kernels.pages.cpu_gaps import encode

    return encode(ids, columns)


def decode(
    pages: Pages, page: int, out_indices: Any, out_values: Any = None, payload: Any = None, groups: Any = None
) -> int:
    """Decode one page on the CPU, from bytes with a verified checksum (`Pages.check`).

    ``payload``: the page's stored bytes, if already read; aligned to 8 bytes. Returns int: number of entries written.
    """
    count = int(pages.first_arc[page + 1] - pages.first_arc[page])
    stored = pages.payload(page) if payload is None else payload
    ids, columns = out_indices[:count], pages.shape[1]
    if pages.encoding == "gaps":
        from hpgraph.kernels.pages.cpu_gaps import ALL, decode_gaps
        from hpgraph.kernels.pages.gaps import word_bits

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


def content(pages: Pages, page: int, *, ids: bool = True, weighted: bool = True) -> tuple[Any, Any]:
    """Ids and values of a page, on the CPU and with their checksums; None if not requested or absent."""
    held, stored = None, pages.payload(page) if ids else None
    if stored is not None:
        pages.check(page, stored)
        held = np.empty(int(pages.first_arc[page + 1] - pages.first_arc[page]), pages.id_dtype)
        decode(pages, page, held, payload=stored)
    values = pages.values_of(page) if weighted else None
    if values is not None:
        pages.check(page, values, values=True)
    return held, values


def _checksums(array: Any, bounds: Any) -> Any:
    ends = bounds.tolist()
    return np.array([crc32(array[a:b]) for a, b in itertools.pairwise(ends)], dtype=np.uint32)
