"""Slow, readable references for the formats: dictionaries of entries."""

from typing import Any

import numpy as np
from arrays import host


def entries_of(csr: Any) -> list[tuple[int, int, Any]]:
    """(row, column, value) of each entry in stored order; the value is None in a pattern."""
    indptr, indices = host(csr.indptr), host(csr.indices)
    data = None if csr.data is None else host(csr.data)
    return [
        (row, int(indices[p]), None if data is None else data[p].item())
        for row in range(csr.shape[0])
        for p in range(int(indptr[row]), int(indptr[row + 1]))
    ]


def merged(row: Any, col: Any, data: Any, duplicates: str) -> list[tuple[int, int, Any]]:
    """The sorted entries that triplets make when duplicates are merged."""
    values: dict[tuple[int, int], Any] = {}
    for position, place in enumerate(zip(row.tolist(), col.tolist(), strict=True)):
        value = None if data is None else data[position : position + 1]
        if place not in values:
            values[place] = value
        elif data is not None and duplicates == "sum":
            values[place] = values[place] + value
        elif data is not None and duplicates in ("min", "max"):
            values[place] = (np.minimum if duplicates == "min" else np.maximum)(values[place], value)
    return [(*place, None if data is None else values[place].item()) for place in sorted(values)]
