"""The arrays of a CSR, as a caller gives them, checked against each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats.checks import as_ids, as_offsets, as_shape, as_values
from hpgraph.formats.storage import backend


def as_rows(shape: Any, indptr: Any, indices: Any, data: Any) -> tuple[tuple[int, int], Any, Any, Any, bool]:
    """A CSR matrix's shape and arrays, which fit each other, and whether rows are sorted and free of duplicates.

    Arrays whose types serve are not copied. Reading them on CUDA waits for the stream.
    """
    rows, columns = as_shape(shape)
    # Other types are read before they are converted: what is too large would wrap.
    serves = getattr(indices, "dtype", None) in (np.int32, np.int64)
    ids = as_ids(indices, "indices", columns, "column", check=not serves)
    offsets = as_offsets(indptr, "indptr", rows, len(ids))
    values = as_values(data, "data", ids.shape)
    # One pass over the columns tells both; which of them is wrong is looked for only when one is.
    inside, canonical = backend("convert", offsets, ids, values).inspect_rows(offsets, ids, columns)
    if not inside:
        as_ids(ids, "indices", columns, "column")
    return (rows, columns), offsets, ids, values, canonical
