"""Columns as two byte arrays, for files of arrays: their description in JSON, and their concatenated values."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from hpgraph.containers.columns import Categories, as_columns, values_of
from hpgraph.containers.dates import Dates
from hpgraph.formats.checks import VALUE_DTYPES
from hpgraph.io.arcs import Array
from hpgraph.io.hpg_layout import dtype_of

NAMES = "columns.index", "columns.values"
"""What the two arrays are called in a file."""
_ALIGNMENT = 8


def packed(edges: Mapping[str, Any], vertices: Mapping[str, Any]) -> dict[str, Array]:
    """The two byte arrays by `NAMES`; an empty dict if there are no columns."""
    index, pieces, at = [], [], 0
    for kind, held in (("edges", edges), ("vertices", vertices)):
        for title, column in held.items():
            values = np.ascontiguousarray(column.plain() if isinstance(column, Dates) else values_of(column))
            values = values.astype(values.dtype.newbyteorder("<"), copy=False)
            entry: dict[str, Any] = {"of": kind, "title": title, "type": values.dtype.str, "at": at}
            if isinstance(column, Categories):
                entry["categories"] = list(column.categories)
            index.append(entry)
            filled = -values.nbytes % _ALIGNMENT
            pieces += [values.view(np.uint8), np.zeros(filled, np.uint8)]
            at += values.nbytes + filled
    if not index:
        return {}
    return dict(zip(NAMES, (np.frombuffer(json.dumps(index).encode(), np.uint8), np.concatenate(pieces)), strict=True))


def unpacked(index: Array, values: Array, n_edges: int, n_vertices: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of edges and of vertices; ValueError for bytes that `packed` cannot have made."""
    found: dict[str, dict[str, Any]] = {"edges": {}, "vertices": {}}
    counts = {"edges": n_edges, "vertices": n_vertices}
    types = {dtype.newbyteorder("<").str: dtype for dtype in VALUE_DTYPES if dtype.kind != "c"}
    try:
        for entry in json.loads(index.tobytes()):
            title, count, at = entry["title"], counts[entry["of"]], entry["at"]
            dtype = types.get(entry["type"]) or dtype_of(entry["type"]).newbyteorder("=")
            if entry["type"] not in types and dtype.kind != "M":
                raise ValueError(f"a type {entry['type']!r}")
            held, listed = found[entry["of"]], entry.get("categories")
            if not isinstance(title, str) or title in held or type(at) is not int or at < 0 or at % _ALIGNMENT:
                raise ValueError("a title or a place that is none")
            stored = values[at : at + count * dtype.itemsize]
            if len(stored) < count * dtype.itemsize:
                raise ValueError(f"column {title!r} has no {count} values")
            column = stored.view(dtype.newbyteorder("<")).astype(dtype)
            given = column if listed is None else Categories(column, listed)
            held |= as_columns({title: given}, count, "columns", "cpu")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"its columns are invalid ({type(error).__name__}: {error})") from None
    return found["edges"], found["vertices"]
