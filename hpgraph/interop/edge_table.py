"""Edges in tables, rows and columns of other libraries, as `Graph.from_edges` takes them."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hpgraph.core.device import is_cuda, native
from hpgraph.core.errors import MissingExtraError
from hpgraph.interop.vertex_ids import numbered_ends
from hpgraph.io.line_format import titled_columns


def is_table(data: Any) -> bool:
    """Whether something has columns with titles."""
    return isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__")


def edges_of_table(
    table: Any, source: Any = None, target: Any = None, weight: Any = None, names: bool | None = None,
    indices: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What `Graph.from_edges` is to be given for a table with a row for each arc."""
    columns, titles = _columns(table)
    chosen = _chosen(titles, source, target, weight)
    called = f"column {chosen[0]!r}", f"column {chosen[1]!r}"
    ends = numbered_ends(columns[chosen[0]], columns[chosen[1]], called, names, indices)
    weights = None if chosen[2] is None else _weights(columns[chosen[2]], f"column {chosen[2]!r}")
    return {"source": ends[0], "target": ends[1], "weight": weights, "names": ends[2]}


def _columns(table: Any) -> tuple[Any, list[Any]]:
    """What gives columns by title, and the titles."""
    if isinstance(table, Mapping):
        return table, list(table)
    if type(table).__module__.startswith("pandas"):
        return table, list(table.columns)
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "tables", f"a graph of a {type(table).__name__}") from None
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.table(table) if hasattr(table, "__arrow_c_stream__") else table.to_arrow()
    return table, table.column_names


def _chosen(titles: list[Any], source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Titles of the three columns, the last None where there is none."""
    for what, title in (("source", source), ("target", target), ("weight", weight)):
        if title is not None and title is not False and title not in titles:
            raise ValueError(f"{what}: the table has no column {title!r}; it has {', '.join(map(repr, titles))}")
    if (source is None) != (target is None):
        raise ValueError(f"give both source and target, of the columns {', '.join(map(repr, titles))}")
    known = titled_columns(map(str, titles))
    if source is None:
        if known is None and len(titles) < 2:
            raise ValueError(
                f"a table of edges needs a column for each end; it has {', '.join(map(repr, titles)) or 'none'}"
            )
        places = known or (0, 1, 2 if len(titles) == 3 else None)
        source, target = titles[places[0]], titles[places[1]]
        if weight is None and places[2] is not None:
            weight = titles[places[2]]
    elif weight is None:
        # With ends called otherwise, a weight is still known by its title.
        at = titled_columns(["source", "target", *(str(title) for title in titles)])
        weight = None if at is None or at[2] is None else titles[at[2] - 2]
        weight = None if weight in (source, target) else weight
    return source, target, None if weight is False else weight


def _weights(column: Any, title: str) -> Any:
    if hasattr(column, "to_numpy"):
        weights = column.to_numpy()
        missing = getattr(column, "null_count", 0)
    else:
        weights, missing = native(column), 0
    weights = weights if hasattr(weights, "dtype") else np.asarray(weights)
    if weights.dtype.kind == "O":
        missing = missing or sum(value is None for value in weights)
        if not missing:
            # Numbers of several kinds; what is left as objects is refused below.
            with contextlib.suppress(ValueError, TypeError):
                weights = np.array(weights.tolist())
    if weights.dtype.kind == "f":
        missing = missing or int(np.isnan(weights).sum()) if not is_cuda(weights) else missing
    if missing:
        raise ValueError(f"{title} holds no number in {missing} of its rows: drop them, or give them a weight")
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{title} holds {weights.dtype}, and a weight is a real number: weight=False leaves it out")
    return weights.astype(np.int64) if weights.dtype.kind == "b" else weights


def is_rows(data: Any) -> bool:
    """Whether something is a list of edges, or an array with a row for each."""
    return isinstance(data, list) or (
        (isinstance(data, np.ndarray) or is_cuda(data)) and data.ndim == 2 and data.shape[1] in (2, 3)
    )


def edges_of_rows(rows: Any, names: bool | None = None, indices: bool = False) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for a list of edge tuples, or an array of shape (m, 2) or (m, 3)."""
    if not isinstance(rows, list):
        columns: Sequence[Any] = [rows[:, place] for place in range(rows.shape[1])]
        if len(columns) == 3 and rows.dtype.kind == "f":
            # One array has one type: whole numbers among its floats are ids.
            columns = [_whole(columns[0], "source"), _whole(columns[1], "target"), columns[2]]
    else:
        lengths = {len(row) if isinstance(row, Sequence) and not isinstance(row, str) else 0 for row in rows}
        if lengths - {2} and lengths != {3}:
            raise ValueError("each row must be a tuple (source, target), or each (source, target, weight)")
        columns = list(zip(*rows, strict=True)) if rows else [np.empty(0, np.int64)] * 2
    source, target, called = numbered_ends(columns[0], columns[1], names=names, indices=indices)
    weight = _weights(columns[2], "weight") if len(columns) == 3 else None
    return {"source": source, "target": target, "weight": weight, "names": called}


def _whole(ends: Any, title: str) -> Any:
    numbers = ends.astype(np.int64)
    if not bool((numbers == ends).all()):
        raise TypeError(f"{title} must hold whole numbers")
    return numbers
