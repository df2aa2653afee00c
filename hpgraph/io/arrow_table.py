"""Whole graphs in Parquet, Arrow and Feather files: a table of edges, and in its metadata what a table cannot say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.core.errors import FileFormatError, MissingExtraError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.arrow_stream import OWN, ROWS, arrow_stream
from hpgraph.io.ids import in_order, is_sparse
from hpgraph.io.memory import Budget
from hpgraph.io.replace import replacing

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

_ARC_BYTES = 48


def read_arrow(
    path: Path, progress: bool | None, budget: Budget, *, n_vertices: int | None, names: bool | None
) -> Arcs:
    """A `Reader` with more parameters; the parameters are those of `hpgraph.read`. It needs pyarrow."""
    rows = arrow_stream(path, progress, budget, n_vertices=n_vertices, names=names)
    blocks, count = [], 0
    for block in rows.blocks():
        blocks.append(block)
        count += block[0].size
        budget.check(count * _ARC_BYTES, f"{count} edges and more of {path}")
    source, target = (_joined([block[end] for block in blocks], np.int64) for end in (0, 1))
    weight = _joined([block[2] for block in blocks], None) if blocks and blocks[0][2] is not None else None
    directed = rows.directed is not False
    if rows.names is not None:
        called = rows.names()
        return Arcs(source, target, weight, len(called), directed, called)
    n = rows.n_vertices
    largest = max(int(source.max(initial=-1)), int(target.max(initial=-1)))
    least = min(int(source.min(initial=0)), int(target.min(initial=0)))
    sparse = rows.relabel is None and source.size and least >= 0 and is_sparse(source, target, largest)
    if rows.relabel or sparse:
        source, target, ids = in_order(source, target)
        return Arcs(source, target, weight, ids.size, directed, ids)
    if least < 0 or (n is not None and largest >= n):
        raise FileFormatError(path, f"vertex {least if least < 0 else largest} is not in 0..{(n or largest + 1) - 1}")
    return Arcs(source, target, weight, largest + 1 if n is None else n, directed)


def _joined(parts: list[Any], empty: Any) -> Array:
    return np.concatenate(parts) if parts else np.empty(0, empty)


def write_arrow(graph: Graph, path: Path) -> None:
    """A `Writer` of a table of columns source, target and weight: an undirected edge once. It needs pyarrow.

    Names must be all text or all whole numbers; vertices without an edge are then left out, as in edge lists.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "arrow", f"writing {path.suffix} files") from None
    arcs = Arcs.of(graph).each_edge_once()
    said: dict[str, Any] = {"directed": arcs.directed, "ids": "index", "n_vertices": arcs.n_vertices}
    ends: list[Any] = [arcs.source, arcs.target]
    if arcs.names is not None:
        known = text_or_numbers(arcs.names)
        if known is None:
            raise ValueError(f"{path}: names are all text or all whole numbers there, and some are neither")
        said = {"directed": arcs.directed, "ids": "number" if known.dtype.kind in "iu" else "name"}
        called = pyarrow.array(known.astype(object) if known.dtype.kind not in "iu" else known)
        ends = [called.take(pyarrow.array(end)) for end in ends]
    columns = {"source": ends[0], "target": ends[1]}
    if arcs.weight is not None:
        columns["weight"], said["weight"] = arcs.weight, arcs.weight.dtype.str
    table = pyarrow.table(columns).replace_schema_metadata({OWN: json.dumps(said)})
    with replacing(path) as file:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, file, compression="zstd")
        else:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=ROWS)
