"""Some pages of a matrix, one after the other, as pages of their own."""

import numpy as np

from hpgraph.formats.file_stretch import FileStretch
from hpgraph.formats.pages import Pages


def excerpt(pages: Pages, begin: int, end: int) -> Pages:
    """Pages `begin` to before `end`: a matrix of the same shape without the entries of the others.

    It shares the stored bytes.
    """
    first, last = int(pages.first_arc[begin]), int(pages.first_arc[end])
    at, behind = int(pages.offset[begin]), int(pages.offset[end])
    values = None if pages.values is None else _stretch(pages.values, first, last)
    return Pages(
        pages.shape, np.clip(pages.indptr - first, 0, last - first), pages.first_arc[begin : end + 1] - first,
        pages.offset[begin : end + 1] - at, _stretch(pages.stored, at, behind), pages.checksum[begin:end],
        pages.id_dtype, pages.encoding, values,
        None if pages.value_checksum is None else pages.value_checksum[begin:end], origin=pages.origin,
    )  # fmt: skip


def _stretch(array: np.ndarray | FileStretch, begin: int, end: int) -> np.ndarray | FileStretch:
    if isinstance(array, FileStretch):
        return FileStretch(array.file, array.at + begin * array.dtype.itemsize, end - begin, array.dtype)
    return array[begin:end]
